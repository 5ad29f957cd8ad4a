// Scaled dot product attention (perf-report.md 1.4); the softmax is not counted.
#include "base/number_text.h"
#include "model/op_model_impl.h"

#include <cmath>

namespace rankscope::op_model {
namespace {

struct Layout {
  std::size_t q;          ///< position of q; k and v follow
  bool heads_first;       ///< (B, H, N, d), else (B, N, H, d)
  std::ptrdiff_t dropout; ///< concrete input; -1 = none
  std::ptrdiff_t causal;  ///< -1 = never
  bool flash;
  bool backward;      ///< the operator itself is the backward one
  bool bytes_by_type; ///< also in compat mode
  bool causal_default;
};

/// fwd flops 2 B Hq Nq Nkv (dqk + dv), half when causal; bytes (q + k + v + o).
/// Worked example: (4, 12, 197, 64) without mask: 2*4*12*197*197*128 = 0.476884992 GFLOP,
/// 4 * 4*12*197*64 * 2 bytes = 4.6171875 MiB.
std::optional<PerfResult> attention(const Call& call, const Layout& l) {
  const Shape q = call.args.dims(l.q);
  const Shape k = call.args.dims(l.q + 1);
  const Shape v = call.args.dims(l.q + 2);
  if (q.size() != 4 || k.size() != 4 || v.size() != 4)
    return std::nullopt;
  const std::size_t h = l.heads_first ? 1 : 2;
  const std::size_t n = l.heads_first ? 2 : 1;
  const auto at = [](std::ptrdiff_t i) { return static_cast<std::size_t>(i); };
  const double dropout = l.dropout < 0 ? 0 : call.args.number(at(l.dropout)).value_or(0);
  const bool causal =
      l.causal >= 0 &&
      (call.args.concrete(at(l.causal)).empty() ? l.causal_default : call.args.flag(at(l.causal)));
  if (causal && q[n] != k[n])
    return std::nullopt; // where the mask's corner lies is not recorded
  const auto b = static_cast<double>(q[0]);
  const auto hq = static_cast<double>(q[h]);
  const auto hkv = static_cast<double>(k[h]);
  const auto nq = static_cast<double>(q[n]);
  const auto nkv = static_cast<double>(k[n]);
  const auto dqk = static_cast<double>(q[3]);
  const auto dv = static_cast<double>(v[3]);
  const double half = causal ? 0.5 : 1;
  const double typed = type_bytes(call.args.type(l.q));
  const double bpe = call.compat && !l.bytes_by_type ? 2 : typed;
  const double eq = b * nq * hq * dqk;
  const double ek = b * nkv * hkv * dqk;
  const double ev = b * nkv * hkv * dv;
  const double eo = b * nq * hq * dv;
  PerfResult r;
  const double square = 2 * b * hq * nq * nkv;
  r.flops = square * (dqk + dv) * half;
  r.bytes = (eq + ek + ev + eo) * bpe;
  // gradients of shared K/V heads are added up over the query heads that share them
  const double shared = hkv > 0 ? std::floor(hq / hkv) - 1 : 0;
  r.flops_bwd = ((l.flash ? square * dqk : 0) + square * dv + b * nkv * dv * shared + square * dv +
                 square * dqk + square * dqk + b * nkv * dqk * shared) *
                half;
  r.bytes_bwd = (2 * eq + 2 * ek + 2 * ev + eo) * bpe;
  r.params = {{"B", repr(q[0])},
              {"N_Q", repr(q[n])},
              {"H_Q", repr(q[h])},
              {"N_KV", repr(k[n])},
              {"H_KV", repr(k[h])},
              {"d_h_qk", repr(q[3])},
              {"d_h_v", repr(v[3])},
              {"dropout", python_float(dropout)},
              {"causal", repr(causal)},
              {"flash_impl", repr(l.flash)},
              {"dtype_A_B", repr_types({call.args.type(l.q), call.args.type(l.q + 1)})}};
  r.compute_spec = compute_spec("matrix", call.args.type(l.q));
  if (l.backward) {
    r.flops = r.flops_bwd;
    r.bytes = r.bytes_bwd;
    r.flops_bwd = r.bytes_bwd = kUnknown;
  }
  return r;
}

// position of q, heads first, dropout, causal, flash, backward, bytes by type, causal default
constexpr Layout kTorchFlash{0, true, 3, 4, true, false, false, false};
constexpr Layout kTorchOther{0, true, 5, 6, false, false, false, false};
constexpr Layout kFlashAttn{0, false, 3, 5, true, false, false, false};
constexpr Layout kFlashAttnBwd{1, false, 8, 10, true, true, true, true};
constexpr Layout kAiterV3{1, false, 4, 6, true, false, false, false};
constexpr Layout kAiterBwd{0, false, 10, 12, true, true, false, false};
constexpr Layout kAiterMhaBwd{1, false, 6, 8, true, true, false, false};
constexpr Layout kAiterV3Bwd{1, false, 7, 9, true, true, false, false};
constexpr Layout kFlash3{0, false, -1, 24, true, false, false, false};

template <const Layout& L> std::optional<PerfResult> of(const Call& c) {
  return attention(c, L);
}

constexpr Entry kModels[] = {
    {"aten__scaled_dot_product_flash_attention", of<kTorchFlash>},
    {"aten__scaled_dot_product_efficient_attention", of<kTorchOther>},
    {"aten__scaled_dot_product_cudnn_attention", of<kTorchOther>},
    {"flash_attention", of<kFlashAttn>},
    {"aiter__flash_attn_forward", of<kFlashAttn>},
    {"aiter__mha_fwd", of<kFlashAttn>},
    {"aiter__fmha_v3_fwd", of<kFlashAttn>},
    {"aiter__fmha_v3_forward", of<kAiterV3>},
    {"flash_attn_v3_forward", of<kFlash3>},
    {"flash_attention_backward", of<kFlashAttnBwd>},
    {"aiter__flash_attn_backward", of<kAiterBwd>},
    {"aiter__mha_bwd", of<kAiterMhaBwd>},
    {"aiter__fmha_v3_backward", of<kAiterV3Bwd>},
};

} // namespace

std::span<const Entry> attention_models() {
  return kModels;
}

} // namespace rankscope::op_model
