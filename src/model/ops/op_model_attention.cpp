// Scaled dot product attention (docs/performance-models.md). The operations of the softmax are not
// counted.
#include "base/number_text.h"
#include "model/ops/op_model_impl.h"

#include <cmath>

namespace rankscope::op_model {
namespace {

struct Layout {
  std::size_t q;          ///< position of q; k and v are the next two arguments
  bool heads_first;       ///< shape (B, H, N, d); otherwise (B, N, H, d)
  std::ptrdiff_t dropout; ///< position of the dropout probability; -1 = not recorded
  std::ptrdiff_t causal;  ///< position of the causal flag; -1 = never causal
  bool flash;
  bool backward;      ///< the operator is a backward operator
  bool bytes_by_type; ///< bytes depend on the recorded type even in compat mode
  bool causal_default;
};

/// The positions of the axes N, H and d in the shapes.
struct Axes {
  std::size_t n, h, d;
};
Params parameters(const Call& call, std::size_t q_at, const Axes& at, std::string batch,
                  double dropout, bool causal, bool flash) {
  const Shape q = call.args.dims(q_at);
  const Shape k = call.args.dims(q_at + 1);
  return {{"B", std::move(batch)},
          {"N_Q", repr(q[at.n])},
          {"H_Q", repr(q[at.h])},
          {"N_KV", repr(k[at.n])},
          {"H_KV", repr(k[at.h])},
          {"d_h_qk", repr(q[at.d])},
          {"d_h_v", repr(call.args.dims(q_at + 2)[at.d])},
          {"dropout", python_float(dropout)},
          {"causal", repr(causal)},
          {"flash_impl", repr(flash)},
          {"dtype_A_B", repr_types({call.args.type(q_at), call.args.type(q_at + 1)})}};
}

/// Forward flops: 2 B Hq Nq Nkv (dqk + dv), half of this if causal; bytes: q + k + v + o.
/// Worked example: (4, 12, 197, 64) without mask: 2*4*12*197*197*128 = 0.476884992 GFLOP, 4 *
/// 4*12*197*64 * 2 bytes = 4.6171875 MiB.
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
    return std::nullopt; // it is not recorded in which corner of the matrix the mask begins
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
  // if several query heads use the same K/V head, its gradients are summed over them
  const double shared = hkv > 0 ? std::floor(hq / hkv) - 1 : 0;
  r.flops_bwd = ((l.flash ? square * dqk : 0) + square * dv + b * nkv * dv * shared + square * dv +
                 square * dqk + square * dqk + b * nkv * dqk * shared) *
                half;
  r.bytes_bwd = (2 * eq + 2 * ek + 2 * ev + eo) * bpe;
  r.params = parameters(call, l.q, {n, h, 3}, repr(q[0]), dropout, causal, l.flash);
  r.compute_spec = compute_spec("matrix", call.args.type(l.q));
  if (l.backward)
    turn_backward(r);
  return r;
}

/// Attention over packed sequences, q (N, H, d). Only the number of sequences and the length of the
/// longest one are recorded. The cost is computed with the longest sequence and all others of equal
/// length, which gives a lower bound. Worked example: 3 sequences, 100 tokens, longest 60, so 60 +
/// 2 x 20: with H=2, d=8 without mask 2*2*(60^2 + 2*20^2)*16 = 281600 flops.
struct VarlenLayout {
  std::size_t q;
  std::size_t lengths; ///< position of the offsets of q; those of k are the next argument
  std::size_t longest; ///< position of the longest length of q; that of k and dropout are the next
                       ///< two arguments
  std::size_t causal;
  bool backward;
};

std::optional<PerfResult> varlen(const Call& call, const VarlenLayout& l) {
  const Shape q = call.args.dims(l.q);
  const Shape k = call.args.dims(l.q + 1);
  const Shape v = call.args.dims(l.q + 2);
  const Shape offsets_q = call.args.dims(l.lengths);
  const Shape offsets_k = call.args.dims(l.lengths + 1);
  const auto longest_q = call.args.number(l.longest);
  const auto longest_k = call.args.number(l.longest + 1);
  if (q.size() != 3 || k.size() != 3 || v.size() != 3 || offsets_q.size() != 1 ||
      offsets_k.size() != 1 || offsets_q[0] < 2 || offsets_k[0] < 2 || !longest_q || !longest_k)
    return std::nullopt;
  const auto sequences_q = static_cast<double>(offsets_q[0] - 1);
  const auto sequences_k = static_cast<double>(offsets_k[0] - 1);
  const bool causal = call.args.flag(l.causal);
  const auto hq = static_cast<double>(q[1]);
  const auto hkv = static_cast<double>(k[1]);
  const auto nq = static_cast<double>(q[0]);
  const auto nkv = static_cast<double>(k[0]);
  const auto dqk = static_cast<double>(q[2]);
  const auto dv = static_cast<double>(v[2]);
  const double shared = hkv > 0 ? std::floor(hq / hkv) - 1 : 0;
  double forward = 0;
  double backward = 0;
  bool fits = true;
  const auto add = [&](double times, double n, double m) {
    fits = fits && (!causal || n == m); // it is not recorded in which corner of the matrix the mask
                                        // begins
    const double square = 2 * hq * n * m;
    const double half = causal ? 0.5 : 1;
    forward += times * square * (dqk + dv) * half;
    backward += times * (square * (3 * dqk + 2 * dv) + m * (dv + dqk) * shared) * half;
  };
  add(1, *longest_q, *longest_k);
  if (sequences_q > 1)
    add(sequences_q - 1, std::floor((nq - *longest_q) / (sequences_q - 1)),
        sequences_k > 1 ? std::floor((nkv - *longest_k) / (sequences_k - 1)) : 0);
  if (!fits)
    return std::nullopt;
  const double bpe = call.compat ? 2 : type_bytes(call.args.type(l.q));
  const double eq = nq * hq * dqk;
  const double ek = nkv * hkv * dqk;
  const double ev = nkv * hkv * dv;
  const double eo = nq * hq * dv;
  PerfResult r;
  r.flops = forward;
  r.bytes = (eq + ek + ev + eo) * bpe;
  r.flops_bwd = backward;
  r.bytes_bwd = (2 * eq + 2 * ek + 2 * ev + eo) * bpe;
  if (l.backward)
    turn_backward(r);
  r.params = parameters(call, l.q, {0, 1, 2}, "1", call.args.number(l.longest + 2).value_or(0),
                        causal, true);
  r.params.insert(r.params.end(), {{"num_seqs_q", repr_count(sequences_q)},
                                   {"num_seqs_kv", repr_count(sequences_k)},
                                   {"max_seqlen_q", python_float(*longest_q)},
                                   {"max_seqlen_kv", python_float(*longest_k)}});
  r.compute_spec = compute_spec("matrix", call.args.type(l.q));
  return r;
}

/// Shapes of q, k, v: (B, sequences, residues, H, d). Each sequence is one attention without mask.
std::optional<PerfResult> evoformer(const Call& call) {
  const Shape q = call.args.dims(0);
  const Shape k = call.args.dims(1);
  const Shape v = call.args.dims(2);
  if (q.size() != 5 || k.size() != 5 || v.size() != 5)
    return std::nullopt;
  const double b = static_cast<double>(q[0]) * static_cast<double>(q[1]);
  const auto nq = static_cast<double>(q[2]);
  const auto nkv = static_cast<double>(k[2]);
  const auto h = static_cast<double>(q[3]);
  const auto dqk = static_cast<double>(q[4]);
  const auto dv = static_cast<double>(v[4]);
  const double bpe = call.compat ? 2 : type_bytes(call.args.type(0));
  const double square = 2 * b * h * nq * nkv;
  const double io = elements(q) + elements(k) + elements(v);
  PerfResult r;
  r.flops = square * (dqk + dv);
  r.bytes = (io + b * nq * h * dv) * bpe;
  r.flops_bwd = square * (3 * dqk + 2 * dv);
  r.bytes_bwd = (2 * io + b * nq * h * dv) * bpe;
  r.params = parameters(call, 0, {2, 3, 4}, repr_count(b), 0, false, true);
  r.compute_spec = compute_spec("matrix", call.args.type(0));
  return r;
}

constexpr VarlenLayout kVarlen{0, 3, 5, 9, false};
constexpr VarlenLayout kVarlenBwd{1, 9, 11, 15, true};
template <const VarlenLayout& L> std::optional<PerfResult> packed(const Call& c) {
  return varlen(c, L);
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

template <const Layout& L> std::optional<PerfResult> attention_of(const Call& c) {
  return attention(c, L);
}

constexpr Entry kAttentionModels[] = {
    {"aten__scaled_dot_product_flash_attention", attention_of<kTorchFlash>},
    {"aten__scaled_dot_product_efficient_attention", attention_of<kTorchOther>},
    {"aten__scaled_dot_product_cudnn_attention", attention_of<kTorchOther>},
    {"flash_attention", attention_of<kFlashAttn>},
    {"aiter__flash_attn_forward", attention_of<kFlashAttn>},
    {"aiter__mha_fwd", attention_of<kFlashAttn>},
    {"aiter__fmha_v3_fwd", attention_of<kFlashAttn>},
    {"aiter__fmha_v3_forward", attention_of<kAiterV3>},
    {"flash_attn_v3_forward", attention_of<kFlash3>},
    {"flash_attention_backward", attention_of<kFlashAttnBwd>},
    {"aiter__flash_attn_backward", attention_of<kAiterBwd>},
    {"aiter__mha_bwd", attention_of<kAiterMhaBwd>},
    {"aiter__fmha_v3_backward", attention_of<kAiterV3Bwd>},
    {"flash_attention_varlen_forward", packed<kVarlen>},
    {"flash_attention_varlen_backward", packed<kVarlenBwd>},
    {"evoformer_attention", evoformer},
};

} // namespace

std::span<const Entry> attention_models() {
  return kAttentionModels;
}

} // namespace rankscope::op_model
