// Convolutions: the calls of MIOpen that PyTorch makes for aten::convolution and its gradient.
#include "model/replay/replay_request.h"

#include "base/ascii.h"
#include "model/ops/op_model.h"

#include <fmt/format.h>
#include <numeric>
#include <optional>

namespace rankscope {
namespace {

constexpr std::int64_t kMaxConvExtent = std::int64_t{1} << 31;

/// Returns the first argument of MIOpenDriver; "" = MIOpenDriver does not support the type.
std::string_view program_of(std::string_view recorded) {
  const std::string type = lowercase(recorded);
  return type == "float"           ? "conv"
         : type == "c10::half"     ? "convfp16"
         : type == "c10::bfloat16" ? "convbfp16"
                                   : "";
}

/// Returns whether the strides are those of a dense tensor with dimensions in this order (slowest
/// first). For dimensions with one element, any stride is accepted.
bool dense(const Shape& shape, const Shape& strides, const std::vector<std::size_t>& order) {
  std::int64_t expected = 1;
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    if (shape[*d] != 1 && strides[*d] != expected)
      return false;
    if (shape[*d] > (std::int64_t{1} << 62) / expected) // larger than any memory
      return false;
    expected *= shape[*d];
  }
  return true;
}

enum class ReplayConvLayout { kChannelsFirst, kChannelsLast, kOther };
ReplayConvLayout layout_of(const Shape& shape, const Shape& strides) {
  std::vector<std::size_t> first(shape.size());
  std::iota(first.begin(), first.end(), std::size_t{0});
  if (dense(shape, strides, first))
    return ReplayConvLayout::kChannelsFirst;
  std::vector<std::size_t> last{0};
  for (std::size_t d = 2; d < shape.size(); ++d)
    last.push_back(d);
  last.push_back(1);
  return dense(shape, strides, last) ? ReplayConvLayout::kChannelsLast : ReplayConvLayout::kOther;
}

struct ReplayConvConv {
  Shape x, w, stride, padding, dilation, output_padding;
  bool transposed = false;
  std::int64_t groups = 1;
};

/// Reads stride, padding, dilation, transposed, output_padding and groups from argument `first` on.
bool read_lists_replay_conv(const ParsedArgs& a, std::size_t first, ReplayConvConv& c) {
  const auto stride = a.int_list(first);
  const auto padding = a.int_list(first + 1);
  const auto dilation = a.int_list(first + 2);
  const auto output_padding = a.int_list(first + 4);
  const auto groups = a.integer(first + 5);
  const std::string transposed = a.concrete(first + 3);
  if (!stride || !padding || !dilation || !output_padding || !groups ||
      (transposed != "True" && transposed != "False"))
    return false;
  c.stride = *stride;
  c.padding = *padding;
  c.dilation = *dilation;
  c.transposed = transposed == "True";
  c.output_padding = *output_padding;
  c.groups = *groups;
  const std::size_t n = c.x.size() - 2;
  for (Shape* list : {&c.stride, &c.padding, &c.dilation, &c.output_padding}) {
    if (list->size() == 1)
      list->resize(n, list->front());
    if (list->size() != n)
      return false;
  }
  return true;
}

std::string check(const ReplayConvConv& c) {
  for (const Shape* shape : {&c.x, &c.w})
    for (const std::int64_t extent : *shape)
      if (extent <= 0 || extent >= kMaxConvExtent)
        return extent == 0 ? "an empty convolution" : "an extent that no library accepts";
  for (std::size_t i = 0; i + 2 < c.x.size(); ++i)
    if (c.stride[i] <= 0 || c.dilation[i] <= 0 || c.padding[i] < 0 || c.output_padding[i] < 0)
      return "its stride, padding or dilation is invalid";
  if (c.groups <= 0 || c.groups > c.x[1] ||
      (c.transposed ? c.w[0] != c.x[1] : c.w[1] * c.groups != c.x[1]))
    return "the channels of its input and weights do not fit each other";
  return "";
}

/// Sets the shapes of MIOpen's convolution. A transposed convolution is computed as the gradient of
/// an ordinary convolution, whose input is the output of the transposed one: (i - 1) s - 2 p + d (k
/// - 1) + op + 1.
std::string set_shapes(const ReplayConvConv& c, ConvReplay& r) {
  const std::size_t n = c.x.size() - 2;
  r.spatial = n == 3 ? 3 : 2;
  r.n = c.x[0];
  r.groups = c.groups;
  r.c = c.transposed ? c.w[1] * c.groups : c.x[1];
  r.k = c.w[0];
  if (r.c >= kMaxConvExtent)
    return "an extent that no library accepts";
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = 3 - n + i; // PyTorch uses the width as the only dimension of conv1d
    r.filter[at] = c.w[i + 2];
    r.pad[at] = c.padding[i];
    r.stride[at] = c.stride[i];
    r.dilation[at] = c.dilation[i];
    // all values are below 2^31, so the product of two fits
    const std::int64_t span = c.dilation[i] * (c.w[i + 2] - 1);
    std::int64_t in = c.x[i + 2];
    if (c.transposed)
      in = (in - 1) * c.stride[i] - 2 * c.padding[i] + span + c.output_padding[i] + 1;
    if (in <= 0 || in >= kMaxConvExtent || in + 2 * c.padding[i] < span + 1)
      return "its output is empty, or larger than a library takes";
    r.in[at] = in;
  }
  return "";
}

void add_note(std::string& note, std::string_view more) {
  note += note.empty() ? "" : "; ";
  note += more;
}

/// Sets the layout in which PyTorch passes both tensors; it depends on the strides of arguments `x`
/// and `x` + 1.
std::string set_layout(const ParsedArgs& args, std::size_t x, const ReplayConvConv& c,
                       ConvReplay& r, std::string& note) {
  const auto input = args.stride_list(x);
  const auto weight = args.stride_list(x + 1);
  if (!input || !weight || input->size() != c.x.size() || weight->size() != c.w.size())
    return "the trace has no strides of a tensor, so channels first and channels last cannot be "
           "distinguished";
  const ReplayConvLayout input_layout = layout_of(c.x, *input);
  const ReplayConvLayout weight_layout = layout_of(c.w, *weight);
  r.channels_last = input_layout == ReplayConvLayout::kChannelsLast ||
                    weight_layout == ReplayConvLayout::kChannelsLast;
  if (c.x.size() == 3)
    r.channels_last = false; // conv1d
  const ReplayConvLayout wanted =
      r.channels_last ? ReplayConvLayout::kChannelsLast : ReplayConvLayout::kChannelsFirst;
  if (input_layout == ReplayConvLayout::kOther || (input_layout != wanted && c.x[1] != 1))
    add_note(note, "the input is copied to the other layout first, which the replay leaves out");
  return "";
}

} // namespace

ReplayRequest replay::conv(std::string_view name, const ParsedArgs& args) {
  const bool backward = name == "aten::convolution_backward";
  if (name != "aten::convolution" && !backward)
    return no_call("the arguments of this operator do not say how its library is called");
  const std::size_t at = backward ? 1 : 0; // position of the input; the weights are the next
                                           // argument
  ConvReplay r;
  r.program = program_of(args.type(at));
  if (r.program.empty() || args.type(at) != args.type(at + 1))
    return no_call(fmt::format("no command for the types {} and {}",
                               args.type(at).empty() ? "(not recorded)" : args.type(at),
                               args.type(at + 1).empty() ? "(not recorded)" : args.type(at + 1)));
  ReplayConvConv c;
  c.x = args.dims(at);
  c.w = args.dims(at + 1);
  if (c.x.size() < 3 || c.x.size() > 5 || c.w.size() != c.x.size())
    return no_call("input and weights are expected to have the same three to five dimensions");
  if (!read_lists_replay_conv(args, at + 3, c))
    return no_call("its stride, padding, dilation or groups were not recorded");
  std::string note;
  std::string why = check(c);
  if (why.empty())
    why = set_shapes(c, r);
  if (why.empty())
    why = set_layout(args, at, c, r, note);
  if (!why.empty())
    return no_call(why);
  if (!backward) {
    r.directions = {c.transposed ? 2 : 1};
    if (!args.dims(2).empty())
      add_note(note, "without its bias");
    return {r, note, ""};
  }
  const std::vector<bool> mask = args.flags(10); // input, weights, bias
  if (mask.size() != 3)
    return no_call("which gradients it makes was not recorded (output_mask)");
  if (mask[0])
    r.directions.push_back(c.transposed ? 1 : 2);
  if (mask[1])
    r.directions.push_back(4);
  if (r.directions.empty())
    return no_call("the gradient of the bias alone: a sum, no convolution");
  if (mask[2])
    add_note(note, "without the gradient of its bias");
  return {r, note, ""};
}

} // namespace rankscope
