// Cross entropy, rotary embedding, MoE transport, causal convolution, compiled (Triton) kernels
// (docs/performance-models.md, "Others" and "Triton").
#include "base/ascii.h"
#include "model/ops/op_model_impl.h"

#include <algorithm>
#include <cmath>

namespace rankscope {
namespace op_model {
namespace {

/// Moves tokens x hidden elements; there is no computation.
std::optional<PerfResult> moe_transport(const Call& c) {
  const Shape x = c.args.dims(0);
  if (x.size() < 2)
    return std::nullopt;
  return costs(0, elements(x) * type_bytes(c.args.type(0)),
               {{"op_shape", repr(x)}, {"dtype", python_quote(c.args.type(0))}},
               compute_spec("vector", c.args.type(0)));
}

/// Rotary embedding: 3 flops per element; each element is read and written once.
std::optional<PerfResult> rope(const Call& c) {
  const Shape x = c.args.dims(0);
  if (x.empty())
    return std::nullopt;
  const double n = elements(x);
  return costs(3 * n, 2 * n * type_bytes(c.args.type(0)),
               {{"op_shape", repr(x)}, {"dtype", python_quote(c.args.type(0))}},
               compute_spec("vector", c.args.type(0)));
}

/// 5 flops per logit; bytes: logits, 8-byte targets and 4-byte losses. Worked example: (2, 10)
/// bf16: 100 flops, 40 + 16 + 8 = 64 bytes.
std::optional<PerfResult> cross_entropy(const Call& c) {
  const Shape x = c.args.dims(0);
  if (x.size() < 2)
    return std::nullopt;
  const double n = elements(x);
  const double batch = n / static_cast<double>(x.back());
  return costs(5 * n, n * type_bytes(c.args.type(0)) + 12 * batch,
               {{"op_shape", repr(x)}, {"dtype", python_quote(c.args.type(0))}},
               compute_spec("vector", c.args.type(0)));
}

/// Depthwise causal convolution of x (b, c, t) with w (c, k): 2 b c t k flops.
std::optional<PerfResult> causal_conv1d(const Call& c) {
  const Shape x = c.args.dims(0);
  const Shape w = c.args.dims(1);
  if (x.size() != 3 || w.size() != 2)
    return std::nullopt;
  const double n = elements(x);
  return costs(2 * n * static_cast<double>(w[1]),
               2 * n * type_bytes(c.args.type(0)) + elements(w) * type_bytes(c.args.type(1)),
               {{"input_shape", repr(x)},
                {"filter_shape", repr(w)},
                {"dtype", python_quote(c.args.type(0))}},
               compute_spec("vector", c.args.type(0)));
}

/// Mamba-2 with the chunked state space algorithm (arXiv 2405.21060): one fused kernel for
/// convolution and scan. The state size N is computed from combined = 2 H P + 2 G N + H. C = chunk
/// length, P = head size. Flops: convolution 2 B channels T taps, C B^T 2 B G T C N, M X 2 B H T C
/// P, input and output of states 2 x 2 B H T N P.
std::optional<PerfResult> mamba_ssd(const Call& c) {
  const Shape x = c.args.dims(0);
  const Shape w = c.args.dims(1);
  const Shape heads = c.args.dims(3);
  if (x.size() != 3 || w.size() != 2 || heads.size() != 1)
    return std::nullopt;
  const double b = static_cast<double>(x[0]);
  const double t = static_cast<double>(x[1]);
  const double h = static_cast<double>(heads[0]);
  const double chunk = c.args.number(6).value_or(128);
  const double p = c.args.number(15).value_or(64);
  const double g = c.args.number(16).value_or(1);
  const double n = (static_cast<double>(x[2]) - 2 * h * p - h) / (2 * g);
  if (!(n > 0) || n != std::floor(n))
    return std::nullopt;
  const auto bytes = [&](std::size_t i, double fallback) {
    return type_bytes_or(c.args.type(i), fallback);
  };
  const double bpe = bytes(0, 2);
  PerfResult r;
  r.flops = 2 * b * elements(w) * t + 2 * b * g * t * chunk * n + 2 * b * h * t * chunk * p +
            4 * b * h * t * n * p;
  r.bytes = (elements(x) + elements(w) + static_cast<double>(w[0]) + b * t * h * p) * bpe +
            h * (bytes(3, 4) + bytes(4, 4) + bytes(5, bpe));
  r.flops_bwd = r.flops; // as in the reference; the backward pass runs a second scan in reverse
  r.bytes_bwd = r.bytes;
  r.params = {{"B", repr(x[0])},           {"T", repr(x[1])},
              {"H", repr(heads[0])},       {"P", repr_count(p)},
              {"G", repr_count(g)},        {"N", repr_count(n)},
              {"C", repr_count(chunk)},    {"d_inner", repr_count(h * p)},
              {"d_conv", repr(w[1])},      {"conv_channels", repr(w[0])},
              {"combined_dim", repr(x[2])}};
  r.compute_spec = compute_spec("matrix", c.args.type(0));
  return r;
}

constexpr Entry kOtherModels[] = {
    {"mamba_ssd_fwd", mamba_ssd},         {"moe_dispatch", moe_transport},
    {"moe_combine", moe_transport},       {"fused_rope_fwd", rope},
    {"cross_entropy_fwd", cross_entropy}, {"causal_conv1d_fwd", causal_conv1d},
};

} // namespace

std::span<const Entry> other_models() {
  return kOtherModels;
}

} // namespace op_model

namespace {

struct TritonOp {
  std::string_view name;
  double cost; ///< flops per element
};
// ATen names that occur in the names of fused kernels; the longest name that matches is used
constexpr TritonOp kTritonOps[] = {
    {"add", 1},
    {"sub", 1},
    {"mul", 1},
    {"div", 1},
    {"relu", 1},
    {"mean", 1},
    {"sum", 1},
    {"abs", 1},
    {"neg", 1},
    {"eq", 1},
    {"ne", 1},
    {"lt", 1},
    {"le", 1},
    {"gt", 1},
    {"ge", 1},
    {"pow", 2},
    {"sqrt", 2},
    {"rsqrt", 2},
    {"var", 2},
    {"reciprocal", 2},
    {"exp", 4},
    {"log", 4},
    {"sigmoid", 4},
    {"tanh", 4},
    {"silu", 4},
    {"gelu", 8},
    {"_unsafe_view", 0},
    {"view", 0},
    {"_to_copy", 0},
    {"clone", 0},
    {"cat", 0},
    {"where", 0},
    {"embedding", 0},
    {"unsqueeze", 0},
    {"squeeze", 0},
    {"expand", 0},
    {"slice", 0},
    {"select", 0},
    {"transpose", 0},
    {"t", 0},
    {"permute", 0},
    {"native_layer_norm", 0},
    {"native_layer_norm_backward", 0},
    {"native_dropout", 0},
    {"native_dropout_backward", 0},
    {"_softmax", 0},
    {"_softmax_backward_data", 0},
    {"_log_softmax", 0},
    {"silu_backward", 0},
    {"gelu_backward", 0},
    {"threshold_backward", 0},
    {"copy_", 0},
    {"copy", 0},
    {"split", 0},
    {"stack", 0},
    {"arange", 0},
    {"full", 0},
    {"zeros", 0},
    {"ones", 0},
    {"scalar_tensor", 0},
    {"masked_fill", 0},
    {"amax", 0},
    {"max", 0},
    {"min", 0},
    {"cos", 0},
    {"sin", 0},
    {"index_select", 0},
    {"index", 0},
    {"gather", 0},
    {"bitwise_and", 0},
    {"logical_not", 0},
    {"detach", 0},
    {"_fused_rms_norm", 0},
    {"var_mean", 2},
    {"convert_element_type", 0},
};

/// Returns the operators in the name of a fused kernel, e.g. "_unsafe_view_mul_silu_2".
std::vector<const TritonOp*> fused_ops(std::string_view text) {
  std::vector<const TritonOp*> out;
  while (!text.empty()) {
    const TritonOp* best = nullptr;
    for (const TritonOp& op : kTritonOps) {
      const std::size_t n = op.name.size();
      if (text.substr(0, n) == op.name && (text.size() == n || text[n] == '_') &&
          (best == nullptr || n > best->name.size()))
        best = &op;
    }
    if (best != nullptr) {
      out.push_back(best);
      text.remove_prefix(best->name.size());
      if (!text.empty())
        text.remove_prefix(1);
    } else { // an unknown word adds no cost
      const std::size_t next = text.find('_', 1);
      text = next == std::string_view::npos ? std::string_view() : text.substr(next + 1);
    }
  }
  return out;
}

/// Returns the size that the reference uses: it compares the exact type name; other types have size
/// 0.
double triton_bytes_compat(std::string_view type) {
  constexpr std::pair<std::string_view, double> kSizes[] = {
      {"c10::BFloat16", 2}, {"c10::Half", 2}, {"c10::Float", 4}, {"c10::Int", 4},
      {"c10::Double", 8},   {"c10::Long", 8}, {"c10::Byte", 1},  {"c10::Char", 1}};
  for (const auto& [text, bytes] : kSizes)
    if (text == type)
      return bytes;
  return 0;
}

double triton_bytes(std::string_view type) {
  if (type == "long" || type == "long int" || type == "c10::Long")
    return 8;
  if (type == "bool" || type == "c10::Byte" || type == "c10::Char")
    return 1;
  if (type.rfind("c10::", 0) == 0 && std::isnan(type_bytes(type)))
    return type_bytes(type.substr(5)); // c10::Float, c10::Int, c10::Double
  return type_bytes(type);
}

/// Returns a spec such as "vector_bfloat16", for which no GPU has a peak.
std::string triton_spec_compat(std::string_view type) {
  return type.empty() ? std::string()
                      : "vector_" + lowercase(type.rfind("c10::", 0) == 0 ? type.substr(5) : type);
}

struct TritonTensors {
  double bytes = 0;
  std::string first_type;
  std::string first_sized; ///< first type whose size is known to the reference
};

/// Returns the tensors of a kernel with `points` points. If the kernel uses only a part of a tensor
/// (a slice, or one of several inputs that it concatenates), only that part counts. Outputs are
/// arguments too. The reference counts complete tensors and, for pointwise kernels, the first
/// tensor's type a second time.
TritonTensors tensors_of(const ParsedArgs& args, double points, bool compat) {
  TritonTensors out;
  for (std::size_t i = 0; i < args.count(); ++i) {
    const Shape shape = args.dims(i);
    const std::string type = args.type(i);
    if (shape.empty() || type == "Scalar")
      continue;
    if (out.first_type.empty())
      out.first_type = type;
    if (out.first_sized.empty() && triton_bytes_compat(type) > 0)
      out.first_sized = type;
    out.bytes += compat ? elements(shape) * triton_bytes_compat(type)
                        : std::min(elements(shape), points) * triton_bytes(type);
  }
  return out;
}

} // namespace

/// Worked example: triton_poi_fused__unsafe_view_mul_silu_2 over 268435456 elements: 1 (mul) + 4
/// (silu) flops per element, 1.34217728 GFLOP.
std::optional<PerfResult> evaluate_triton(std::string_view name, const ParsedArgs& args,
                                          bool compat) {
  const std::string_view kind = name.substr(0, 11);
  const bool pointwise = kind == "triton_poi_";
  if (!pointwise && kind != "triton_red_" && kind != "triton_per_")
    return std::nullopt;
  if (!args.any() || args.type(0).empty())
    return std::nullopt;
  Shape ints;
  for (std::size_t i = 0; i < args.count(); ++i)
    if (const auto v = args.integer(i); v && args.concrete(i)[0] != '[')
      ints.push_back(*v);
  if (ints.empty())
    return std::nullopt;
  const bool two = !pointwise && ints.size() >= 2;
  const std::int64_t xnumel = two ? ints[ints.size() - 2] : ints.back();
  const std::int64_t rnumel = two ? ints.back() : 1;
  const std::size_t at = name.find("fused_");
  std::string_view body = at == std::string_view::npos ? std::string_view() : name.substr(at + 6);
  if (const std::size_t last = body.rfind('_');
      last != std::string_view::npos &&
      body.find_first_not_of("0123456789", last + 1) == std::string_view::npos)
    body = body.substr(0, last);
  double per_element = 0;
  std::string ops;
  for (const TritonOp* op : fused_ops(body)) {
    per_element += op->cost;
    ops += (ops.empty() ? "aten." : ", aten.") + std::string(op->name);
  }
  PerfResult r;
  const auto x = static_cast<double>(xnumel);
  r.flops = per_element * x * static_cast<double>(rnumel);
  const TritonTensors tensors = tensors_of(args, x * static_cast<double>(rnumel), compat);
  r.bytes = tensors.bytes;
  if (compat && pointwise)
    r.bytes += triton_bytes_compat(tensors.first_type) * x;
  r.params = {{"fused_ops", python_quote(ops)},
              {"xnumel", std::to_string(xnumel)},
              {"rnumel", std::to_string(rnumel)}};
  r.compute_spec = compat ? triton_spec_compat(tensors.first_sized.empty() ? tensors.first_type
                                                                           : tensors.first_sized)
                          : op_model::compute_spec("vector", tensors.first_type);
  return r;
}

} // namespace rankscope
