// Declarations for the op_model_*.cpp files. Each model is a function, found by its key in the
// registry.
#pragma once

#include "model/ops/op_model.h"

namespace rankscope::op_model {

struct Call {
  const OpInfo& op;
  const ParsedArgs& args;
  const ModelHints& hints;
  bool compat;
};
using Model = std::optional<PerfResult> (*)(const Call&);
/// What the reference needs to compute the costs of a call.
enum class ReferenceNeeds { kShapes, kShapesAndStrides, kNothing };
struct Entry {
  std::string_view key; ///< value of OpInfo::model
  Model model;
  unsigned needs = 0; ///< inputs in ModelHints that the model needs
  ReferenceNeeds reference_needs = ReferenceNeeds::kShapes;
};

[[nodiscard]] std::span<const Entry> gemm_models();
[[nodiscard]] std::span<const Entry> conv_models();
[[nodiscard]] std::span<const Entry> attention_models();
[[nodiscard]] std::span<const Entry> pointwise_models();
[[nodiscard]] std::span<const Entry> norm_models();
[[nodiscard]] std::span<const Entry> other_models();
[[nodiscard]] std::span<const Entry> inference_attention_models();
[[nodiscard]] std::span<const Entry> moe_models();
[[nodiscard]] std::span<const Entry> fused_models();
[[nodiscard]] std::span<const Entry> memory_models();

[[nodiscard]] std::string repr(const Shape& shape);
[[nodiscard]] inline std::string repr(bool v) {
  return v ? "True" : "False";
}
[[nodiscard]] inline std::string repr(std::int64_t v) {
  return std::to_string(v);
}
/// Returns a count that was computed as a double: as an integer if it is exact, otherwise as a
/// float.
[[nodiscard]] std::string repr_count(double v);
/// Returns the types as a Python tuple; "" becomes None.
[[nodiscard]] std::string repr_types(std::initializer_list<std::string> types);
/// Returns "<kind>_<precision>" or "".
[[nodiscard]] std::string compute_spec(std::string_view kind, std::string_view type);

/// Returns type_bytes(), or `fallback` if the type is unknown.
[[nodiscard]] double type_bytes_or(std::string_view type, double fallback);

using Params = decltype(PerfResult::params);
/// Returns op_shape, dtype_in_out, stride_input and stride_output. `out` may be "".
[[nodiscard]] Params io_params(const Shape& shape, const std::string& in, const std::string& out,
                               std::string stride_in, std::string stride_out = "None");
/// Returns io_params() extended by num_channels, has_bias, is_affine and is_training.
[[nodiscard]] Params norm_params(const Shape& shape, const std::string& type, std::string stride,
                                 std::string channels, bool has_bias, bool affine, bool training);

/// Copies the backward costs to the forward fields, because the operator itself is a backward
/// operator.
inline void turn_backward(PerfResult& r) {
  r.flops = r.flops_bwd;
  r.bytes = r.bytes_bwd;
  r.flops_bwd = r.bytes_bwd = kUnknown;
}

/// Returns the costs of an operator without a backward model.
[[nodiscard]] inline PerfResult costs(double flops, double bytes, Params params, std::string spec) {
  return {flops, bytes, kUnknown, kUnknown, std::move(params), std::move(spec)};
}

/// Returns the bytes of a tensor argument: elements times bytes per element; NaN when the type is
/// unknown.
[[nodiscard]] inline double tensor_bytes(const Call& c, std::size_t i) {
  return elements(c.args.dims(i)) * type_bytes(c.args.type(i));
}

} // namespace rankscope::op_model
