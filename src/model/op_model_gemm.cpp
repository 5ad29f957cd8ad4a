// Matrix products: flops = B (2MNK + MN if bias), bytes = B ((MK + KN) in + MN out + N bias)
// (perf-report.md 1.4).
#include "model/kernel_name.h"
#include "model/op_model_impl.h"

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
  r.bytes = b * (m * k * g.in_a + k * n * g.in_b + m * n * g.out + (g.bias ? n * g.bias_bytes : 0));
  if (g.batched)
    r.params.emplace_back("B", repr(g.batch));
  r.params.emplace_back("M", repr(g.m));
  r.params.emplace_back("N", repr(g.n));
  r.params.emplace_back("K", repr(g.k));
  r.params.emplace_back("bias", repr(g.bias));
  r.params.emplace_back("stride_A", g.stride_a);
  r.params.emplace_back("stride_B", g.stride_b);
  r.params.emplace_back("dtype_A_B", repr_types({g.type_a, g.type_b}));
  if (!g.batched)
    r.params.emplace_back("B", repr(g.batch));
  for (const std::string_view kernel : call.kernels)
    if (std::string transpose = gemm_transpose_repr(kernel); !transpose.empty()) {
      r.params.emplace_back("transpose", std::move(transpose));
      break;
    }
  r.compute_spec = compute_spec("matrix", g.type_a);
  return r;
}

/// A and B are arguments a and b, [batch,] M x K and K x N.
std::optional<PerfResult> product(const Call& call, std::size_t a, std::size_t b, bool bias,
                                  std::size_t rank) {
  const Shape x = call.args.dims(a);
  const Shape y = call.args.dims(b);
  if (x.size() != rank || y.size() != rank)
    return std::nullopt;
  Gemm g;
  g.batched = rank == 3;
  g.batch = g.batched ? x[0] : 1;
  g.m = x[rank - 2];
  g.k = x[rank - 1];
  g.n = y[rank - 1];
  g.bias = bias;
  g.stride_a = call.args.strides(a);
  g.stride_b = call.args.strides(b);
  g.type_a = call.args.type(a);
  g.type_b = call.args.type(b);
  g.in_a = g.in_b = g.out = g.bias_bytes = type_bytes(g.type_a);
  if (bias && !call.compat) {
    // the bias of addmm may be a full M x N matrix; the reference counts N elements
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
std::optional<PerfResult> bmm(const Call& c) {
  return product(c, 0, 1, false, 3);
}
std::optional<PerfResult> baddbmm(const Call& c) {
  return product(c, 1, 2, true, 3);
}

std::optional<PerfResult> scaled_mm(const Call& c) {
  const Shape x = c.args.dims(0);
  const Shape y = c.args.dims(1);
  if (x.size() != 2 || y.size() != 2)
    return std::nullopt;
  Gemm g;
  g.m = x[0];
  g.k = x[1];
  g.n = y[1];
  g.bias = c.args.count() == 3;
  g.stride_a = c.args.strides(0);
  g.stride_b = c.args.strides(1);
  g.type_a = c.args.type(0);
  g.type_b = c.args.type(1);
  g.in_a = g.in_b = type_bytes(g.type_a);
  if (std::isnan(g.in_a) || std::isnan(type_bytes(g.type_b)))
    return std::nullopt;
  g.out = g.in_a == 1 ? 2 : g.in_a == 2 || g.in_a == 4 ? g.in_a : kUnknown;
  g.bias_bytes = g.out;
  return cost(c, g);
}

/// Weights are N x K: the second two-dimensional argument.
std::optional<PerfResult> dynamic_quant(const Call& c) {
  std::vector<std::size_t> two;
  for (std::size_t i = 0; i < c.args.count() && two.size() < 2; ++i)
    if (c.args.dims(i).size() == 2)
      two.push_back(i);
  if (two.size() < 2)
    return std::nullopt;
  Gemm g;
  g.m = c.args.dims(two[0])[0];
  g.k = c.args.dims(two[0])[1];
  g.n = c.args.dims(two[1])[0];
  g.stride_a = c.args.strides(two[0]);
  g.stride_b = c.args.strides(two[1]);
  g.type_a = c.args.type(two[0]);
  g.type_b = c.args.type(two[1]);
  g.in_a = type_bytes(g.type_a);
  g.in_b = c.compat ? g.in_a : type_bytes(g.type_b);
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
  Gemm g;
  g.m = ta ? x[0] : x[1];
  g.k = ta ? x[1] : x[0];
  g.n = tb ? y[1] : y[0];
  g.bias = !c.args.concrete(14).empty();
  g.stride_a = c.args.strides(0);
  g.stride_b = c.args.strides(5);
  g.type_a = c.args.type(0);
  g.type_b = c.args.type(5);
  g.in_a = type_bytes(g.type_a);
  g.in_b = type_bytes(g.type_b);
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
  Gemm g;
  g.m = x[0];
  g.k = x[1];
  g.n = y[1];
  g.stride_a = c.args.strides(0);
  g.stride_b = c.args.strides(1);
  g.type_a = c.args.type(0);
  g.type_b = c.args.type(1);
  g.in_a = g.in_b = type_bytes(g.type_a);
  g.out = 2;
  return cost(c, g);
}

/// A (M, K) against G matrices (G, K, N): every row of A meets one of them.
/// fwd 2MNK, bytes (MK + GKN) in + MN out; bwd 4MNK, bytes 2MN out + 2MK in + 2GKN in.
/// Worked example: M=8, K=4, G=2, N=3, bf16: fwd 192 flops, (32 + 24)*2 + 24*2 = 160 bytes.
std::optional<PerfResult> grouped(const Call& c) {
  const Shape x = c.args.dims(0);
  const Shape w = c.args.dims(1);
  if (x.size() != 2 || w.size() != 3)
    return std::nullopt;
  const std::int64_t groups = w[0];
  const std::int64_t k = x[1];
  if (w[1] != k && w[2] != k)
    return std::nullopt;
  const std::int64_t n = w[1] == k ? w[2] : w[1];
  const auto m = static_cast<double>(x[0]);
  const auto dn = static_cast<double>(n);
  const auto dk = static_cast<double>(k);
  const auto g = static_cast<double>(groups);
  const double in = type_bytes(c.args.type(0));
  const double out = in == 1 ? 2 : in;
  PerfResult r;
  r.flops = 2 * m * dn * dk;
  r.bytes = (m * dk + g * dk * dn) * in + m * dn * out;
  r.flops_bwd = 4 * m * dn * dk;
  r.bytes_bwd = 2 * m * dn * out + 2 * m * dk * in + 2 * g * dk * dn * in;
  r.params = {{"M", repr(x[0])},
              {"N", repr(n)},
              {"K", repr(k)},
              {"G", repr(groups)},
              {"dtype_A_B", repr_types({c.args.type(0), c.args.type(1)})}};
  r.compute_spec = compute_spec("matrix", c.args.type(0));
  return r;
}

constexpr Entry kModels[] = {
    {"aten_mm", mm},
    {"aten_addmm", addmm},
    {"aten_bmm", bmm},
    {"aten_baddbmm", baddbmm},
    {"aten_scaled_mm", scaled_mm},
    {"vllm_gemm_with_dynamic_quant", dynamic_quant},
    {"tex_ts_te_gemm_ts", te_gemm},
    {"tev2_pseudo_gemm", te_pseudo},
    {"primus_turbo_grouped_gemm", grouped},
};

} // namespace

std::span<const Entry> gemm_models() {
  return kModels;
}

} // namespace rankscope::op_model
