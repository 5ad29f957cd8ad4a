// Matrix products (docs/performance-models.md). Flops: B (2MNK + MN if there is a bias). Bytes: B
// ((MK + KN) in + MN out + N bias), with the bytes per element of input, output and bias.
#include "model/kernels.h"
#include "model/ops/op_model_impl.h"

#include <algorithm>
#include <cmath>

namespace rankscope::op_model {
namespace {

struct Gemm {
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  bool bias = false;
  bool batched = false;
  std::string stride_a = "None", stride_b = "None";
  std::string type_a, type_b;
  double in_a = 0, in_b = 0, out = 0, bias_bytes = 0;
  double scales = 0;     ///< bytes of block scales, if the model counts them
  std::string type_out;  ///< not empty if the parameters contain the output type
  std::string precision; ///< "" = the precision of A
  bool strides = true;   ///< the parameters contain strides
};

/// Worked example: aten::mm (8944, 1024) x (1024, 2816) bf16: 2*8944*2816*1024 = 51.58 GFLOP,
/// bytes = 2 (8944*1024 + 1024*2816 + 8944*2816) = 71.0078 MiB.
PerfResult cost(const Call& call, const Gemm& g) {
  const auto b = static_cast<double>(g.batch);
  const auto m = static_cast<double>(g.m);
  const auto n = static_cast<double>(g.n);
  const auto k = static_cast<double>(g.k);
  PerfResult r;
  r.flops = b * (2 * m * n * k + (g.bias ? m * n : 0));
  r.bytes = b * (m * k * g.in_a + k * n * g.in_b + m * n * g.out + (g.bias ? n * g.bias_bytes : 0) +
                 g.scales);
  if (g.batched)
    r.params.emplace_back("B", repr(g.batch));
  r.params.emplace_back("M", repr(g.m));
  r.params.emplace_back("N", repr(g.n));
  r.params.emplace_back("K", repr(g.k));
  r.params.emplace_back("bias", repr(g.bias));
  if (g.strides) {
    r.params.emplace_back("stride_A", g.stride_a);
    r.params.emplace_back("stride_B", g.stride_b);
  }
  r.params.emplace_back("dtype_A_B", g.type_out.empty()
                                         ? repr_types({g.type_a, g.type_b})
                                         : repr_types({g.type_a, g.type_b, g.type_out}));
  if (!g.batched)
    r.params.emplace_back("B", repr(g.batch));
  if (std::string transpose = gemm_transpose_repr(call.hints.kernel); !transpose.empty())
    r.params.emplace_back("transpose", std::move(transpose));
  r.compute_spec = compute_spec("matrix", g.precision.empty() ? g.type_a : g.precision);
  return r;
}

/// Returns the recorded types and strides of A and B, which are arguments a and b.
Gemm operands(const Call& c, std::size_t a, std::size_t b) {
  Gemm g;
  g.stride_a = c.args.strides(a);
  g.stride_b = c.args.strides(b);
  g.type_a = c.args.type(a);
  g.type_b = c.args.type(b);
  g.in_a = type_bytes(g.type_a);
  g.in_b = type_bytes(g.type_b);
  return g;
}

/// Arguments a and b are A ([batch,] M x K) and B ([batch,] K x N).
std::optional<PerfResult> product(const Call& call, std::size_t a, std::size_t b, bool bias,
                                  std::size_t rank) {
  const Shape x = call.args.dims(a);
  const Shape y = call.args.dims(b);
  if (x.size() != rank || y.size() != rank)
    return std::nullopt;
  Gemm g = operands(call, a, b);
  g.batched = rank == 3;
  g.batch = g.batched ? x[0] : 1;
  g.m = x[rank - 2];
  g.k = x[rank - 1];
  g.n = y[rank - 1];
  g.bias = bias;
  g.in_b = g.out = g.bias_bytes = g.in_a;
  if (bias && !call.compat) {
    // the bias of addmm may be an M x N matrix; the reference always counts N elements
    const double size = call.args.dims(0).empty() ? 1 : elements(call.args.dims(0));
    g.bias_bytes *= size / (static_cast<double>(g.n) * static_cast<double>(g.batch));
  }
  return cost(call, g);
}

std::optional<PerfResult> mm(const Call& c) {
  return product(c, 0, 1, false, 2);
}
std::optional<PerfResult> addmm(const Call& c) {
  return product(c, 1, 2, true, 2);
}

std::optional<PerfResult> scaled_mm(const Call& c) {
  const Shape x = c.args.dims(0);
  const Shape y = c.args.dims(1);
  if (x.size() != 2 || y.size() != 2)
    return std::nullopt;
  Gemm g = operands(c, 0, 1);
  g.m = x[0];
  g.k = x[1];
  g.n = y[1];
  // the reference reads neither the bias nor the type of the output
  g.bias = c.compat ? c.args.count() == 3 : !c.args.dims(4).empty();
  if (std::isnan(g.in_a) || std::isnan(g.in_b))
    return std::nullopt;
  g.in_b = g.in_a;
  g.out = g.in_a == 1 ? 2 : g.in_a == 2 || g.in_a == 4 ? g.in_a : kUnknown;
  if (constexpr std::int64_t kFloat = 6; !c.compat && c.args.integer(6) == kFloat)
    g.out = 4; // c10/core/ScalarType.h
  g.bias_bytes = c.compat ? g.out : type_bytes_or(c.args.type(4), g.out);
  return cost(c, g);
}

/// The weights are the second two-dimensional argument; their shape is N x K.
std::optional<PerfResult> dynamic_quant(const Call& c) {
  std::vector<std::size_t> two;
  for (std::size_t i = 0; i < c.args.count() && two.size() < 2; ++i)
    if (c.args.dims(i).size() == 2)
      two.push_back(i);
  if (two.size() < 2)
    return std::nullopt;
  Gemm g = operands(c, two[0], two[1]);
  g.m = c.args.dims(two[0])[0];
  g.k = c.args.dims(two[0])[1];
  g.n = c.args.dims(two[1])[0];
  if (c.compat)
    g.in_b = g.in_a;
  g.out = g.in_a == 1 ? 2 : g.in_a;
  return cost(c, g);
}

std::optional<PerfResult> te_gemm(const Call& c) {
  const Shape x = c.args.dims(0);
  const Shape y = c.args.dims(5);
  if (x.size() != 2 || y.size() != 2)
    return std::nullopt;
  const bool ta = c.args.concrete(4) == "1";
  const bool tb = c.args.concrete(9) == "1";
  Gemm g = operands(c, 0, 5);
  g.m = ta ? x[0] : x[1];
  g.k = ta ? x[1] : x[0];
  g.n = tb ? y[1] : y[0];
  g.bias = !c.args.concrete(14).empty();
  g.out = type_bytes(c.args.type(10));
  g.bias_bytes = type_bytes(c.args.type(18));
  return cost(c, g);
}

std::optional<PerfResult> te_pseudo(const Call& c) {
  if (c.args.type(0) != c.args.type(1))
    return std::nullopt;
  const Shape x = c.args.dims(0);
  const Shape y = c.args.dims(1);
  if (x.size() != 2 || y.size() != 2)
    return std::nullopt;
  Gemm g = operands(c, 0, 1);
  g.m = x[0];
  g.k = x[1];
  g.n = y[1];
  g.out = 2;
  return cost(c, g);
}

constexpr const char* kBf16 = "c10::BFloat16";

/// X (M, K) with weights (N, K), as in inference libraries. The types of A and B are the recorded
/// ones; the caller sets the output type. nullopt unless both are matrices.
std::optional<Gemm> weights_nk(const Call& c) {
  const Shape x = c.args.dims(0);
  const Shape w = c.args.dims(1);
  if (x.size() != 2 || w.size() != 2)
    return std::nullopt;
  Gemm g = operands(c, 0, 1);
  g.m = x[0];
  g.k = x[1];
  g.n = w[0];
  g.strides = false;
  return g;
}

std::optional<PerfResult> with_output(const Call& c, Gemm g, std::string type_out) {
  g.out = g.bias_bytes = type_bytes(type_out);
  g.type_out = std::move(type_out);
  return cost(c, g);
}

/// 8-bit X and W with block scales (whose bytes are not counted), bf16 output.
/// Worked example: (64, 7168) x (2112, 7168) int8: 2*64*2112*7168 flops, 64*7168 + 2112*7168 +
/// 2*64*2112 bytes.
std::optional<PerfResult> a8w8_blockscale(const Call& c) {
  auto g = weights_nk(c);
  return g ? with_output(c, *g, kBf16) : std::nullopt;
}

std::optional<PerfResult> unquantized(const Call& c) {
  auto g = weights_nk(c);
  if (!g)
    return std::nullopt;
  g->bias = !c.args.dims(2).empty();
  auto r = with_output(c, *g, g->bias ? c.args.type(2) : g->type_b);
  if (r && c.compat) // the reference prints the recorded type even if there is no bias
    for (auto& [name, text] : r->params)
      if (name == "dtype_A_B")
        text = "(" + python_quote(g->type_a) + ", " + python_quote(g->type_b) + ", " +
               python_quote(c.args.type(2)) + ")";
  return r;
}

std::optional<PerfResult> a16w16(const Call& c) {
  auto g = weights_nk(c);
  if (!g)
    return std::nullopt;
  g->bias = !c.args.dims(2).empty(); // (x, w, bias, dtype, ...)
  auto r = with_output(c, *g, g->type_a);
  if (r && c.compat) { // in the reference, the parameter B is first
    const auto batch = std::find_if(r->params.begin(), r->params.end(),
                                    [](const auto& p) { return p.first == "B"; });
    std::rotate(r->params.begin(), batch, std::next(batch));
  }
  return r;
}

std::optional<PerfResult> a16w16_atomic(const Call& c) {
  auto g = weights_nk(c);
  if (!g)
    return std::nullopt;
  const std::string out = c.args.type(3); // type of the output tensor, if argument 3 is one
  return with_output(c, *g,
                     out.empty() || (!c.compat && std::isnan(type_bytes(out))) ? kBf16 : out);
}

std::optional<PerfResult> a16w16_asm(const Call& c) {
  auto g = weights_nk(c);
  if (!g)
    return std::nullopt;
  const std::string out = c.args.type(2);
  return with_output(c, *g, std::isnan(type_bytes(out)) ? g->type_a : out);
}

/// Both operands are FP4 with two values per byte, so K is twice the recorded extent.
std::optional<PerfResult> afp4wfp4(const Call& c) {
  auto g = weights_nk(c);
  if (!g)
    return std::nullopt;
  g->k *= 2;
  g->in_a = g->in_b = 0.5;
  g->precision = "mxfp4";
  return with_output(c, *g, kBf16);
}

/// X (B, M, K) or (M, B, K) with W (B, N, K) of another type.
std::optional<PerfResult> batched_weights(const Call& c, double weight_bytes,
                                          const std::string& precision, bool may_swap) {
  const Shape x = c.args.dims(0);
  const Shape w = c.args.dims(1);
  if (x.size() != 3 || w.size() != 3)
    return std::nullopt;
  Gemm g = operands(c, 0, 1);
  g.batched = true;
  g.strides = false;
  g.batch = may_swap ? w[0] : x[0];
  g.m = !may_swap || x[0] == g.batch ? x[1] : x[0];
  g.n = w[1];
  g.k = x[2];
  g.in_b = weight_bytes;
  g.precision = precision;
  return with_output(c, g, kBf16);
}
std::optional<PerfResult> batched_a16wfp4(const Call& c) {
  return batched_weights(c, 0.5, "mxfp4", false);
}
std::optional<PerfResult> batched_a8w8(const Call& c) {
  return batched_weights(c, type_bytes(c.args.type(1)), c.args.type(1), true);
}

/// hipblaslt_gemm_fp8 and _fp4: A and B are arguments 0 and 2, each followed by its scales; the
/// transpose flags are arguments 5 to 7. If C is transposed, the operands are swapped. `pack`:
/// values per recorded element.
std::optional<Gemm> hipblaslt(const Call& c, std::int64_t pack) {
  Shape x = c.args.dims(0);
  Shape y = c.args.dims(2);
  if (x.size() != 2 || y.size() != 2)
    return std::nullopt;
  const auto flag = [&](std::size_t i) {
    const std::string text = c.args.concrete(i);
    return text == "1" || text == "True" || text == "true";
  };
  bool ta = flag(5);
  bool tb = flag(6);
  if (flag(7)) {
    std::swap(x, y);
    const bool old = ta;
    ta = !tb;
    tb = !old;
  }
  Gemm g = operands(c, 0, 2);
  g.m = ta ? x[1] : x[0];
  g.k = (ta ? x[0] : x[1]) * pack;
  g.n = tb ? y[0] : y[1];
  if (std::isnan(g.in_a) || std::isnan(g.in_b))
    return std::nullopt;
  return g;
}
std::optional<PerfResult> hipblaslt_fp8(const Call& c) {
  auto g = hipblaslt(c, 1);
  if (!g)
    return std::nullopt;
  g->out = g->in_a == 1 ? 2 : g->in_a;
  return cost(c, *g);
}

/// MXFP4: packed operands (half a byte per value), one E8M0 scale per 32 values, 16-bit output.
/// Worked example: M=4, N=6, K=64: 2*4*6*64 = 3072 flops, 4*32 + 6*32 + 4*2 + 6*2 + 4*6*2 = 388
/// bytes.
PerfResult mxfp4(const Call& c, Gemm g, const std::string& scale_a, const std::string& scale_b) {
  const double blocks = std::ceil(static_cast<double>(g.k) / 32);
  g.in_a /= 2;
  g.in_b /= 2;
  g.out = 2;
  g.scales = static_cast<double>(g.m) * blocks * type_bytes_or(scale_a, 1) +
             static_cast<double>(g.n) * blocks * type_bytes_or(scale_b, 1);
  return cost(c, g);
}
std::optional<PerfResult> hipblaslt_fp4(const Call& c) {
  const auto g = hipblaslt(c, 2);
  return g ? std::optional(mxfp4(c, *g, c.args.type(1), c.args.type(3))) : std::nullopt;
}
/// A (M, K/2), B (N, K/2), scale A, scale B, ...: the layout is always the same.
std::optional<PerfResult> a4w4(const Call& c) {
  auto g = weights_nk(c);
  if (!g || std::isnan(g->in_a) || std::isnan(g->in_b))
    return std::nullopt;
  g->k *= 2;
  g->strides = true;
  return mxfp4(c, *g, c.args.type(2), c.args.type(3));
}

/// Sums over groups of (M_i, K_i) x (K_i, N_i).
struct Groups {
  double m = 0, k = 0, n = 0, count = 0;
  double products = 0; ///< sum of M_i N_i K_i
  double x = 0, w = 0, y = 0;
  void add(double mi, double ki, double ni, double weights) {
    m += mi;
    k = count == 0 ? ki : k;
    n = count == 0 ? ni : n;
    products += mi * ki * ni;
    x += mi * ki;
    w += weights;
    y += mi * ni;
  }
};

PerfResult grouped_cost(const Call& c, const Groups& g) {
  const double in = type_bytes(c.args.type(0));
  const double out = in == 1 ? 2 : in;
  PerfResult r;
  r.flops = 2 * g.products;
  r.bytes = (g.x + g.w) * in + g.y * out;
  r.flops_bwd = 4 * g.products;
  r.bytes_bwd = 2 * g.y * out + 2 * g.x * in + 2 * g.w * in;
  r.params = {{"M", repr_count(g.m)},
              {"N", repr_count(g.n)},
              {"K", repr_count(g.k)},
              {"G", repr_count(g.count)},
              {"dtype_A_B", repr_types({c.args.type(0), c.args.type(1)})}};
  r.compute_spec = compute_spec("matrix", c.args.type(0));
  return r;
}

/// Reads two lists of matrices, [(M_1, K_1), ...] and [(K_1, N_1), ...]. nullopt if they do not
/// form pairs.
std::optional<Groups> zipped(const Call& c, bool same_k) {
  const auto lhs = c.args.shape_list(0);
  const auto rhs = c.args.shape_list(1);
  if (lhs.empty() || lhs.size() != rhs.size())
    return std::nullopt;
  Groups g;
  for (std::size_t i = 0; i < lhs.size(); ++i) {
    if (lhs[i].size() != 2 || rhs[i].size() != 2 || lhs[i][1] != rhs[i][0] ||
        (same_k && (lhs[i][1] != lhs[0][1] || rhs[i][1] != rhs[0][1])))
      return std::nullopt;
    const auto m = static_cast<double>(lhs[i][0]);
    const auto k = static_cast<double>(lhs[i][1]);
    const auto n = static_cast<double>(rhs[i][1]);
    g.add(m, k, n, k * n);
    g.count += 1;
  }
  return g;
}

/// A (M, K) and G matrices (G, K, N) or (G, N, K), or lists of both. Each row of A is multiplied by
/// one of the matrices. Forward: 2MNK flops, (MK + GKN) in + MN out bytes. Backward: 4MNK flops,
/// 2MN out + 2MK in + 2GKN in bytes. Worked example: M=8, K=4, G=2, N=3, bf16: forward 192 flops,
/// (32 + 24)*2 + 24*2 = 160 bytes.
std::optional<PerfResult> grouped(const Call& c) {
  const Shape x = c.args.dims(0);
  const Shape w = c.args.dims(1);
  if (x.size() == 2 && w.size() == 3 && (w[1] == x[1] || w[2] == x[1])) {
    const auto k = static_cast<double>(x[1]);
    const auto n = static_cast<double>(w[1] == x[1] ? w[2] : w[1]);
    Groups g;
    g.add(static_cast<double>(x[0]), k, n, elements(w));
    g.count = static_cast<double>(w[0]);
    return grouped_cost(c, g);
  }
  if (const auto g = zipped(c, true))
    return grouped_cost(c, *g);
  return std::nullopt;
}

/// The gradient of the weights: each group has a different K. If the arguments are matrices (M, K)
/// and (M, N), they count as one product over all M rows.
std::optional<PerfResult> grouped_variable_k(const Call& c) {
  const Shape x = c.args.dims(0);
  const Shape y = c.args.dims(1);
  if (x.size() == 2 && y.size() == 2) {
    const auto k = static_cast<double>(x[1]);
    const auto n = static_cast<double>(y[1]);
    Groups g;
    g.add(static_cast<double>(x[0]), k, n, k * n);
    g.count = 1;
    return grouped_cost(c, g);
  }
  if (const auto g = zipped(c, false))
    return grouped_cost(c, *g);
  return std::nullopt;
}

constexpr Entry kGemmModels[] = {
    {"aten_mm", mm, kNeedsTranspose},
    {"aten_addmm", addmm, kNeedsTranspose},
    {"aten_bmm", [](const Call& c) { return product(c, 0, 1, false, 3); }, kNeedsTranspose},
    {"aten_baddbmm", [](const Call& c) { return product(c, 1, 2, true, 3); }, kNeedsTranspose},
    {"aten_scaled_mm", scaled_mm, kNeedsTranspose},
    {"vllm_gemm_with_dynamic_quant", dynamic_quant, kNeedsTranspose},
    {"tex_ts_te_gemm_ts", te_gemm, kNeedsTranspose},
    {"tev2_pseudo_gemm", te_pseudo, kNeedsTranspose},
    {"gemm_a8w8_blockscale", a8w8_blockscale, kNeedsTranspose},
    {"vllm_rocm_unquantized_gemm", unquantized, kNeedsTranspose},
    {"gemm_a16w16", a16w16, kNeedsTranspose},
    {"gemm_a16w16_atomic_", a16w16_atomic, kNeedsTranspose},
    {"gemm_a16w16_asm", a16w16_asm, kNeedsTranspose},
    {"gemm_afp4wfp4", afp4wfp4, kNeedsTranspose},
    {"batched_gemm_a16wfp4", batched_a16wfp4, kNeedsTranspose},
    {"batched_gemm_a8w8", batched_a8w8, kNeedsTranspose},
    {"hipblaslt_gemm_fp8", hipblaslt_fp8, kNeedsTranspose},
    {"hipblaslt_gemm_fp4", hipblaslt_fp4, kNeedsTranspose},
    {"aiter_gemm_a4w4", a4w4, kNeedsTranspose},
    {"primus_turbo_grouped_gemm", grouped},
    {"primus_turbo_grouped_gemm_variable_k", grouped_variable_k},
};

} // namespace

std::span<const Entry> gemm_models() {
  return kGemmModels;
}

} // namespace rankscope::op_model
