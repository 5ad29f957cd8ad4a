// Elementwise operators and reductions (docs/performance-models.md): one flop per element.
#include "base/ascii.h"
#include "model/ops/op_model_impl.h"

#include <algorithm>
#include <cmath>

namespace rankscope::op_model {
namespace {

/// Worked example: aten::copy_ float -> bf16, (16, 559, 1024): 9158656 flops, n*(4+2) bytes.
std::optional<PerfResult> unary(const Call& c) {
  const Shape shape = c.args.dims(0);
  const std::string in = c.args.type(0);
  if (in.empty())
    return std::nullopt;
  const bool second = !c.args.dims(1).empty();
  const std::string out = second ? c.args.type(1) : "";
  const double n = elements(shape);
  PerfResult r;
  r.flops = n;
  r.bytes = n * type_bytes(in) + n * type_bytes(out.empty() ? in : out);
  if (c.op.name == "aten::copy" || c.op.name == "aten::copy_")
    if (!c.compat && second) { // the arguments are destination and source; the source may be
                               // broadcast
      r.bytes = n * type_bytes(in) + elements(c.args.dims(1)) * type_bytes(out);
    }
  r.params = io_params(shape, in, out, c.args.strides(0), second ? c.args.strides(1) : "None");
  r.compute_spec = compute_spec("vector", in);
  return r;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      return std::nullopt;
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

/// Worked example: aten::mul float (16, 559, 1024) x (16, 559, 1): 9158656 flops,
/// 4 * (9158656 + 8944 + 9158656) bytes.
std::optional<PerfResult> binary(const Call& c) {
  const Shape a = c.args.dims(0);
  const Shape b = c.args.dims(1);
  const std::optional<Shape> shape = broadcast(a, b);
  if (!shape || c.args.type(0).empty())
    return std::nullopt;
  const bool third = !c.args.dims(2).empty();
  const double b1 = type_bytes(c.args.type(0));
  const double b2 = type_bytes(c.args.type(1));
  const double bo = third                      ? type_bytes(c.args.type(2))
                    : !a.empty() && !b.empty() ? std::max(b1, b2)
                                               : b1;
  PerfResult r;
  r.flops = elements(*shape);
  r.bytes = elements(a) * b1 + elements(b) * b2 + elements(*shape) * bo;
  if (!c.compat && std::isnan(b2) && b.empty())
    r.bytes = elements(a) * b1 + elements(*shape) * bo; // a Python scalar causes no memory traffic
  r.params = {{"shape_in1", repr(a)},
              {"shape_in2", repr(b)},
              {"dtype_in1_in2_out",
               repr_types({c.args.type(0), c.args.type(1), third ? c.args.type(2) : ""})},
              {"stride_input1", c.args.strides(0)},
              {"stride_input2", c.args.strides(1)},
              {"stride_output", third ? c.args.strides(2) : "None"}};
  r.compute_spec = compute_spec("vector", c.args.type(0));
  return r;
}

/// Padding and nearest upsampling: n_in elements are read, n_out are written. Argument 1 contains
/// the output extents or the padding.
std::optional<PerfResult> resize(const Call& c) {
  const Shape in = c.args.dims(0);
  const auto list = c.args.int_list(1);
  if (!list || in.size() < 3)
    return std::nullopt;
  Shape out = in;
  const std::size_t n = in.size();
  const bool pads = c.op.model == "aten_replication_pad";
  if (pads) { // pairs (before, after), beginning with the last dimension
    for (std::size_t i = 0; 2 * i + 1 < list->size() && i < n; ++i)
      out[n - 1 - i] += (*list)[2 * i] + (*list)[2 * i + 1];
  } else {
    if (list->size() != n - 2)
      return std::nullopt;
    std::copy(list->begin(), list->end(), out.begin() + 2);
  }
  const double bpe = type_bytes(c.args.type(0));
  PerfResult r;
  r.flops = elements(out);
  r.bytes = (elements(in) + elements(out)) * bpe;
  r.params = {{"input_shape", repr(in)}, {"output_shape", repr(out)}};
  if (pads)
    r.params.emplace_back("padding", repr(*list));
  const std::string type = c.args.type(0);
  for (auto& p : io_params(out, type, type, c.args.strides(0)))
    r.params.push_back(std::move(p));
  r.compute_spec = compute_spec("vector", c.args.type(0));
  return r;
}

/// Returns the dimensions that the call reduces, or nullopt for all dimensions.
std::optional<Shape> reduced_dims(const Call& c) {
  // aten::norm(x, p, dim), linalg_norm(x, ord, dim), logsumexp(x, dim), others (x, dim)
  const bool norm = contains(c.op.name, "norm");
  const std::size_t at = norm ? 2 : 1;
  const auto list = c.args.int_list(at);
  if (!list || list->empty())
    return std::nullopt;
  return list;
}

/// Worked example: aten::sum over dim 0 of (10, 1000): 10000 flops, 1000 outputs (the reference
/// counts 1 output, because it does not read the dimension).
std::optional<PerfResult> reduce(const Call& c) {
  const Shape in = c.args.dims(0);
  const std::string type = c.args.type(0);
  if (type.empty() && !c.compat)
    return std::nullopt;
  const bool recorded = c.args.count() > 0; // if nothing is recorded, the reference has a row with
                                            // 0 FLOPs
  const double n_in = recorded ? elements(in) : 0;
  double n_out = recorded ? 1 : 0;
  if (contains(c.op.name, "cum")) {
    n_out = n_in;
  } else if (!c.compat) {
    if (const auto dims = reduced_dims(c)) {
      n_out = n_in;
      const auto rank = static_cast<std::int64_t>(in.size());
      for (const std::int64_t dim : *dims) {
        const std::int64_t d = dim < 0 ? dim + rank : dim;
        if (d < 0 || d >= rank)
          return std::nullopt;
        if (in[static_cast<std::size_t>(d)] > 0)
          n_out /= static_cast<double>(in[static_cast<std::size_t>(d)]);
      }
    }
  }
  std::string kind = "sum";
  for (const char* word : {"mean", "max", "min", "norm"})
    if (contains(c.op.name, word)) {
      kind = word;
      break;
    }
  const double bpe = type_bytes(type);
  PerfResult r;
  r.flops = n_in;
  r.bytes = (n_in + n_out) * bpe;
  r.flops_bwd = n_in;
  r.bytes_bwd = r.bytes; // reads the gradient of each output, writes the gradient of each input
  r.params = {{"num_input_elems", repr_count(n_in)},
              {"num_output_elems", repr_count(n_out)},
              {"dtype_in_out", repr_types({type, ""})}};
  if (recorded)
    r.params.emplace_back("reduce_type", "'" + kind + "'");
  r.compute_spec = compute_spec("vector", type);
  return r;
}

constexpr auto kPointwiseStrides = ReferenceNeeds::kShapesAndStrides;
constexpr Entry kPointwiseModels[] = {
    {"aten_unary_elementwise", unary, 0, kPointwiseStrides},
    {"aten_binary_elementwise", binary, 0, kPointwiseStrides},
    {"liger_silu_mul_function", binary, 0, kPointwiseStrides},
    {"aten_replication_pad", resize, 0, kPointwiseStrides},
    {"aten_upsample_nearest", resize, 0, kPointwiseStrides},
    {"aten_reduce", reduce, 0, ReferenceNeeds::kNothing},
};

} // namespace

std::span<const Entry> pointwise_models() {
  return kPointwiseModels;
}

} // namespace rankscope::op_model
