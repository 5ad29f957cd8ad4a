// Normalisations (docs/performance-models.md). Symbols: n = elements, c = channels, in = bytes per
// element.
#include "base/number_text.h"
#include "model/ops/op_model_impl.h"

namespace rankscope::op_model {
namespace {

struct Norm {
  std::size_t x = 0; ///< position of the input
  double channels = 0;
  bool has_bias = true, affine = true, training = true;
  bool rms = false;
  bool backward = false;
  std::vector<bool> mask{true};
  std::string mask_text;
  std::string channels_text; ///< text for the number of channels; "" = the number itself
};

double fwd_flops(const Norm& m, double n) {
  if (m.rms)
    return n / m.channels * (2 * m.channels + 2) + n * (m.affine ? 2 : 1);
  return 6 * m.channels + 2 * n + (m.training ? 3 * n : 0);
}

double fwd_bytes(const Norm& m, double n, double in) {
  if (m.rms)
    return 2 * n * in + (m.affine ? m.channels * in : 0);
  const double k = 2 + (m.affine ? 1 : 0) + (m.affine && m.has_bias ? 1 : 0) + (m.training ? 2 : 0);
  return 2 * n * in + k * m.channels * in;
}

/// Returns c*f with f = (training ? 0 : 3) + 4n/c + (mask[0] ? (training ? 5n/c : 0) : 2n/c).
double bwd_flops(const Norm& m, double n) {
  const double per = n / m.channels;
  const double dx = m.mask[0] ? (m.training ? 5 * per : 0) : 2 * per;
  return m.channels * ((m.training ? 0 : 3) + 4 * per + dx);
}

double bwd_bytes(const Norm& m, double n, double in) {
  double bytes = n * in + n * in * (m.mask[0] && m.training ? 2 : 1);
  if (m.training)
    bytes += m.channels * in;
  if (m.affine)
    bytes += m.channels * in + (m.training ? m.channels * in * (m.has_bias ? 2 : 1) : 0);
  return bytes;
}

/// Returns the flops of the backward pass of an RMS norm. x_hat and the product with the weight
/// need n flops each. The gradient of the input needs a dot product (2n) and 4n. The gradient of
/// the weight needs n, and n more to sum over the rows. Worked example: (4, 8) with weight: 32 (2 +
/// 6 + 2) = 320 flops.
double rms_bwd_flops(const Norm& m, double n) {
  const bool weight = m.affine && (m.mask.size() < 2 || m.mask[1]);
  return n *
         ((m.affine ? 2 : 1) + (m.mask[0] ? 6 : 0) + (weight ? (n / m.channels > 1 ? 2 : 1) : 0));
}

/// Worked example: batch_norm (10, 64, 56, 56) bf16: n = 2007040, 6*64 + 5n = 10035584 flops,
/// 4n + 6*64*2 = 8028928 bytes; its backward 9n = 18063360 flops.
std::optional<PerfResult> cost(const Call& c, const Norm& m) {
  const Shape shape = c.args.dims(m.x);
  const std::string type = c.args.type(m.x);
  if (shape.empty() || !(m.channels > 0))
    return std::nullopt;
  const double n = elements(shape);
  const double in = type_bytes(type);
  PerfResult r;
  if (m.backward) {
    r.flops = m.rms ? rms_bwd_flops(m, n) : bwd_flops(m, n);
    r.bytes = m.rms ? 3 * n * in + (m.affine ? 2 * m.channels * in : 0) : bwd_bytes(m, n, in);
  } else {
    r.flops = fwd_flops(m, n);
    r.bytes = fwd_bytes(m, n, in);
    if (!m.rms) {
      r.flops_bwd = bwd_flops(m, n);
      r.bytes_bwd = bwd_bytes(m, n, in);
    }
  }
  r.params = norm_params(shape, type, c.args.strides(m.x),
                         m.channels_text.empty() ? repr_count(m.channels) : m.channels_text,
                         m.has_bias, m.affine, m.training);
  if (m.backward)
    r.params.emplace_back("output_mask", m.mask_text.empty() ? "[True]" : m.mask_text);
  r.compute_spec = compute_spec("vector", type);
  return r;
}

/// Returns whether a tensor argument is not None. The reference assumes this for every recorded
/// position.
bool present(const Call& c, std::size_t i) {
  return c.compat ? c.args.count() > i : !c.args.dims(i).empty();
}
/// Returns whether the call has fewer arguments than the reference reads (0 to `last`). The
/// reference fails on such a call.
bool cut_short(const Call& c, std::size_t last) {
  return c.compat && c.args.count() <= last;
}
/// Returns the training flag. The reference tests whether the text is empty, so "False" counts as
/// true.
bool training_flag(const Call& c, std::size_t i) {
  return c.compat ? !c.args.concrete(i).empty() : c.args.flag(i);
}
double extent(const Call& c, std::size_t arg, std::size_t dim) {
  const Shape s = c.args.dims(arg);
  return s.size() > dim ? static_cast<double>(s[dim]) : 0;
}
double list_product(const Call& c, std::size_t i) {
  const auto list = c.args.int_list(i);
  return list ? elements(*list) : 0;
}
/// Reads the mask of the gradients that are computed: input, weight, bias.
void read_mask(const Call& c, std::size_t i, Norm& m) {
  const std::string text = c.args.concrete(i);
  if (text.size() > 4) {
    m.mask_text = text;
    m.mask = c.args.flags(i);
    if (m.mask.empty())
      m.mask = {true};
  }
}

std::optional<PerfResult> batch_norm(const Call& c) {
  Norm m;
  m.channels = extent(c, 0, 1);
  m.affine = present(c, 1);
  m.has_bias = present(c, 2);
  m.training = training_flag(c, 5);
  return cost(c, m);
}
std::optional<PerfResult> layer_norm(const Call& c) {
  if (cut_short(c, 3))
    return std::nullopt;
  Norm m;
  m.channels = list_product(c, 1);
  m.affine = present(c, 2);
  m.has_bias = present(c, 3);
  return cost(c, m);
}
std::optional<PerfResult> group_norm(const Call& c) {
  // aten::group_norm(x, groups, weight, bias, eps), native_group_norm(x, weight, bias, ...)
  const std::size_t w = c.op.name == "aten::group_norm" ? 2 : 1;
  Norm m;
  m.channels = extent(c, 0, 1);
  m.affine = present(c, w);
  m.has_bias = present(c, w + 1);
  return cost(c, m);
}
std::optional<PerfResult> rms_norm(const Call& c) {
  Norm m;
  m.rms = true;
  m.channels = list_product(c, 1);
  m.affine = present(c, 2);
  m.has_bias = false;
  m.training = false; // group norm has no running statistics
  return cost(c, m);
}
std::optional<PerfResult> batch_norm_backward(const Call& c) {
  Norm m;
  m.backward = true;
  const bool vendor = c.op.name == "aten::cudnn_batch_norm_backward" ||
                      c.op.name == "aten::miopen_batch_norm_backward";
  m.x = vendor ? 0 : 1;
  m.channels = extent(c, m.x, 1);
  m.affine = present(c, 2);
  m.training = vendor ? !c.compat : training_flag(c, 7); // both operators are for training only
  if (!vendor && !c.compat) // as the mask, the reference uses whether argument 0 is recorded
    read_mask(c, 9, m);
  return cost(c, m);
}
std::optional<PerfResult> layer_norm_backward(const Call& c) {
  if (cut_short(c, 7))
    return std::nullopt;
  Norm m;
  m.backward = true;
  m.x = 1;
  m.channels = list_product(c, 2);
  m.affine = present(c, 5);
  m.has_bias = present(c, 6);
  read_mask(c, 7, m);
  if (m.mask.size() == 3) { // gradients that were not requested are not computed
    m.affine = m.mask[1];
    m.has_bias = m.mask[2];
  }
  return cost(c, m);
}
std::optional<PerfResult> group_norm_backward(const Call& c) {
  Norm m;
  m.backward = true;
  m.x = 1;
  const double groups = c.args.number(8).value_or(0);
  m.channels = groups > 0 ? extent(c, 1, 1) / groups : 0;
  m.affine = present(c, c.compat ? 5 : 4); // the reference tests the argument after the weight, the
                                           // batch size
  if (c.compat)
    m.channels_text = python_float(m.channels);
  read_mask(c, 9, m);
  return cost(c, m);
}
std::optional<PerfResult> rms_norm_backward(const Call& c) {
  Norm m;
  m.backward = true;
  m.rms = true;
  m.x = 1;
  m.channels = list_product(c, 2);
  m.affine = present(c, 4);
  m.has_bias = false;
  m.training = false;
  read_mask(c, 5, m);
  return cost(c, m);
}

constexpr auto kNormStrides = ReferenceNeeds::kShapesAndStrides;
constexpr Entry kNormModels[] = {
    {"BatchNorm", batch_norm, 0, kNormStrides},
    {"InstanceNorm", batch_norm, 0,
     kNormStrides}, // same order of arguments; use_input_stats corresponds to training
    {"LayerNorm", layer_norm, 0, kNormStrides},
    {"GroupNorm", group_norm, 0, kNormStrides},
    {"RMSNorm", rms_norm, 0, kNormStrides},
    {"BatchNormBwd", batch_norm_backward, 0, kNormStrides},
    {"LayerNormBwd", layer_norm_backward, 0, kNormStrides},
    {"GroupNormBwd", group_norm_backward, 0, kNormStrides},
    {"RMSNormBwd", rms_norm_backward, 0, kNormStrides},
};

} // namespace

std::span<const Entry> norm_models() {
  return kNormModels;
}

} // namespace rankscope::op_model
