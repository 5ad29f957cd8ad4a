// Convolutions (docs/performance-models.md). The shape of the weights is out x in/groups x kernel
// (transposed: in x out/groups x kernel), so prod(w[1:]) is already divided by the number of
// groups.
#include "model/ops/op_model_impl.h"

#include <algorithm>
#include <cmath>

namespace rankscope::op_model {
namespace {

struct Conv {
  Shape x, w, stride, padding, dilation, output_padding;
  bool transposed = false;
  bool bias = false;
  std::int64_t groups = 1;
  std::vector<bool> gradients{true, true, true}; ///< backward: of x, w and bias are computed
};

Shape broadcast(Shape list, std::size_t n) {
  if (list.size() == 1)
    list.resize(n, list[0]);
  return list;
}

/// Returns the output shape. Each extent is (i + 2p - d(k-1) - 1)/s + 1; transposed: (i-1)s - 2p +
/// d(k-1) + op + 1. Computed in doubles, because products of recorded numbers may not fit in 64
/// bits. nullopt if a result is not a valid extent.
std::optional<Shape> output_shape(const Conv& c) {
  const std::size_t n = c.x.size() - 2;
  for (const Shape* list : {&c.stride, &c.padding, &c.dilation, &c.output_padding})
    if (list->size() != n)
      return std::nullopt;
  constexpr double kMax = 1e15; // exact in a double
  const auto d = [](std::int64_t v) { return static_cast<double>(v); };
  // in a transposed convolution, w[1] is the number of output channels of one group
  const double channels = c.transposed ? d(c.w[1]) * d(c.groups) : d(c.w[0]);
  if (!(channels >= 0 && channels < kMax))
    return std::nullopt;
  Shape out{c.x[0], static_cast<std::int64_t>(channels)};
  for (std::size_t i = 0; i < n; ++i) {
    if (c.stride[i] <= 0)
      return std::nullopt;
    const double span = d(c.dilation[i]) * (d(c.w[i + 2]) - 1);
    const double extent =
        c.transposed
            ? (d(c.x[i + 2]) - 1) * d(c.stride[i]) - 2 * d(c.padding[i]) + span +
                  d(c.output_padding[i]) + 1
            : std::trunc((d(c.x[i + 2]) + 2 * d(c.padding[i]) - span - 1) / d(c.stride[i])) + 1;
    if (!(extent >= 0 && extent < kMax))
      return std::nullopt;
    out.push_back(static_cast<std::int64_t>(extent));
  }
  return out;
}

double tail(const Shape& shape, std::size_t from) {
  return elements(Shape(shape.begin() + static_cast<std::ptrdiff_t>(from), shape.end()));
}

/// Worked example: x (4, 3, 224, 224), w (768, 3, 16, 16), stride 16: out (4, 768, 14, 14),
/// 2 * 768 (=3*16*16) * 602112 = 0.924844032 GFLOP.
std::optional<PerfResult> cost(const Call& call, Conv c, const std::string& type_x,
                               const std::string& type_w, std::size_t x_at, std::size_t w_at,
                               std::string bias_text, bool backward_op) {
  if (c.x.size() < 3 || c.x.size() > 5 || c.w.size() != c.x.size())
    return std::nullopt;
  if (type_x != type_w)
    return std::nullopt;
  const std::size_t n = c.x.size() - 2;
  for (Shape* list : {&c.stride, &c.padding, &c.dilation, &c.output_padding})
    *list = broadcast(*list, n);
  if (call.compat && c.transposed)
    c.groups = 1; // the reference uses w[1] as the number of output channels of all groups
  const std::optional<Shape> out = output_shape(c);
  if (!out)
    return std::nullopt;
  const double px = elements(c.x);
  const double pw = elements(c.w);
  const double po = elements(*out);
  const auto channels = static_cast<double>((*out)[1]);
  const double bpe = type_bytes(type_x);
  PerfResult r;
  const double product = 2 * tail(c.w, 1) * (c.transposed ? px : po);
  r.flops = product + (c.bias ? po : 0);
  r.bytes = (px + pw + po + (c.bias ? channels : 0)) * bpe;
  // backward: dx is a convolution of dout with w, and dw is a convolution of x with dout
  const double dw =
      2 * pw * static_cast<double>(c.x[0]) * (c.transposed ? tail(c.x, 2) : tail(*out, 2));
  const bool for_bias = c.bias && c.gradients[2];
  const int convolutions = (c.gradients[0] ? 1 : 0) + (c.gradients[1] ? 1 : 0);
  r.flops_bwd = (c.gradients[0] ? product : 0) + (c.gradients[1] ? dw : 0) + (for_bias ? po : 0);
  r.bytes_bwd = convolutions * (px + pw + po) * bpe +
                (for_bias ? (po + channels) * (call.compat ? 1 : bpe) : 0);
  r.params = {{"convNd", "'conv" + std::to_string(n) + "d'"},
              {"input_shape", repr(c.x)},
              {"filter_shape", repr(c.w)},
              {"dtype_input_weight", repr_types({type_x, type_w})},
              {"input_stride", call.args.strides(x_at)},
              {"weight_stride", call.args.strides(w_at)},
              {"bias", std::move(bias_text)},
              {"stride", repr(c.stride)},
              {"padding", repr(c.padding)},
              {"dilation", repr(c.dilation)},
              {"transposed_conv", repr(c.transposed)},
              {"output_padding", repr(c.output_padding)},
              {"groups", repr(c.groups)}};
  r.compute_spec = compute_spec("matrix", type_x);
  if (backward_op)
    turn_backward(r);
  return r;
}

bool read_lists(const ParsedArgs& a, std::size_t first, Conv& c) {
  const auto stride = a.int_list(first);
  const auto padding = a.int_list(first + 1);
  const auto dilation = a.int_list(first + 2);
  const auto output_padding = a.int_list(first + 4);
  const auto groups = a.integer(first + 5);
  if (!stride || !padding || !dilation || !output_padding || !groups)
    return false;
  c.stride = *stride;
  c.padding = *padding;
  c.dilation = *dilation;
  c.transposed = a.flag(first + 3);
  c.output_padding = *output_padding;
  c.groups = *groups;
  return true;
}

std::optional<PerfResult> convolution(const Call& call) {
  Conv c;
  c.x = call.args.dims(0);
  c.w = call.args.dims(1);
  if (!read_lists(call.args, 3, c))
    return std::nullopt;
  c.bias = call.compat ? call.args.count() == 3 : !call.args.dims(2).empty();
  return cost(call, c, call.args.type(0), call.args.type(1), 0, 1, repr(c.bias), false);
}

std::optional<PerfResult> convolution_backward(const Call& call) {
  Conv c;
  c.x = call.args.dims(1);
  c.w = call.args.dims(2);
  if (!read_lists(call.args, 4, c))
    return std::nullopt;
  // bias_sizes [0] means that there is no bias; the sizes are a list of numbers, not a tensor
  const auto sizes = call.args.int_list(3);
  c.bias = call.compat ? !call.args.dims(3).empty() : sizes && !sizes->empty() && sizes->at(0) > 0;
  std::string text = repr(c.bias);
  if (call.compat) {
    text = "[";
    for (const std::int64_t v : call.args.dims(3))
      text += (text.size() > 1 ? ", " : "") + std::to_string(v);
    text += "]";
  }
  const std::vector<bool> mask = call.args.flags(10);
  const bool masked = mask.size() == 3 && !call.compat; // the reference counts all gradients
  if (masked)
    c.gradients = mask;
  auto r = cost(call, c, call.args.type(1), call.args.type(2), 1, 2, std::move(text), true);
  if (r && masked)
    r->params.emplace_back("output_mask", call.args.concrete(10));
  return r;
}

/// Fused convolution and bias (apex). Arguments: x, weight, bias, padding, stride. The reference
/// reads the last two in reverse order.
std::optional<PerfResult> fused_bias(const Call& call, bool backward_op) {
  Conv c;
  c.x = call.args.dims(0);
  c.w = call.args.dims(1);
  if (c.x.size() < 3 || c.w.size() != c.x.size() || c.w[1] <= 0)
    return std::nullopt;
  const auto padding = call.args.int_list(call.compat ? 4 : 3);
  const auto stride = call.args.int_list(call.compat ? 3 : 4);
  if (!padding || !stride)
    return std::nullopt;
  c.padding = *padding;
  c.stride = *stride;
  c.dilation = {1};
  c.output_padding = {0};
  c.bias = true;
  c.groups = std::max<std::int64_t>(1, c.x[1] / c.w[1]);
  return cost(call, c, call.args.type(0), call.args.type(1), 0, 1, repr(true), backward_op);
}
std::optional<PerfResult> conv_bias(const Call& call) {
  return fused_bias(call, false);
}
/// The shapes are those of the forward call, because the operator's own arguments do not contain
/// them.
std::optional<PerfResult> conv_bias_backward(const Call& call) {
  return fused_bias(call, true);
}

constexpr Entry kConvModels[] = {
    {"aten_conv", convolution},
    {"aten_conv_bwd", convolution_backward},
    {"ConvBias_", conv_bias},
    {"ConvBiasReLU_", conv_bias},
    {"ConvBias_Backward", conv_bias_backward, kNeedsForward},
    {"ConvBiasReLU_Backward", conv_bias_backward, kNeedsForward},
};

} // namespace

std::span<const Entry> conv_models() {
  return kConvModels;
}

} // namespace rankscope::op_model
