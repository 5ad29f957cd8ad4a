// Mixture of experts: matrix products over the experts that tokens selected, routing and sorting. T
// tokens, hidden size K, intermediate size N, E experts, k of them per token. The number of experts
// with tokens is not recorded; for uniform routing its expected value is E (1 - ((E - k)/E)^T).
#include "base/ascii.h"
#include "model/ops/op_model_impl.h"

#include <algorithm>
#include <cmath>

namespace rankscope::op_model {
namespace {

struct Moe {
  double t = 0, k = 0, n = 0, e = 0, topk = 0;
  bool gated = false;
  std::string type_in, type_w, type_out;
  double in = 2, w = 1, out = 2;
  double up_bytes = 0;   ///< bytes of the first weights of one expert, as recorded; 0 = computed
                         ///< from the shape
  double down_bytes = 0; ///< bytes of the second weights of one expert
};

double active(double e, double k, double t) {
  return e > 0 ? e * (1 - std::pow(std::max(0.0, (e - k) / e), t)) : 0;
}

/// Returns the bytes per element of a type. The reference knows few type names and uses a default
/// for all others.
double bytes_or(const Call& c, const std::string& type, double fallback) {
  if (c.compat) {
    for (const auto& [name, size] : {std::pair{"c10::BFloat16", 2.0},
                                     {"c10::Half", 2.0},
                                     {"c10::Float8_e4m3fn", 1.0},
                                     {"c10::Float8_e4m3fnuz", 1.0}})
      if (type == name)
        return size;
    return fallback;
  }
  return type_bytes_or(type, fallback);
}

/// Sets the types of input and weights from arguments `in` and `weights`. The output has the type
/// of the input.
Moe with_types(const Call& c, std::size_t in, std::size_t weights) {
  Moe m;
  m.type_in = c.args.type(in);
  m.type_w = c.args.type(weights);
  m.in = m.out = bytes_or(c, m.type_in, 2);
  m.w = bytes_or(c, m.type_w, 1);
  return m;
}
/// Sets the output type from argument 2.
Moe with_output_type(const Call& c) {
  Moe m = with_types(c, 0, 1);
  m.type_out = c.args.type(2);
  m.out = bytes_or(c, m.type_out, 2);
  return m;
}

std::vector<std::pair<std::string, std::string>> params(const Moe& m, bool with_gated) {
  std::vector<std::pair<std::string, std::string>> out = {{"num_tokens", repr_count(m.t)},
                                                          {"hidden_dim", repr_count(m.k)},
                                                          {"inter_dim", repr_count(m.n)},
                                                          {"num_experts", repr_count(m.e)},
                                                          {"topk", repr_count(m.topk)}};
  if (with_gated)
    out.emplace_back("gated", repr(m.gated));
  out.emplace_back("input_dtype", python_quote(m.type_in));
  if (!m.type_w.empty())
    out.emplace_back("weight_dtype", python_quote(m.type_w));
  if (!m.type_out.empty())
    out.emplace_back("output_dtype", python_quote(m.type_out));
  return out;
}

/// Both projections in one kernel: 2TKNk (twice this if gated), 2TKNk, and TK(2k-1) for the sum
/// over the experts. Worked example: T=2, K=4, N=3, k=2, gated: 192 + 96 + 24 = 312 flops.
PerfResult fused(const Moe& m, const std::string& precision) {
  const double gate = m.gated ? 2 : 1;
  PerfResult r;
  r.flops = 2 * m.t * m.k * m.n * m.topk * (gate + 1) + m.t * m.k * (2 * m.topk - 1);
  const double up = m.up_bytes > 0 ? m.up_bytes : gate * m.n * m.k * m.w;
  const double down = m.down_bytes > 0 ? m.down_bytes : m.n * m.k * m.w;
  r.bytes = m.t * m.k * (m.in + m.out) + active(m.e, m.topk, m.t) * (up + down);
  r.params = params(m, true);
  r.compute_spec = compute_spec("matrix", precision);
  return r;
}

/// First projection: 2TKNk, twice this if gated. Each token writes k rows of N elements. The
/// reference counts one row in operators of CK, and k rows in pseudo operators.
PerfResult up(const Call& c, const Moe& m, const std::string& precision) {
  const double gate = m.gated ? 2 : 1;
  const double weights = m.up_bytes > 0 ? m.up_bytes : gate * m.n * m.k * m.w;
  return costs(2 * m.t * m.k * m.n * m.topk * gate,
               m.t * m.k * m.in + active(m.e, m.topk, m.t) * weights +
                   m.t * m.n * (c.compat && !c.op.name.starts_with("pseudo_op::") ? 1 : m.topk) *
                       m.out,
               params(m, true), compute_spec("matrix", precision));
}

/// Second projection: 2TKNk. Each token reads k rows of N elements and writes one row of K
/// elements.
PerfResult down(const Moe& m, const std::string& precision, bool with_gated) {
  const double weights = m.down_bytes > 0 ? m.down_bytes : m.n * m.k * m.w;
  return costs(2 * m.t * m.k * m.n * m.topk,
               m.t * m.n * m.topk * m.in + active(m.e, m.topk, m.t) * weights + m.t * m.k * m.out,
               params(m, with_gated), compute_spec("matrix", precision));
}

double at(const Shape& s, std::size_t i) {
  return static_cast<double>(s[i]);
}

/// Reads the weights w1 (E, N or 2N, K) and w2 (E, K, N); packed types have fewer columns. Sets K,
/// N, E, gated and, if not compat, the recorded size of the weights.
bool read_weights(const Call& c, std::size_t w1_at, std::size_t w2_at, Moe& m) {
  const Shape w1 = c.args.dims(w1_at);
  const Shape w2 = c.args.dims(w2_at);
  if (w1.size() != 3 || w2.size() != 3 || w1[0] <= 0 || w1[2] <= 0 || w2[0] <= 0)
    return false;
  m.e = at(w1, 0);
  m.k = at(w2, 1);
  m.n = at(w2, 2) * std::floor(m.k / at(w1, 2));
  m.gated = at(w1, 1) == 2 * m.n;
  if (!c.compat) {
    m.up_bytes = elements(w1) / m.e * m.w;
    m.down_bytes = elements(w2) / m.e * m.w;
  }
  return true;
}

/// Arguments: hidden states, w1, w2, top-k weights (T, k).
std::optional<Moe> states_first(const Call& c) {
  const Shape x = c.args.dims(0);
  const Shape chosen = c.args.dims(3);
  Moe m = with_types(c, 0, 1);
  if (x.size() != 2 || chosen.size() != 2 || !read_weights(c, 1, 2, m))
    return std::nullopt;
  m.t = at(x, 0);
  m.topk = at(chosen, 1);
  return m;
}
std::optional<PerfResult> fused_one_stage(const Call& c) {
  const auto m = states_first(c);
  return m ? std::optional(fused(*m, m->type_in)) : std::nullopt;
}
std::optional<PerfResult> flydsl_up(const Call& c) { // FP4 products: the precision is that of the
                                                     // weights
  const auto m = states_first(c);
  return m ? std::optional(up(c, *m, m->type_w)) : std::nullopt;
}
std::optional<PerfResult> flydsl_down(const Call& c) {
  const auto m = states_first(c);
  return m ? std::optional(down(*m, m->type_w, true)) : std::nullopt;
}

/// Arguments: output (T, K), input, w1, w2, ..; argument 8 is top-k.
std::optional<PerfResult> fused_blockscale(const Call& c) {
  const Shape out = c.args.dims(0);
  const auto topk = c.args.integer(8);
  Moe m;
  m.type_in = c.args.type(1);
  m.type_w = c.args.type(2);
  m.type_out = c.args.type(0);
  m.in = bytes_or(c, m.type_in, 1);
  m.w = bytes_or(c, m.type_w, 1);
  m.out = bytes_or(c, m.type_out, 2);
  if (out.size() != 2 || !topk || !read_weights(c, 2, 3, m))
    return std::nullopt;
  m.t = at(out, 0);
  m.topk = static_cast<double>(*topk);
  return fused(m, m.type_in);
}

/// CK tile. Arguments: x (T, K), w1 (E, N or 2N, packed K), y (T, k, N).
std::optional<PerfResult> cktile_up(const Call& c) {
  const Shape x = c.args.dims(0);
  const Shape w = c.args.dims(1);
  const Shape y = c.args.dims(2);
  if (x.size() != 2 || w.size() != 3 || y.size() != 3 || w[0] <= 0)
    return std::nullopt;
  Moe m = with_output_type(c);
  m.t = at(x, 0);
  m.k = at(x, 1);
  m.e = at(w, 0);
  m.topk = at(y, 1);
  m.n = at(y, 2);
  m.gated = at(w, 1) == 2 * m.n;
  if (!c.compat)
    m.up_bytes = elements(w) / m.e * m.w;
  return up(c, m, m.type_in);
}
/// CK tile. Arguments: x (T, k, N), w2 (E, K, packed N), y (T, K).
std::optional<PerfResult> cktile_down(const Call& c) {
  const Shape x = c.args.dims(0);
  const Shape w = c.args.dims(1);
  if (x.size() != 3 || w.size() != 3 || w[0] <= 0)
    return std::nullopt;
  Moe m = with_output_type(c);
  m.t = at(x, 0);
  m.topk = at(x, 1);
  m.n = at(x, 2);
  m.e = at(w, 0);
  m.k = at(w, 1);
  if (!c.compat)
    m.down_bytes = elements(w) / m.e * m.w;
  return down(m, m.type_in, false);
}

/// CK. Arguments: x (T, packed K), w1, w2, sorted ids, experts, count, y (T, k, N).
std::optional<PerfResult> ck_up(const Call& c) {
  const Shape x = c.args.dims(0);
  const Shape y = c.args.dims(6);
  Moe m = with_types(c, 0, 1);
  if (x.empty() || y.size() < 2 || !read_weights(c, 1, 2, m))
    return std::nullopt;
  m.t = at(x, 0);
  m.topk = at(y, 1);
  if (!c.compat) // the type of the output is recorded
    m.out = bytes_or(c, c.args.type(6), m.in);
  return up(c, m, m.type_in);
}
/// CK. Arguments: x (T, k, packed N), w1, w2, ..., y (T, K).
std::optional<PerfResult> ck_down(const Call& c) {
  const Shape x = c.args.dims(0);
  Moe m = with_types(c, 0, 2);
  if (x.size() != 3 || !read_weights(c, 1, 2, m))
    return std::nullopt;
  m.t = at(x, 0);
  m.topk = at(x, 1);
  if (!c.compat)
    m.out = bytes_or(c, c.args.type(6), m.in);
  return down(m, m.type_in, false);
}

/// Triton kernel whose weights are not recorded. Arguments: states (T, K) and router (T, E). N is
/// assumed to be equal to K, as in the model for which the kernel was made. The name of the kernel
/// shows the type of the weights and whether it is gated.
std::optional<Moe> from_router(const Call& c) {
  const Shape x = c.args.dims(0);
  const Shape router = c.args.dims(1);
  if (x.size() != 2 || router.size() != 2 || c.hints.kernel.empty() || c.hints.topk <= 0)
    return std::nullopt;
  const std::string kernel = lowercase(c.hints.kernel);
  const auto has = [&](const char* part) { return kernel.find(part) != std::string::npos; };
  Moe m;
  m.t = at(x, 0);
  m.k = m.n = at(x, 1);
  m.e = at(router, 1);
  m.topk = static_cast<double>(c.hints.topk);
  m.gated = has("_swiglu") || has("_glu");
  m.type_in = c.args.type(0);
  m.in = m.out = type_bytes(m.type_in);
  if (has("fp4")) {
    m.type_w = "FP4";
    m.w = 0.5;
  } else if (has("fp8") || has("e4m3")) {
    m.type_w = "FP8";
    m.w = 1;
  } else if (c.compat) {
    return std::nullopt;
  } else {
    m.type_w = m.type_in;
    m.w = m.in;
  }
  return m;
}
std::optional<PerfResult> triton_up(const Call& c) {
  const auto m = from_router(c);
  return m ? std::optional(up(c, *m, m->type_w)) : std::nullopt;
}
std::optional<PerfResult> triton_down(const Call& c) {
  const auto m = from_router(c);
  return m ? std::optional(down(*m, m->type_w, true)) : std::nullopt;
}

/// GPTQ/AWQ. Arguments: states (T, K), w1 (E, 2N, K/2), w2 (E, K, N/2) with two 4-bit values per
/// byte, ..; argument 4: top-k ids.
std::optional<Moe> four_bit(const Call& c) {
  const Shape x = c.args.dims(0);
  const Shape chosen = c.args.dims(4);
  constexpr double kUsual = 8;
  if (x.size() != 2)
    return std::nullopt;
  Moe m;
  m.t = at(x, 0);
  m.k = at(x, 1);
  m.topk = chosen.size() >= 2 ? at(chosen, 1) : kUsual;
  m.type_in = c.args.type(0);
  m.in = m.out = bytes_or(c, m.type_in, 2);
  m.w = 0.5;
  return m;
}
std::optional<PerfResult> gptq_up(const Call& c) {
  auto m = four_bit(c);
  const Shape w = c.args.dims(1);
  if (!m || w.size() != 3)
    return std::nullopt;
  m->e = at(w, 0);
  m->n = std::floor(at(w, 1) / 2);
  m->gated = true;
  return up(c, *m, m->type_in);
}
std::optional<PerfResult> gptq_down(const Call& c) {
  auto m = four_bit(c);
  const Shape w = c.args.dims(2);
  if (!m || w.size() != 3)
    return std::nullopt;
  m->e = at(w, 0);
  m->n = 2 * at(w, 2);
  return down(*m, m->type_in, false);
}

/// One launch of the grouped product: B (E, N, K), C and ids (T, k) are arguments 1, 3 and 8. If
/// the projection is gated, N includes both halves.
std::optional<PerfResult> grouped_launch(const Call& c) {
  const Shape w = c.args.dims(1);
  const Shape ids = c.args.dims(8);
  if (w.size() != 3 || ids.size() != 2 || w[0] <= 0)
    return std::nullopt;
  const double rows = elements(ids);
  const std::string in = c.args.type(0);
  const std::string weight = c.args.type(1);
  const std::string out = c.args.type(3).empty() ? in : c.args.type(3);
  PerfResult r;
  r.flops = 2 * rows * at(w, 1) * at(w, 2);
  r.bytes =
      rows * at(w, 2) * bytes_or(c, in, 2) +
      active(at(w, 0), at(ids, 1), at(ids, 0)) * at(w, 1) * at(w, 2) * bytes_or(c, weight, 1) +
      rows * at(w, 1) * bytes_or(c, out, 2);
  r.params = {{"m_work", repr_count(rows)},
              {"num_tokens", repr(ids[0])},
              {"topk", repr(ids[1])},
              {"N", repr(w[1])},
              {"K", repr(w[2])},
              {"num_experts", repr(w[0])},
              {"input_dtype", python_quote(in)},
              {"weight_dtype", python_quote(weight)},
              {"output_dtype", python_quote(out)}};
  r.compute_spec = compute_spec("matrix", weight);
  return r;
}

struct Operands {
  double bytes = 0;
  double largest = 0;
  std::string type; ///< type of the largest tensor
  std::string text; ///< Python list of (shape, type)
  std::vector<Shape> matrices;
};

/// Reads all tensors among the arguments; a tensor of unknown type adds no bytes.
Operands operands(const Call& c) {
  Operands o;
  o.text = "[";
  for (std::size_t i = 0; i < c.args.count(); ++i) {
    const Shape shape = c.args.dims(i);
    if (shape.empty())
      continue;
    const double n = elements(shape);
    const double b = type_bytes(c.args.type(i));
    o.bytes += std::isnan(b) ? 0 : n * b;
    if (n > o.largest) {
      o.largest = n;
      o.type = c.args.type(i);
    }
    if (shape.size() == 2)
      o.matrices.push_back(shape);
    o.text +=
        (o.text.size() > 1 ? ", (" : "(") + repr(shape) + ", " + python_quote(c.args.type(i)) + ")";
  }
  o.text += "]";
  return o;
}

PerfResult memory_bound(const Operands& o, double flops) {
  return costs(flops, o.bytes > 0 ? o.bytes : kUnknown, {{"operands", o.text}},
               compute_spec("vector", o.type));
}

/// Router: one flop per selected expert; every tensor is read or written once.
std::optional<PerfResult> grouped_topk(const Call& c) {
  const Operands o = operands(c);
  double chosen = o.largest;
  if (!o.matrices.empty()) {
    const Shape logits = *std::ranges::max_element(
        o.matrices, [](const Shape& a, const Shape& b) { return elements(a) < elements(b); });
    std::int64_t k = logits[1];
    for (const Shape& s : o.matrices)
      if (s[0] == logits[0])
        k = std::min(k, s[1]);
    if (k < logits[1])
      chosen = static_cast<double>(logits[0]) * static_cast<double>(k);
  }
  return memory_bound(o, chosen);
}

/// Sorts and scatters tokens by expert: one flop per element of the largest tensor.
std::optional<PerfResult> sort_scatter(const Call& c) {
  const Operands o = operands(c);
  return memory_bound(o, o.largest);
}

/// Appends the ids and weights (T, k) of shared experts; they are read and written.
std::optional<PerfResult> append_shared(const Call& c) {
  const Shape ids = c.args.dims(0);
  const Shape weights = c.args.dims(1).empty() ? ids : c.args.dims(1);
  if (ids.empty())
    return std::nullopt;
  const auto size = [&](std::size_t i) { return type_bytes_or(c.args.type(i), 4); };
  return costs(
      elements(ids), 2 * (elements(ids) * size(0) + elements(weights) * size(1)),
      {{"shape_in1", repr(ids)},
       {"shape_in2", repr(weights)},
       {"dtype_in1_in2_out", repr_types({c.args.type(0), c.args.type(1), c.args.type(1)})}},
      compute_spec("vector", c.args.type(1)));
}

/// Router scores with softplus. Arguments: weights (T, k), ids, logits (T, E). 6 flops per logit.
std::optional<PerfResult> topk_softplus(const Call& c) {
  const Shape weights = c.args.dims(0);
  const Shape logits = c.args.dims(2);
  if (weights.size() != 2 || logits.size() != 2)
    return std::nullopt;
  return costs(6 * elements(logits),
               elements(logits) * type_bytes(c.args.type(2)) + 4 * at(logits, 1) +
                   8 * at(logits, 0) * at(weights, 1),
               {{"M", repr(logits[0])},
                {"n", "1"},
                {"C", repr(logits[1])},
                {"E", repr(logits[1])},
                {"topk", repr(weights[1])},
                {"dtype_in", python_quote(c.args.type(2))}},
               compute_spec("vector", c.args.type(2)));
}

constexpr Entry kMoeModels[] = {
    {"moe_aiter_fused_1stage", fused_one_stage},
    {"moe_aiter_fused_blockscale", fused_blockscale},
    {"moe_aiter_unfused_up", cktile_up},
    {"moe_aiter_unfused_down", cktile_down},
    {"moe_aiter_ck_stage1", ck_up},
    {"moe_aiter_ck_stage2", ck_down},
    {"moe_flydsl_stage1", flydsl_up},
    {"moe_flydsl_stage2", flydsl_down},
    {"moe_triton_unfused_up", triton_up, kNeedsKernel | kNeedsTopK},
    {"moe_triton_unfused_down", triton_down, kNeedsKernel | kNeedsTopK},
    {"moe_gptq_awq_up", gptq_up},
    {"moe_gptq_awq_down", gptq_down},
    {"moe_triton_invoke_grouped_gemm", grouped_launch},
    {"BiasedGroupedTopk", grouped_topk},
    {"MoeSortScatterGather", sort_scatter},
    {"sglang_fused_append_shared_experts", append_shared},
    {"topk_softplus", topk_softplus},
};

} // namespace

std::span<const Entry> moe_models() {
  return kMoeModels;
}

} // namespace rankscope::op_model
