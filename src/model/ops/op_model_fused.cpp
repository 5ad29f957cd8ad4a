// Fused kernels of training and inference libraries: norm with residual, all-reduce or
// quantisation, gated activations, quantisation, rotary embedding with cache writes, cache moves,
// hyper-connections. Symbols: n = elements, c = channels (length of the weight), rows = n / c.
// Comments begin with the arguments of the operator; `..` means other arguments.
#include "model/ops/op_model_impl.h"

#include <cmath>

namespace rankscope::op_model {
namespace {

double extent(const Shape& s, std::size_t i) {
  return i < s.size() ? static_cast<double>(s[i]) : 0;
}
double size_or(const Call& c, std::size_t i, double fallback) {
  return type_bytes_or(c.args.type(i), fallback);
}
/// Returns the recorded number if it is positive, otherwise `fallback`.
double positive_or(const Call& c, std::size_t i, double fallback) {
  const auto v = c.args.integer(i);
  return v && *v > 0 ? static_cast<double>(*v) : fallback;
}

/// Returns the flops of an RMS norm with a weight: rows (2c + 2) + 2n.
double rms(double n, double channels) {
  return channels > 0 ? n / channels * (2 * channels + 2) + 2 * n : 0;
}

/// What a norm kernel does in addition to the norm, and the positions of its arguments.
struct FusedNorm {
  std::size_t x, weight;
  bool add = false;          ///< adds a residual: n flops more, and the residual is read and
                             ///< written
  int quant = 0;             ///< the output has 8 or 4 bits per element; 0 = the type of the input
  std::ptrdiff_t group = -1; ///< position of the number of elements per scale; -1 = one scale per
                             ///< row
  bool collective = false;   ///< `params` has the fields of the collectives below, not those of a
                             ///< norm
};

/// Worked example: aiter::rms_norm (4, 512) bf16: 4*1026 + 2*2048 = 8200 flops, 2*2048*2 + 512*2 =
/// 9216 bytes. With a residual, 2048 flops and 8192 bytes are added.
std::optional<PerfResult> norm(const Call& c, const FusedNorm& f) {
  const Shape x = c.args.dims(f.x);
  const Shape weight = c.args.dims(f.weight);
  if (x.empty() || weight.empty() || weight[0] <= 0)
    return std::nullopt;
  const std::string type = c.args.type(f.x);
  const double n = elements(x);
  const double channels = extent(weight, 0);
  const double rows = n / channels;
  const double in = type_bytes(type);
  PerfResult r;
  r.flops = rms(n, channels) + (f.add ? n : 0) + (f.quant > 0 ? 2 * n : 0);
  r.bytes = n * in + channels * in + (f.add ? 2 * n * in : 0);
  if (f.quant == 0) {
    r.bytes += n * in;
  } else if (f.quant == 4) { // one E8M0 scale for 32 values
    r.bytes += n / 2 + std::floor(n / 32);
  } else {
    const double group =
        f.group < 0 ? channels : positive_or(c, static_cast<std::size_t>(f.group), channels);
    r.bytes += n + rows * std::ceil(channels / group) * 4;
  }
  if (f.collective)
    r.params = {{"op_shape", repr(x)},
                {"dtype_in", python_quote(type)},
                {"stride_input", c.args.strides(f.x)},
                {"num_channels", repr(weight[0])}};
  else
    r.params = norm_params(x, type, c.args.strides(f.x), repr(weight[0]), false, true, false);
  r.compute_spec = compute_spec("vector", type);
  return r;
}

constexpr FusedNorm kRmsNorm{0, 1};                            // x, weight, eps
constexpr FusedNorm kRmsNormOut{1, 2};                         // out, x, weight, eps
constexpr FusedNorm kAddRmsNorm{1, 4, true};                   // out, x, residual in, out, weight
constexpr FusedNorm kRmsNormQuant{1, 3, false, 8};             // out, x, scales, weight
constexpr FusedNorm kRmsNormGroupQuant{0, 1, false, 8, 3};     // x, weight, eps, group
constexpr FusedNorm kAddRmsNormGroupQuant{0, 2, true, 8, 4};   // x, residual, weight, eps, group
constexpr FusedNorm kRmsNormQuantGroup{1, 3, false, 8, 5};     // out, x, scale, weight, eps, group
constexpr FusedNorm kReduceRmsNorm{2, 6, true, 0, -1, true};   // ptr, reg, x, residual, .., weight
constexpr FusedNorm kReduceRmsNormPy{0, 2, true, 0, -1, true}; // x, residual, weight
template <const FusedNorm& F> std::optional<PerfResult> fused_norm(const Call& c) {
  return norm(c, F);
}

/// x, weight, eps, residual, pad: each row of the output is padded to a multiple of `pad` elements.
std::optional<PerfResult> add_norm_pad(const Call& c) {
  static constexpr FusedNorm kNorm{0, 1, true};
  auto r = norm(c, kNorm);
  const auto pad = c.args.integer(4);
  if (!r || !pad)
    return std::nullopt;
  const double channels = extent(c.args.dims(1), 0);
  const double multiple = static_cast<double>(*pad);
  if (multiple > 0)
    r->bytes += elements(c.args.dims(0)) / channels *
                (std::ceil(channels / multiple) * multiple - channels) * type_bytes(c.args.type(0));
  return r;
}

/// x1, weight 1, eps, [x2, weight 2, eps, residual]: x1 is normalised and written as FP4, x2 is
/// only normalised.
std::optional<PerfResult> norm_mxfp4(const Call& c) {
  const bool residual = c.args.dims(6).size() == 2;
  static constexpr FusedNorm kPlain{0, 1, false, 4};
  static constexpr FusedNorm kAdd{0, 1, true, 4};
  auto r = norm(c, residual ? kAdd : kPlain);
  if (!r)
    return r;
  const Shape x2 = c.args.dims(3);
  if (x2.size() == 2) {
    const double rows = elements(c.args.dims(0)) / extent(c.args.dims(1), 0);
    const double n1 = elements(c.args.dims(0));
    const double n2 = rows * extent(x2, 1);
    const double in = type_bytes(c.args.type(0));
    r->flops += c.compat ? std::floor(rms(n1, extent(c.args.dims(1), 0)) * n2 / std::max(n1, 1.0))
                         : rms(n2, extent(x2, 1));
    r->bytes += 2 * n2 * in + extent(x2, 1) * in;
  }
  return r;
}

/// x (T, B, H), scale (B, H), shift (B, H): 12 flops per element. Mean and deviation of each row
/// are written as floats.
std::optional<PerfResult> ln_modulate(const Call& c, bool backward) {
  const Shape x = c.args.dims(0);
  if (x.size() != 3)
    return std::nullopt;
  const double n = elements(x);
  const double in = type_bytes(c.args.type(0));
  const double rows = extent(x, 0) * extent(x, 1);
  const double vectors = extent(x, 1) * extent(x, 2);
  PerfResult r;
  r.flops = (backward ? 15 : 12) * n;
  r.bytes = (backward ? 3 : 2) * (n + vectors) * in + 8 * rows; // backward: the gradients of scale
                                                                // and shift count too
  r.params = norm_params(x, c.args.type(0), c.args.strides(0), repr(x[2]), true, true, true);
  if (backward)
    r.params.emplace_back("output_mask", "[True, True, True]");
  r.compute_spec = compute_spec("vector", c.args.type(0));
  return r;
}

/// Collectives inside a kernel: 0 flops. The bytes are those that this GPU reads and writes in its
/// own memory.
std::optional<PerfResult> collective(const Call& c, std::size_t in, std::size_t out,
                                     std::size_t type_at) {
  const Shape x = c.args.dims(in);
  const Shape y = c.args.dims(out);
  if (x.empty())
    return std::nullopt;
  const std::string type = c.args.type(type_at);
  PerfResult r;
  r.flops = 0;
  r.bytes = (elements(x) + (y.empty() ? elements(x) : elements(y))) * type_bytes(type);
  r.params = {{"op_shape", repr(x)}, {"dtype_in", python_quote(type)}};
  if (!y.empty() && y != x)
    r.params.emplace_back("out_shape", repr(y));
  r.compute_spec = compute_spec("vector", type);
  return r;
}
std::optional<PerfResult> handle_in_out(const Call& c) { // arguments: handle, in, out
  return collective(c, 1, 2, 1);
}

/// out (.., N), input (.., 2N): activation of one half, multiplied by the other half. `flops`: per
/// output element. Worked example: out (4, 256) bf16, in (4, 512) bf16: SiLU 5*1024 flops, 3*1024*2
/// bytes.
std::optional<PerfResult> gated(const Call& c, double flops) {
  const Shape out = c.args.dims(0);
  if (out.empty())
    return std::nullopt;
  const double n = elements(out);
  return costs(flops * n, 2 * n * type_bytes(c.args.type(1)) + n * type_bytes(c.args.type(0)),
               io_params(out, c.args.type(1), c.args.type(0), c.args.strides(1), c.args.strides(0)),
               compute_spec("vector", c.args.type(1)));
}

/// out, input, scales: each is read or written once. The value of 2.59375 flops per element was
/// measured with hardware counters.
std::optional<PerfResult> group_quant(const Call& c) {
  const Shape out = c.args.dims(0);
  if (out.empty() || c.args.dims(1).empty())
    return std::nullopt;
  return costs(2.59375 * elements(out),
               tensor_bytes(c, 0) + tensor_bytes(c, 1) + tensor_bytes(c, 2),
               {{"shape_in1", repr(c.args.dims(1))},
                {"shape_in2", repr(c.args.dims(2))},
                {"shape_out", repr(out)},
                {"dtype_in1_in2_out", repr_types({c.args.type(1), c.args.type(2), c.args.type(0)})},
                {"stride_input1", c.args.strides(1)},
                {"stride_input2", c.args.strides(2)},
                {"stride_output", c.args.strides(0)}},
               compute_spec("vector", c.args.type(1)));
}

/// x (M, N), group: 6 flops per element. x is read; one byte (FP8) per element and one float per
/// group are written.
std::optional<PerfResult> token_group_quant(const Call& c) {
  const Shape x = c.args.dims(0);
  if (x.empty())
    return std::nullopt;
  const double columns = x.size() >= 2 ? extent(x, 1) : extent(x, 0);
  const double rows = x.size() >= 2 ? extent(x, 0) : 1;
  const double group = positive_or(c, 1, 128);
  const double groups = std::max(1.0, std::ceil(columns / group));
  return costs(6 * rows * columns,
               rows * columns * (type_bytes(c.args.type(0)) + 1) + rows * groups * 4,
               {{"M", repr_count(rows)},
                {"N", repr_count(columns)},
                {"group_size", repr_count(group)},
                {"num_groups", repr_count(groups)},
                {"shape_x", repr(x)},
                {"dtype_x", python_quote(c.args.type(0))}},
               compute_spec("vector", c.args.type(0)));
}

/// Converts the activation at argument `at` to FP4 (two values per byte), with one E8M0 scale per
/// 32 values: 2 flops per element.
std::optional<PerfResult> mxfp4_quant(const Call& c, std::size_t at) {
  const Shape x = c.args.dims(at);
  if (x.empty())
    return std::nullopt;
  const double n = elements(x);
  const std::string type = c.args.type(at);
  return costs(2 * n, n * type_bytes(type) + n / 2 + std::floor(n / 32),
               io_params(x, type, type, c.args.strides(at)), compute_spec("vector", type));
}
template <std::size_t At> std::optional<PerfResult> mxfp4_at(const Call& c) {
  return mxfp4_quant(c, At);
}

/// FP8 with one scale per tensor: one flop per element, 16 bits are read, one byte is written.
std::optional<PerfResult> quantize_fp8(const Call& c) {
  const Shape x = c.args.dims(0);
  if (x.empty())
    return std::nullopt;
  return costs(elements(x), elements(x) * (type_bytes(c.args.type(0)) + 1),
               io_params(x, c.args.type(0), "c10::Float8_e4m3fnuz", c.args.strides(0)),
               compute_spec("vector", c.args.type(0)));
}

/// Quantises along rows and along columns: two FP4 copies with their scales are written.
std::optional<PerfResult> quantize_mxfp4_dual(const Call& c) {
  const Shape x = c.args.dims(0);
  if (x.size() != 2)
    return std::nullopt;
  const double m = extent(x, 0);
  const double n = extent(x, 1);
  return costs(m * n,
               m * n * type_bytes(c.args.type(0)) + 2 * std::floor((m * n + 1) / 2) +
                   m * std::ceil(n / 32) + n * std::ceil(m / 32),
               io_params(x, c.args.type(0), "c10::Float4_e2m1fn_x2", c.args.strides(0)),
               compute_spec("vector", c.args.type(0)));
}

PerfResult rotation(double n, double bpe, const std::string& type) {
  return costs(3 * n, 2 * n * bpe, {{"num_elements", repr_count(n)}}, compute_spec("vector", type));
}

/// Two outputs, then inputs x and y: both inputs are rotated.
std::optional<PerfResult> rope_two_channels(const Call& c) {
  const Shape x = c.args.dims(2);
  const Shape y = c.args.dims(3);
  if (x.empty() || y.empty())
    return std::nullopt;
  const std::size_t at = c.compat ? 0 : 2;
  PerfResult r = rotation(elements(x) + elements(y), size_or(c, at, 2), c.args.type(at));
  r.params.insert(r.params.begin(), {{"x_shape", repr(x)}, {"y_shape", repr(y)}});
  return r;
}

/// positions, q (T, heads x d), k, head size, cos/sin cache (.., rotated part of a head).
std::optional<PerfResult> rotary(const Call& c) {
  const Shape q = c.args.dims(1);
  const Shape k = c.args.dims(2);
  if (q.size() < 2 || k.size() < 2)
    return std::nullopt;
  const double head = positive_or(c, 3, static_cast<double>(q.back()));
  const Shape cache = c.args.dims(4);
  const double turned = cache.size() > 1 ? extent(cache, 1) : head;
  if (!(head > 0))
    return std::nullopt;
  const double heads = std::floor(extent(q, 1) / head) + std::floor(extent(k, 1) / head);
  return rotation(extent(q, 0) * heads * turned, size_or(c, 1, 2), c.args.type(1));
}

/// Latent attention: q (T, H, lora) and its part (T, H, pe) are rotated and concatenated; the rows
/// of K too, and they are written into the cache. 3 flops per rotated element. Q and K are read; Q
/// and T rows of the cache are written.
std::optional<PerfResult> rope_and_cache(const Call& c, bool latent) {
  const Shape q = c.args.dims(0);
  const Shape pe = c.args.dims(1);
  const Shape k = c.args.dims(2);
  if (q.size() != 3 || pe.size() != 3 || (!latent && k.size() < 2))
    return std::nullopt;
  const double t = extent(q, 0);
  const double qh = extent(q, 1);
  const double kh = latent ? 1 : extent(k, 1);
  const double d = extent(q, 2) + extent(pe, 2);
  const double in = type_bytes(c.args.type(0));
  const double cache = size_or(c, 4, in);
  const double out = latent ? size_or(c, 5, in) : in;
  PerfResult r;
  r.flops = 3 * t * (qh + kh) * extent(pe, 2);
  r.bytes = t * (qh + kh) * d * in + t * qh * d * out + t * kh * d * cache;
  r.params = {{"T", repr(q[0])},
              {"QH", repr(q[1])},
              {"KH", repr_count(kh)},
              {"D_lora", repr(q[2])},
              {"D_pe", repr(pe[2])},
              {"dtype_in", python_quote(c.args.type(0))},
              {"dtype_kv", python_quote(c.args.type(4).empty() ? c.args.type(0) : c.args.type(4))}};
  if (latent)
    r.params.emplace_back("dtype_out",
                          python_quote(c.args.type(5).empty() ? c.args.type(0) : c.args.type(5)));
  r.compute_spec = compute_spec("vector", c.args.type(0));
  return r;
}

/// k, v, caches: k and v are read, and rows of the same size are written into the caches.
std::optional<PerfResult> store_cache(const Call& c) {
  const Shape k = c.args.dims(0);
  if (k.empty())
    return std::nullopt;
  return costs(0, 4 * elements(k) * size_or(c, 0, 2),
               {{"op_shape", repr(k)},
                {"nelems", repr_count(elements(k))},
                {"dtype", python_quote(c.args.type(0))}},
               compute_spec("vector", c.args.type(0)));
}

/// ids, logits (T, V), noise: an argmax over logits / noise, 2 flops per element.
std::optional<PerfResult> sample(const Call& c) {
  const Shape logits = c.args.dims(1);
  if (logits.empty())
    return std::nullopt;
  const double t = extent(logits, 0);
  const double v = logits.size() > 1 ? extent(logits, 1) : 1;
  return costs(2 * t * v, t * v * (type_bytes(c.args.type(1)) + type_bytes(c.args.type(2))) + 4 * t,
               {{"T", repr_count(t)},
                {"V", repr_count(v)},
                {"dtype_logits", python_quote(c.args.type(1))},
                {"dtype_noise", python_quote(c.args.type(2))}},
               compute_spec("vector", c.args.type(1)));
}

/// Hyper-connections: M tokens with n streams of C elements each. The projection has h = n^2 + 2n
/// rows. Partial sums are floats.
struct Streams {
  double m = 0, n = 0, c = 0, h = 0, k = 0, split = 0;
  std::string type;
};

PerfResult streams(const Streams& s, double flops, double values, double floats, bool matrix) {
  PerfResult r;
  r.flops = flops;
  r.bytes = values * type_bytes(s.type) + 4 * floats;
  r.params = {{"M", repr_count(s.m)}, {"n", repr_count(s.n)}, {"C", repr_count(s.c)}};
  r.params.emplace_back("hc3", s.h > 0 ? repr_count(s.h) : "None");
  if (s.k > 0)
    r.params.emplace_back("K", repr_count(s.k));
  if (s.split > 0)
    r.params.emplace_back("split_k", repr_count(s.split));
  r.params.emplace_back("dtype_in", python_quote(s.type));
  r.compute_spec = compute_spec(matrix ? "matrix" : "vector", s.type);
  return r;
}
double mixes(const Streams& s) {
  return s.m * s.n + s.m * s.n * s.n;
}

/// out (M, n, C), x (M, C), residual, mixes. Flops: 2 M n C (n + 1).
std::optional<PerfResult> mhc_post(const Call& c) {
  const Shape out = c.args.dims(0);
  const Shape x = c.args.dims(1);
  if (out.size() < 2 || x.size() != 2)
    return std::nullopt;
  const Streams s{extent(x, 0), extent(out, 1), extent(x, 1), 0, 0, 0, c.args.type(1)};
  return streams(s, 2 * s.m * s.n * s.c * (s.n + 1), s.m * s.c + 2 * s.m * s.n * s.c, mixes(s),
                 false);
}

/// out (split, M, h), squares (split, M), x (M, n, C), projection (h, K). Flops: 2 M h K.
std::optional<PerfResult> mhc_pre(const Call& c) {
  const Shape out = c.args.dims(0);
  const Shape x = c.args.dims(2);
  const Shape w = c.args.dims(3);
  if (out.empty() || x.size() != 3 || w.size() != 2)
    return std::nullopt;
  const Streams s{extent(x, 0), extent(x, 1),   extent(x, 2),  extent(w, 0),
                  extent(w, 1), extent(out, 0), c.args.type(2)};
  return streams(s, 2 * s.m * s.h * s.k, s.m * s.n * s.c, s.h * s.k + s.split * s.m * (s.h + 1),
                 true);
}

/// post mix (M, n, 1), mix, out (M, C), partials (split, M, h), .., base (h), residual. Flops: 2MCn
/// + 5MC.
std::optional<PerfResult> mhc_fuse(const Call& c) {
  const Shape mix = c.args.dims(0);
  const Shape out = c.args.dims(2);
  const Shape partial = c.args.dims(3);
  const Shape base = c.args.dims(6);
  if (mix.size() < 2 || out.size() != 2 || partial.empty() || base.empty())
    return std::nullopt;
  const Streams s{extent(out, 0),     extent(mix, 1), extent(out, 1), extent(base, 0), 0,
                  extent(partial, 0), c.args.type(7)};
  return streams(s, 2 * s.m * s.c * s.n + 5 * s.m * s.c, s.m * s.n * s.c + s.c + s.m * s.c,
                 s.split * s.m * s.h + mixes(s), false);
}

/// mhc_post and mhc_pre in one kernel: partials, squares, next residual (M, n, C), x (M, C), ..,
/// projection (argument 7).
std::optional<PerfResult> mhc_post_pre(const Call& c) {
  const Shape partial = c.args.dims(0);
  const Shape next = c.args.dims(2);
  const Shape x = c.args.dims(3);
  const Shape w = c.args.dims(7);
  if (partial.empty() || next.size() < 2 || x.size() != 2 || w.size() != 2)
    return std::nullopt;
  const Streams s{extent(x, 0), extent(next, 1),    extent(x, 1),  extent(w, 0),
                  extent(w, 1), extent(partial, 0), c.args.type(3)};
  return streams(s, 2 * s.m * s.n * s.c * (s.n + 1) + 2 * s.m * s.h * s.k,
                 s.m * s.c + 3 * s.m * s.n * s.c, mixes(s) + s.h * s.k + s.split * s.m * (s.h + 1),
                 true);
}

constexpr Entry kFusedModels[] = {
    {"aiter_rms_norm", fused_norm<kRmsNorm>},
    {"aiter_rmsnorm", fused_norm<kRmsNormOut>},
    {"aiter_rmsnorm2d_fwd_with_add_ck", fused_norm<kAddRmsNorm>},
    {"aiter_rmsnorm2d_fwd_with_dynamicquant_ck", fused_norm<kRmsNormQuant>},
    {"aiter_rmsnorm_quant", fused_norm<kRmsNormQuantGroup>},
    {"vllm_rocm_aiter_rmsnorm_fp8_group_quant", fused_norm<kRmsNormGroupQuant>},
    {"vllm_rocm_aiter_rmsnorm_with_add_fp8_group_quant", fused_norm<kAddRmsNormGroupQuant>},
    {"vllm_rocm_aiter_triton_add_rmsnorm_pad", add_norm_pad},
    {"fused_rms_mxfp4_quant", norm_mxfp4},
    {"aiter_fused_allreduce_rmsnorm", fused_norm<kReduceRmsNorm>},
    {"aiter_fused_allreduce_rmsnorm_", fused_norm<kReduceRmsNormPy>},
    {"FusedLnModulate", [](const Call& c) { return ln_modulate(c, false); }},
    {"FusedLnModulateBackward", [](const Call& c) { return ln_modulate(c, true); }},
    {"custom_ar_all_reduce", handle_in_out},
    {"custom_ar_qr_all_reduce", handle_in_out},
    {"sgl_kernel_all_reduce_reg", handle_in_out},
    {"sgl_kernel_qr_all_reduce", handle_in_out},
    {"aiter_reduce_scatter", handle_in_out},
    {"aiter_all_gather_reg", handle_in_out},
    {"sgl_kernel_reg_all_gather_into_tensor", [](const Call& c) { return collective(c, 1, 0, 0); }},
    {"aiter_silu_and_mul", [](const Call& c) { return gated(c, 5); }},
    {"sgl_kernel_silu_and_mul", [](const Call& c) { return gated(c, 5); }},
    {"aiter_gelu_and_mul", [](const Call& c) { return gated(c, 8); }},
    {"aiter_gelu_tanh_and_mul", [](const Call& c) { return gated(c, 10); }},
    {"per_group_quant", group_quant},
    {"vllm_triton_per_token_group_quant_fp8", token_group_quant},
    {"fused_flatten_mxfp4_quant", mxfp4_at<0>},
    {"sglang_quant_dynamic_mxfp4_quant", mxfp4_at<0>},
    {"aiter_dynamic_per_group_scaled_quant_fp4", mxfp4_at<1>},
    {"fused_dynamic_mx_quant_moe_sort_hip", mxfp4_at<2>},
    {"aiter_fused_dynamic_mxfp4_quant_moe_sort_hip", mxfp4_at<2>},
    {"primus_turbo_quantize_fp8", quantize_fp8},
    {"primus_turbo_quantize_mxfp4_dual", quantize_mxfp4_dual},
    {"aiter_rope_cached_positions_2c_fwd_impl", rope_two_channels},
    {"sgl_kernel_rotary_embedding", rotary},
    {"aiter_fused_qk_rope_cat_and_cache_mla",
     [](const Call& c) { return rope_and_cache(c, false); }},
    {"fused_qk_rope_concat_and_cache_mla", [](const Call& c) { return rope_and_cache(c, true); }},
    {"sglang_store_cache", store_cache},
    {"mixed_sample_outer_exponential", sample},
    {"mhc_post", mhc_post},
    {"mhc_pre_gemm_sqrsum", mhc_pre},
    {"mhc_pre_big_fuse_rmsnorm", mhc_fuse},
    {"mhc_fused_post_pre_gemm_sqrsum", mhc_post_pre},
};

} // namespace

std::span<const Entry> fused_models() {
  return kFusedModels;
}

} // namespace rankscope::op_model
