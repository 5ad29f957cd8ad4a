// Scaled dot product attention (docs/performance-models.md). The operations of the softmax are not
// counted.
#include "base/number_text.h"
#include "model/ops/op_model_impl.h"

#include <algorithm>
#include <cmath>

namespace rankscope::op_model {
namespace {

struct Layout {
  std::size_t q;          ///< position of q; k and v are the next two arguments
  bool heads_first;       ///< shape (B, H, N, d); otherwise (B, N, H, d)
  std::ptrdiff_t dropout; ///< position of the dropout probability; -1 = not recorded
  std::ptrdiff_t causal;  ///< position of the causal flag; -1 = never causal
  bool windows;           ///< the next two arguments are the extents of the sliding window
  bool flash;
  bool backward;      ///< the operator is a backward operator
  bool bytes_by_type; ///< bytes depend on the recorded type even in compat mode
  bool causal_default;
};

/// Which scores a mask keeps: each query attends to the key at its own position, to `left` keys
/// before it and `right` keys after it; negative = all keys. A causal mask excludes the keys after
/// it.
struct Mask {
  bool causal = false;
  std::int64_t left = -1, right = -1;
};

/// Returns the mask of a call with the causal flag. `window`: position of the two extents of the
/// sliding window, which the reference does not read.
Mask mask_of(const Call& call, bool causal, std::size_t window) {
  const auto left = call.args.integer(window);
  const auto right = call.args.integer(window + 1);
  if (call.compat || !left || !right || (*left < 0 && (causal || *right < 0)))
    return {causal};
  return {causal, *left, *right};
}

/// Returns the fraction of n queries x m keys that the mask keeps; nullopt if n and m differ,
/// because it is not recorded in which corner of the matrix the mask begins. A causal mask without
/// a window keeps half. With a window, each row without all its keys misses a triangle. Worked
/// example: causal, n = 4, left = 1: 1 + 2 + 2 + 2 of 16 scores.
std::optional<double> kept_scores(const Mask& mask, double n, double m) {
  const auto limits = [&](std::int64_t reach) {
    return reach >= 0 && static_cast<double>(reach) < std::max(n, m) - 1;
  };
  const bool left = limits(mask.left), right = !mask.causal && limits(mask.right);
  if (!mask.causal && !left && !right)
    return 1;
  if (n != m)
    return std::nullopt;
  if (!left && !right)
    return 0.5;
  const double before = left ? static_cast<double>(mask.left) : n - 1;
  const double after = mask.causal ? 0 : right ? static_cast<double>(mask.right) : n - 1;
  const auto triangle = [n](double reach) { return (n - 1 - reach) * (n - reach) / 2; };
  return 1 - (triangle(before) + triangle(after)) / (n * n);
}

/// The positions of the axes N, H and d in the shapes.
struct Axes {
  std::size_t n, h, d;
};
Params parameters(const Call& call, std::size_t q_at, const Axes& at, std::string batch,
                  double dropout, const Mask& mask, bool flash) {
  const Shape q = call.args.dims(q_at);
  const Shape k = call.args.dims(q_at + 1);
  Params out{{"B", std::move(batch)},
             {"N_Q", repr(q[at.n])},
             {"H_Q", repr(q[at.h])},
             {"N_KV", repr(k[at.n])},
             {"H_KV", repr(k[at.h])},
             {"d_h_qk", repr(q[at.d])},
             {"d_h_v", repr(call.args.dims(q_at + 2)[at.d])},
             {"dropout", python_float(dropout)},
             {"causal", repr(mask.causal)},
             {"flash_impl", repr(flash)},
             {"dtype_A_B", repr_types({call.args.type(q_at), call.args.type(q_at + 1)})}};
  if (mask.left >= 0 || mask.right >= 0)
    out.emplace_back("window_size", repr(Shape{mask.left, mask.right}));
  return out;
}

/// Forward flops: 2 B Hq Nq Nkv (dqk + dv) x kept_scores(); bytes: q + k + v + o.
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
  const auto b = static_cast<double>(q[0]);
  const auto hq = static_cast<double>(q[h]);
  const auto hkv = static_cast<double>(k[h]);
  const auto nq = static_cast<double>(q[n]);
  const auto nkv = static_cast<double>(k[n]);
  const auto dqk = static_cast<double>(q[3]);
  const auto dv = static_cast<double>(v[3]);
  const Mask mask = l.windows ? mask_of(call, causal, at(l.causal) + 1) : Mask{causal};
  const std::optional<double> kept = kept_scores(mask, nq, nkv);
  if (!kept)
    return std::nullopt;
  const double typed = type_bytes(call.args.type(l.q));
  const double bpe = call.compat && !l.bytes_by_type ? 2 : typed;
  const double eq = b * nq * hq * dqk;
  const double ek = b * nkv * hkv * dqk;
  const double ev = b * nkv * hkv * dv;
  const double eo = b * nq * hq * dv;
  PerfResult r;
  const double square = 2 * b * hq * nq * nkv;
  r.flops = square * (dqk + dv) * *kept;
  r.bytes = (eq + ek + ev + eo) * bpe;
  // if several query heads use the same K/V head, its gradients are summed over them
  const double shared = hkv > 0 ? std::floor(hq / hkv) - 1 : 0;
  r.flops_bwd = ((l.flash ? square * dqk : 0) + square * dv + b * nkv * dv * shared + square * dv +
                 square * dqk + square * dqk + b * nkv * dqk * shared) *
                *kept;
  r.bytes_bwd = (2 * eq + 2 * ek + 2 * ev + eo) * bpe;
  r.params = parameters(call, l.q, {n, h, 3}, repr(q[0]), dropout, mask, l.flash);
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
  std::size_t causal;  ///< position of the causal flag; the extents of the window follow it
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
  const Mask mask = mask_of(call, call.args.flag(l.causal), l.causal + 1);
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
    const std::optional<double> kept = kept_scores(mask, n, m);
    fits = fits && kept;
    const double square = 2 * hq * n * m;
    forward += times * square * (dqk + dv) * kept.value_or(0);
    backward += times * (square * (3 * dqk + 2 * dv) + m * (dv + dqk) * shared) * kept.value_or(0);
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
                        mask, true);
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
  r.params = parameters(call, 0, {2, 3, 4}, repr_count(b), 0, {}, true);
  r.compute_spec = compute_spec("matrix", call.args.type(0));
  return r;
}

constexpr VarlenLayout kVarlen{0, 3, 5, 9, false};
constexpr VarlenLayout kVarlenBwd{1, 9, 11, 15, true};
template <const VarlenLayout& L> std::optional<PerfResult> packed(const Call& c) {
  return varlen(c, L);
}

// position of q, heads first, dropout, causal, windows, flash, backward, bytes by type, causal
// default. "Reference": the positions that the reference reads, if they are not the operator's.
constexpr Layout kTorchFlash{0, true, 3, 4, false, true, false, false, false};
constexpr Layout kTorchOther{0, true, 5, 6, false, false, false, false, false};
constexpr Layout kFlashAttn{0, false, 3, 5, true, true, false, false, false};
constexpr Layout kFlashAttnBwd{1, false, 9, 11, true, true, true, true, true};
constexpr Layout kReferenceFlashAttnBwd{1, false, 8, 10, true, true, true, true, true};
constexpr Layout kAiterV3{1, false, 4, 6, true, true, false, false, false};
constexpr Layout kAiterBwd{1, false, 10, 12, true, true, true, false, false};
constexpr Layout kReferenceAiterBwd{0, false, 10, 12, true, true, true, false, false};
constexpr Layout kAiterMhaBwd{1, false, 6, 8, true, true, true, false, false};
constexpr Layout kAiterV3Bwd{2, false, 7, 9, true, true, true, false, false};
constexpr Layout kReferenceAiterV3Bwd{1, false, 7, 9, true, true, true, false, false};
constexpr Layout kFlash3{0, false, -1, 24, true, true, false, false, false};

template <const Layout& L, const Layout& Reference = L>
std::optional<PerfResult> attention_of(const Call& c) {
  return attention(c, c.compat ? Reference : L);
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
    {"flash_attention_backward", attention_of<kFlashAttnBwd, kReferenceFlashAttnBwd>},
    {"aiter__flash_attn_backward", attention_of<kAiterBwd, kReferenceAiterBwd>},
    {"aiter__mha_bwd", attention_of<kAiterMhaBwd>},
    {"aiter__fmha_v3_backward", attention_of<kAiterV3Bwd, kReferenceAiterV3Bwd>},
    {"flash_attention_varlen_forward", packed<kVarlen>},
    {"flash_attention_varlen_backward", packed<kVarlenBwd>},
    {"evoformer_attention", evoformer},
};

} // namespace

std::span<const Entry> attention_models() {
  return kAttentionModels;
}

} // namespace rankscope::op_model
