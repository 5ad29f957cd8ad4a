// Operators without a model in the reference (docs/performance-models.md, "beyond the reference"):
// softmax, pooling, lists of tensors, comparisons, and data movement. Data movement has 0 FLOPs;
// its bytes count each tensor once, as read or written.
#include "model/ops/op_model_impl.h"

#include <algorithm>
#include <numeric>

namespace rankscope::op_model {
namespace {

constexpr double kIndexBytes = 8; ///< indices are long if no type is recorded

PerfResult moved(double flops, double bytes, const Call& c) {
  return costs(flops, bytes, io_params(c.args.dims(0), c.args.type(0), "", c.args.strides(0)),
               compute_spec("vector", c.args.type(0)));
}

/// aten::fill_, zero_: the tensor is written once.
std::optional<PerfResult> fill(const Call& c) {
  return moved(0, elements(c.args.dims(0)) * type_bytes(c.args.type(0)), c);
}

/// Returns the size of an element, which is in the first template argument of the kernel's name:
/// "CatArrayBatchedCopy<OpaqueType<2u>, ...", "BinaryOpScalarFunctor<float, 1, 1, 0>". It is needed
/// because the types of lists of tensors are not recorded. `before`: text before the argument.
double element_bytes(std::string_view kernel, std::string_view before) {
  std::size_t at = kernel.find(before);
  if (at == std::string_view::npos)
    return kUnknown;
  at = kernel.find('<', at);
  if (at == std::string_view::npos)
    return kUnknown;
  std::string_view type = kernel.substr(at + 1);
  constexpr std::string_view kOpaque = "OpaqueType<";
  if (const std::size_t opaque = type.find(kOpaque);
      opaque != std::string_view::npos && opaque < type.find(',')) {
    const char digit = opaque + kOpaque.size() < type.size() ? type[opaque + kOpaque.size()] : '0';
    // sizes are 1, 2, 4, 8; "16" would be read as 1
    return digit >= '1' && digit <= '9' ? digit - '0' : kUnknown;
  }
  type = type.substr(0, type.find_first_of(",>"));
  if (type == "long")
    return 8;
  return type_bytes(type);
}

double elements_of(const std::vector<Shape>& shapes) {
  return std::accumulate(shapes.begin(), shapes.end(), 0.0,
                         [](double n, const Shape& s) { return n + elements(s); });
}

/// aten::cat: every element is read and written once.
std::optional<PerfResult> cat(const Call& c) {
  const std::vector<Shape> parts = c.args.shape_list(0);
  if (parts.empty())
    return std::nullopt;
  PerfResult r = moved(0, 2 * elements_of(parts) * element_bytes(c.hints.kernel, "CatArray"), c);
  std::string shapes = "[";
  for (const Shape& part : parts)
    shapes += (shapes.size() > 1 ? ", " : "") + repr(part);
  r.params.front() = {"op_shape", shapes + "]"};
  return r;
}

/// aten::_foreach_*_: all lists are read, and the first list is written.
std::optional<PerfResult> foreach_list(const Call& c) {
  const std::vector<Shape> first = c.args.shape_list(0);
  if (first.empty())
    return std::nullopt;
  double read = 0;
  for (std::size_t i = 0; i < c.args.count(); ++i)
    read += elements_of(c.args.shape_list(i));
  const double n = elements_of(first);
  PerfResult r = moved(n, (read + n) * element_bytes(c.hints.kernel, "Functor"), c);
  r.params.front() = {"op_shape", repr_count(static_cast<double>(first.size())) + " tensors"};
  return r;
}

/// aten::_softmax(x, dim, half_to_float): maximum, difference, exponential, sum and quotient count
/// as one operation each. Worked example: float (2, 1000): 10000 flops, 16000 bytes.
std::optional<PerfResult> softmax(const Call& c) {
  const double n = elements(c.args.dims(0));
  const double in = type_bytes(c.args.type(0));
  return moved(5 * n, n * (in + (c.args.flag(2) ? 4 : in)), c);
}

/// aten::_softmax_backward_data(grad, output, dim, type): product, sum, difference and product
/// count as one operation each. Two tensors are read, one is written.
std::optional<PerfResult> softmax_backward(const Call& c) {
  const double n = elements(c.args.dims(0));
  return moved(4 * n, n * (2 * type_bytes(c.args.type(0)) + type_bytes(c.args.type(1))), c);
}

/// Returns the shape of the pooled output, or nullopt if kernel, stride, padding or dilation were
/// not recorded. `at`: the argument with the kernel.
std::optional<Shape> pooled(const Call& c, const Shape& in, std::size_t at) {
  const auto list = [&](std::size_t i, std::int64_t fallback) -> std::optional<Shape> {
    const auto v = c.args.int_list(i);
    if (!v || v->size() > 2)
      return std::nullopt;
    if (v->empty())
      return fallback < 0 ? std::nullopt : std::optional<Shape>(Shape{fallback, fallback});
    return v->size() == 2 ? *v : Shape{v->front(), v->front()};
  };
  const auto kernel = list(at, -1);
  const auto padding = list(at + 2, 0);
  const auto dilation = list(at + 3, 1);
  if (in.size() < 3 || !kernel || !padding || !dilation)
    return std::nullopt;
  const auto stride = c.args.int_list(at + 1);
  Shape out = in;
  for (std::size_t d = 0; d < 2; ++d) {
    const std::size_t axis = in.size() - 2 + d;
    const std::int64_t step = !stride || stride->empty()        ? (*kernel)[d]
                              : (stride->size() == 2 && d == 1) ? (*stride)[1]
                                                                : stride->front();
    const std::int64_t span = (*dilation)[d] * ((*kernel)[d] - 1) + 1;
    const std::int64_t room = in[axis] + 2 * (*padding)[d] - span;
    if (step <= 0 || room < 0)
      return std::nullopt;
    out[axis] = (c.args.flag(at + 4) ? (room + step - 1) / step : room / step) + 1;
  }
  return out;
}

double taps(const Call& c, std::size_t at) {
  const auto kernel = c.args.int_list(at);
  return static_cast<double>(kernel->front()) *
         static_cast<double>(kernel->size() == 2 ? (*kernel)[1] : kernel->front());
}

/// aten::max_pool2d_with_indices(x, kernel, stride, padding, dilation, ceil): one comparison per
/// output and kernel element; values and long indices are written. Worked example: bf16 (10, 64,
/// 112, 112), kernel 3, stride 2, padding 1: out (10, 64, 56, 56), 18063360 flops, 16056320 +
/// 20070400 bytes.
std::optional<PerfResult> max_pool(const Call& c) {
  const Shape in = c.args.dims(0);
  const std::optional<Shape> out = pooled(c, in, 1);
  if (!out)
    return std::nullopt;
  const double bytes = type_bytes(c.args.type(0));
  return moved(elements(*out) * taps(c, 1),
               elements(in) * bytes + elements(*out) * (bytes + kIndexBytes), c);
}

/// Backward of max_pool2d (grad, x, kernel, ..., indices): one addition per gradient. Gradients and
/// indices are read, the gradient of the input is written.
std::optional<PerfResult> max_pool_backward(const Call& c) {
  const double n = elements(c.args.dims(0));
  const double bytes = type_bytes(c.args.type(0));
  return moved(n, n * (bytes + kIndexBytes) + elements(c.args.dims(1)) * bytes, c);
}

/// aten::index_select(x, dim, index), gather(x, dim, index): the index and each selected element
/// are read, and the element is written.
std::optional<PerfResult> select(const Call& c) {
  const Shape in = c.args.dims(0);
  double chosen = elements(c.args.dims(2));
  const double index = chosen * type_bytes_or(c.args.type(2), kIndexBytes);
  if (c.op.name == "aten::index_select") {
    const auto dim = c.args.integer(1);
    const auto rank = static_cast<std::int64_t>(in.size());
    if (!dim || rank == 0 || *dim >= rank || *dim < -rank)
      return std::nullopt;
    const std::int64_t extent = in[static_cast<std::size_t>(*dim < 0 ? *dim + rank : *dim)];
    if (extent <= 0)
      return std::nullopt;
    chosen *= elements(in) / static_cast<double>(extent);
  }
  return moved(0, index + 2 * chosen * type_bytes(c.args.type(0)), c);
}

/// aten::scatter_(x, dim, index, source), scatter_add_: index and source are read, and the element
/// is written (scatter_add_ also reads it).
std::optional<PerfResult> scatter(const Call& c) {
  const double n = elements(c.args.dims(2));
  const bool adds = c.op.name == "aten::scatter_add_";
  return moved(adds ? n : 0,
               n * (type_bytes_or(c.args.type(2), kIndexBytes) +
                    (adds ? 3 : 2) * type_bytes(c.args.type(0))),
               c);
}

/// aten::where(condition, a, b): the arguments with a recorded shape are read; a tensor of the
/// largest shape is written.
std::optional<PerfResult> where(const Call& c) {
  double n = 0;
  double read = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double count = elements(c.args.dims(i));
    n = std::max(n, count);
    if (!c.args.dims(i).empty())
      read += count * (c.args.type(i) == "bool" ? 1 : type_bytes(c.args.type(i)));
  }
  const std::string type = c.args.type(1).empty() ? c.args.type(2) : c.args.type(1);
  return moved(0, read + n * type_bytes(type), c);
}

/// aten::masked_fill_(x, mask, value): the mask is read, x is read and written.
std::optional<PerfResult> masked_fill(const Call& c) {
  const double n = elements(c.args.dims(0));
  return moved(0, elements(c.args.dims(1)) + 2 * n * type_bytes(c.args.type(0)), c);
}

/// aten::addcmul_, addcdiv_(x, a, b, value): two products and a sum. Three tensors are read, one is
/// written.
std::optional<PerfResult> add_product(const Call& c) {
  const double n = elements(c.args.dims(0));
  return moved(3 * n, 4 * n * type_bytes(c.args.type(0)), c);
}

/// Comparisons and logical operators: both sides are read (unless one is a number), booleans are
/// written.
std::optional<PerfResult> compare(const Call& c) {
  const double a = elements(c.args.dims(0));
  const double b = c.args.dims(1).empty() ? 0 : elements(c.args.dims(1));
  const auto size = [&c](std::size_t i) {
    return c.args.type(i) == "bool" ? 1.0 : type_bytes(c.args.type(i));
  };
  const double n = std::max(a, b);
  return moved(n, a * size(0) + (b > 0 ? b * size(1) : 0) + n, c);
}

/// aten::native_dropout(x, p, train) and its backward(grad, mask, scale): one tensor is read, one
/// is written, and a mask of bytes is written or read.
std::optional<PerfResult> dropout(const Call& c) {
  const double n = elements(c.args.dims(0));
  return moved(n, n * (2 * type_bytes(c.args.type(0)) + 1), c);
}

constexpr Entry kMemoryModels[] = {
    {"aten_fill", fill},
    {"aten_cat", cat, kNeedsKernel},
    {"aten_foreach", foreach_list, kNeedsKernel},
    {"aten_softmax", softmax},
    {"aten_softmax_backward", softmax_backward},
    {"aten_max_pool2d", max_pool},
    {"aten_max_pool2d_backward", max_pool_backward},
    {"aten_select", select},
    {"aten_scatter", scatter},
    {"aten_where", where},
    {"aten_masked_fill", masked_fill},
    {"aten_add_product", add_product},
    {"aten_compare", compare},
    {"aten_dropout", dropout},
};

} // namespace

std::span<const Entry> memory_models() {
  return kMemoryModels;
}

} // namespace rankscope::op_model
