// Shared by the op_model_*.cpp files: one function per model, looked up by the registry's key.
#pragma once

#include "model/op_model.h"

namespace rankscope::op_model {

struct Call {
  const OpInfo& op;
  const ParsedArgs& args;
  std::span<const std::string_view> kernels;
  bool compat;
};
using Model = std::optional<PerfResult> (*)(const Call&);
struct Entry {
  std::string_view key; ///< OpInfo::model
  Model model;
};

[[nodiscard]] std::span<const Entry> gemm_models();
[[nodiscard]] std::span<const Entry> conv_models();
[[nodiscard]] std::span<const Entry> attention_models();
[[nodiscard]] std::span<const Entry> pointwise_models();
[[nodiscard]] std::span<const Entry> norm_models();
[[nodiscard]] std::span<const Entry> other_models();

[[nodiscard]] std::string repr(const Shape& shape);
[[nodiscard]] inline std::string repr(bool v) {
  return v ? "True" : "False";
}
[[nodiscard]] inline std::string repr(std::int64_t v) {
  return std::to_string(v);
}
/// "" prints as None.
[[nodiscard]] std::string repr_types(std::initializer_list<std::string> types);
/// "<kind>_<precision>" or "".
[[nodiscard]] std::string compute_spec(std::string_view kind, std::string_view type);

} // namespace rankscope::op_model
