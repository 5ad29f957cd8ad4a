// Attention of inference servers: one call computes chunked prefill and decode of many requests.
// The annotation of the step that contains the call has the lengths (model/step_annotation.h). If
// there is no annotation or it lacks sums, FLOPs and bytes are blank.
#include "base/number_text.h"
#include "model/ops/op_model_impl.h"
#include "model/step_annotation.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace rankscope::op_model {
namespace {

struct Attention {
  std::int64_t n_q = 0, h_q = 0, h_kv = 0, d_qk = 0, d_v = 0;
  double n_kv = 0;
  std::string type_q, type_kv;
  double window = 0; ///< maximum number of keys that a decoded token attends to; 0 = all
};

/// Returns the cost of attention (names of sums: StepSums). Flops: Hq (dqk + dv) (2 c_sqsk - c_sqsq
/// + 2 g_sqsk). This counts all keys of the context, but because of the causal mask only half of
/// the square of the chunk itself. Bytes: Q, output, and the K and V of the chunk in the type of Q;
/// the other K and V in the type of the cache. With a window W, each token attends to at most W
/// keys. So the numbers of pairs c_sqsk - c_sqsq / 2 and g_sqsk are limited to c_sq W and g_sq W,
/// which is exact if all contexts are at least that long. Worked example: decode of 64 requests
/// with 2048 keys each, Hq 8, Hkv 1, d 128 bf16: 2*8*256*131072 flops; (64*(8+8+1+1)*128 +
/// (131072-64)*2*128) * 2 bytes.
PerfResult cost(const Attention& a, const StepSums& s) {
  const auto hq = static_cast<double>(a.h_q);
  const auto hkv = static_cast<double>(a.h_kv);
  const auto dqk = static_cast<double>(a.d_qk);
  const auto dv = static_cast<double>(a.d_v);
  const auto capped = [&](double v) {
    return a.window > 0 && s.g_sq > 0 ? std::min(v, s.g_sq * a.window) : v;
  };
  const auto capped_context = [&](double v) {
    return a.window > 0 ? std::min(v, s.c_sq * a.window) : v;
  };
  const bool known = s.detailed && s.c_sq + s.g_sq > 0;
  PerfResult r;
  if (known)
    r.flops = hq * (dqk + dv) * 2 * (capped_context(s.c_sqsk - s.c_sqsq / 2) + capped(s.g_sqsk));
  if (known || s.kv_unknown) {
    const double q = type_bytes_or(a.type_q, 2);
    const double fresh = (s.c_sq + s.g_sq) * (hq + hkv) * (dqk + dv) * q;
    const double cached =
        (capped_context(s.c_sk - s.c_sq) + capped(s.g_sk) - s.g_sq) * hkv * (dqk + dv);
    r.bytes = fresh + std::max(0.0, cached) * type_bytes_or(a.type_kv, q);
  }
  r.params = {{"B", "1"},
              {"N_Q", repr(a.n_q)},
              {"H_Q", repr(a.h_q)},
              {"H_V", repr(a.h_kv)},
              {"H_K", repr(a.h_kv)},
              {"N_KV", repr_count(a.n_kv)},
              {"H_KV", repr(a.h_kv)},
              {"d_h_qk", repr(a.d_qk)},
              {"d_h_v", repr(a.d_v)},
              {"dropout", python_float(0)},
              {"causal", repr(false)},
              {"flash_impl", repr(true)},
              {"c_sq", repr_count(s.c_sq)},
              {"c_sk", repr_count(s.c_sk)},
              {"c_sqsq", repr_count(s.c_sqsq)},
              {"c_sqsk", repr_count(s.c_sqsk)},
              {"g_sq", repr_count(s.g_sq)},
              {"g_sk", repr_count(s.g_sk)},
              {"g_sqsq", repr_count(s.g_sqsq)},
              {"g_sqsk", repr_count(s.g_sqsk)},
              {"dtype_Q", python_quote(a.type_q)},
              {"dtype_KV", python_quote(a.type_kv)}};
  if (a.window > 0)
    r.params.emplace_back("sliding_window", repr_count(a.window));
  r.compute_spec = compute_spec("matrix", a.type_q);
  return r;
}

std::optional<StepSums> step_of(const Call& c) {
  return parse_step_annotation(c.hints.annotation, !c.compat);
}

/// q (N, H, d) and k (..., H, d) are arguments q_at and k_at; v is argument v_at if its head size
/// may differ.
std::optional<PerfResult> unified(const Call& c, std::size_t q_at, std::size_t k_at,
                                  std::ptrdiff_t v_at, std::int64_t d_v = 0) {
  const Shape q = c.args.dims(q_at);
  const Shape k = c.args.dims(k_at);
  const auto step = step_of(c);
  // outside an annotated step, the reference has no row for vLLM's attention
  if (q.size() != 3 || k.size() < 3 ||
      (!step && c.compat && c.op.name == "vllm::unified_attention_with_output"))
    return std::nullopt;
  Attention a;
  a.n_q = q[0];
  a.h_q = q[1];
  a.d_qk = q[2];
  a.n_kv = static_cast<double>(k[k.size() - 3]);
  a.h_kv = k[k.size() - 2];
  a.d_v = d_v > 0 ? d_v : k.back();
  if (v_at >= 0)
    if (const Shape v = c.args.dims(static_cast<std::size_t>(v_at)); !v.empty())
      a.d_v = v.back();
  a.type_q = c.args.type(q_at);
  a.type_kv = c.args.type(k_at).empty() ? a.type_q : c.args.type(k_at);
  a.window = static_cast<double>(std::max<std::int64_t>(0, c.hints.window));
  return cost(a, step.value_or(StepSums{}));
}
std::optional<PerfResult> from_k(const Call& c) {
  return unified(c, 0, 1, -1);
}
std::optional<PerfResult> from_v(const Call& c) {
  return unified(c, 0, 1, 2);
}

/// q, K cache and V cache (pages, page, H, d) are arguments 2 to 4. The reference does not use the
/// type of the caches.
std::optional<PerfResult> ragged(const Call& c) {
  const Shape q = c.args.dims(2);
  const Shape k = c.args.dims(3);
  const Shape v = c.args.dims(4);
  const auto step = step_of(c);
  if (q.size() != 3 || k.size() < 2 || v.empty())
    return std::nullopt;
  const StepSums s = step.value_or(StepSums{});
  Attention a;
  a.n_q = q[0];
  a.h_q = q[1];
  a.d_qk = q[2];
  a.h_kv = k[k.size() - 2];
  a.d_v = v.back();
  a.n_kv = s.c_sk + s.g_sk;
  a.type_q = c.args.type(2);
  a.type_kv = c.compat ? a.type_q : c.args.type(3);
  PerfResult r = cost(a, s);
  if (c.compat)
    r.params.pop_back(); // removes dtype_KV
  return r;
}

/// Latent attention: K and V are the same vectors; V consists of the first d_v elements (argument
/// 4, else 512). The reference always uses 512.
std::optional<PerfResult> tilelang_sparse(const Call& c) {
  const auto recorded = c.args.integer(4);
  return unified(c, 0, 1, -1, !c.compat && recorded && *recorded > 0 ? *recorded : 512);
}

/// Paged decode: the context sums are set to 0, because another kernel computes prefill. Argument
/// 19 is the sliding window.
std::optional<PerfResult> paged_decode(const Call& c) {
  const Shape q = c.args.dims(0);
  const Shape k = c.args.dims(2);
  if (q.size() < 3 || k.size() < 2)
    return std::nullopt;
  StepSums s = step_of(c).value_or(StepSums{});
  s.c_sq = s.c_sk = s.c_sqsq = s.c_sqsk = 0;
  Attention a;
  a.n_q = q[0];
  a.h_q = q[1];
  a.d_qk = a.d_v = q[2];
  a.h_kv = k[1];
  a.n_kv = s.g_sk;
  a.type_q = c.args.type(0);
  a.type_kv = c.args.type(2).empty() ? a.type_q : c.args.type(2);
  a.window = std::max(0.0, static_cast<double>(c.args.integer(19).value_or(0)));
  return cost(a, s);
}

/// Reads the number of heads and their size from "qk_norm_rope_H32_D512_RD64...".
bool heads_of(std::string_view kernel, std::int64_t& heads, std::int64_t& d) {
  const auto after = [&kernel](std::string_view mark, std::int64_t& out) {
    const std::size_t at = kernel.find(mark);
    if (at == std::string_view::npos)
      return false;
    const char* const last = kernel.data() + kernel.size();
    const auto [end, error] = std::from_chars(kernel.data() + at + mark.size(), last, out);
    return error == std::errc() && out > 0 && out <= 1 << 20;
  };
  return after("qk_norm_rope_H", heads) && after("_D", d);
}

/// Paged decode of a model with three kinds of layers. Their tokens attend to a window of 128 keys
/// (swa), to the window and the top-k of groups of 4 keys (csa), or to the window and all groups of
/// 128 keys (hca). With mean = g_sk / g_sq, the numbers of keys are 128, 128 + min(ceil(mean / 4),
/// top-k) and 128 + ceil(mean / 128). There is one KV head in bf16; top-k is 512, or 1024 from 128
/// heads on. Example: mean 4096 gives 128, 640 and 160.
std::optional<PerfResult> v4_decode(const Call& c) {
  constexpr double kWindow = 128;
  constexpr std::int64_t kManyHeads = 128;
  StepSums s = step_of(c).value_or(StepSums{});
  s.c_sq = s.c_sk = s.c_sqsq = s.c_sqsk = 0;
  Attention a;
  if (!heads_of(c.hints.kernel, a.h_q, a.d_qk))
    return std::nullopt;
  a.d_v = a.d_qk;
  a.h_kv = 1;
  const Shape q = c.args.dims(0);
  a.n_q = q.empty() ? static_cast<std::int64_t>(std::min(s.g_sq, 9e18)) : q[0];
  a.n_kv = s.g_sk;
  a.type_q = a.type_kv = "c10::BFloat16";
  const double mean = s.g_sq > 0 ? s.g_sk / s.g_sq : 0;
  const std::int64_t topk = c.hints.topk > 0 ? c.hints.topk : a.h_q < kManyHeads ? 512 : 1024;
  a.window = kWindow;
  if (c.op.name.ends_with("_csa"))
    a.window += std::min(std::ceil(mean / 4), static_cast<double>(topk));
  else if (c.op.name.ends_with("_hca"))
    a.window += std::ceil(mean / 128);
  return cost(a, s);
}

/// Sparse prefill over selected keys: the index lists (arguments 2 and 5) have one entry for each
/// pair of query and key. Flops: pairs Hq 2 (d + d). Bytes: Q + output + pairs d. No annotation is
/// needed.
std::optional<PerfResult> sparse_prefill(const Call& c) {
  const Shape q = c.args.dims(0);
  const Shape prefix = c.args.dims(2);
  const Shape extend = c.args.dims(5);
  if (q.size() != 3 || prefix.size() != 1 || extend.size() != 1)
    return std::nullopt;
  const double pairs = static_cast<double>(prefix[0]) + static_cast<double>(extend[0]);
  const auto hq = static_cast<double>(q[1]);
  const auto d = static_cast<double>(q[2]);
  const double bpe = type_bytes(c.args.type(0));
  return costs(pairs * hq * 4 * d,
               2 * elements(q) * bpe + pairs * d * type_bytes_or(c.args.type(1), bpe),
               {{"B", "1"},
                {"N_Q", repr(q[0])},
                {"H_Q", repr(q[1])},
                {"N_KV", repr_count(pairs)},
                {"H_KV", "1"},
                {"d_h_qk", repr(q[2])},
                {"d_h_v", repr(q[2])},
                {"prefill_pairs", repr_count(pairs)},
                {"dtype_Q", python_quote(c.args.type(0))},
                {"dtype_KV", python_quote(c.args.type(1))}},
               compute_spec("matrix", c.args.type(0)));
}

/// Gated delta rule: each value head has a d_v x d_k state. Each token scales the state (1 flop per
/// element), reads it (2), updates it (2) and multiplies it by the query (2). Arguments: mixed qkv
/// (T, 2 H_K d_k + H_V d_v), b (T, H_V), a, output (T, H_V, d_v); H_V = 2 H_K.
std::optional<PerfResult> gated_delta(const Call& c) {
  const Shape qkv = c.args.dims(0);
  const Shape b = c.args.dims(1);
  const Shape out = c.args.dims(3);
  const auto step = step_of(c);
  if (qkv.size() != 2 || b.size() != 2 || out.size() != 3)
    return std::nullopt;
  const auto hv = static_cast<double>(b[1]);
  const auto dv = static_cast<double>(out[2]);
  const double hk = std::floor(hv / 2);
  const double dk = hk > 0 ? std::floor((static_cast<double>(qkv[1]) - hv * dv) / 2 / hk) : 0;
  if (!(dk > 0))
    return std::nullopt;
  const double bpe = type_bytes(c.args.type(0));
  // use the tokens of the step, because the recorded rows may include padding for a graph
  const double tokens = step && step->c_sq + step->g_sq > 0 ? step->c_sq + step->g_sq
                        : c.compat                          ? 0
                                                            : kUnknown;
  return costs(tokens > 0 ? tokens * hv * 7 * dv * dk : kUnknown,
               tokens > 0 ? tokens * hv * (dk + 2 * dv + 2) * (c.compat ? 2 : bpe) : kUnknown,
               {{"B", "1"},
                {"N_Q", std::isnan(tokens) ? "None" : repr_count(tokens)},
                {"H_Q", repr_count(hk)},
                {"H_V", repr(b[1])},
                {"H_K", repr_count(hk)},
                {"d_h_qk", repr_count(dk)},
                {"d_h_v", repr(out[2])},
                {"dtype_Q", python_quote(c.args.type(0))}},
               compute_spec("matrix", c.args.type(0)));
}

constexpr Entry kInferenceModels[] = {
    {"vllm_unified_attention_with_output", from_k, kNeedsAnnotation},
    {"mha_varlen_fwd", from_k, kNeedsAnnotation},
    {"mla_decode_fwd", from_k, kNeedsAnnotation},
    {"aiter_fmha_v3_varlen_fwd", from_v, kNeedsAnnotation},
    {"aiter_mha_batch_prefill", from_v, kNeedsAnnotation},
    {"pseudo_mla_prefill_fwd", from_v, kNeedsAnnotation},
    {"aiter_paged_attention_ragged", ragged, kNeedsAnnotation},
    {"mla_tilelang_sparse_fwd", tilelang_sparse, kNeedsAnnotation},
    {"pa_decode_gluon", paged_decode, kNeedsAnnotation},
    {"pseudo_v4_paged_decode_swa", v4_decode, kNeedsAnnotation | kNeedsLayer},
    {"pseudo_v4_paged_decode_csa", v4_decode, kNeedsAnnotation | kNeedsLayer},
    {"pseudo_v4_paged_decode_hca", v4_decode, kNeedsAnnotation | kNeedsLayer},
    {"pa_sparse_prefill_opus_fwd", sparse_prefill},
    {"gdn_attention_core", gated_delta, kNeedsAnnotation},
};

} // namespace

std::span<const Entry> inference_attention_models() {
  return kInferenceModels;
}

} // namespace rankscope::op_model
