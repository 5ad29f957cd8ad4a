// The operators that have a cost model, with their category and sheet family
// (docs/reference/report-rules.md 13).
#pragma once

#include <span>
#include <string_view>

namespace rankscope {

struct OpInfo {
  std::string_view name;
  std::string_view model;        ///< key of the cost model
  std::string_view category;     ///< op category of the operator
  std::string_view bwd_category; ///< category of its backward work; empty = no backward work
  std::string_view family;       ///< sheet family, e.g. "GEMM"
  bool beyond = false;           ///< the reference has no model for it; left out in compat mode
};

/// Returns all operators that have a cost model, in the order of the sheets.
[[nodiscard]] std::span<const OpInfo> modelled_ops();
/// Returns nullptr if the operator has no cost model. O(1).
[[nodiscard]] const OpInfo* find_op(std::string_view name);

/// Returns the category of an operator: from the registry, else from the beginning of its name,
/// else from its first kernel (by start time), else "other". `first_kernel` may be empty.
[[nodiscard]] std::string_view op_category(std::string_view op, std::string_view first_kernel);

} // namespace rankscope
