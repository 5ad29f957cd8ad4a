// Call stacks of operators as the reference shows them: from the outermost frame through the
// operator to its kernels (docs/inference.md).
#pragma once

#include "core/loaded_trace.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

struct CallChain {
  std::vector<std::string> common; ///< names at the start of all chains
  /// Remaining names of each distinct chain, in the order of the kernels; empty if there is only
  /// one chain.
  std::vector<std::vector<std::string>> rests;

  /// Returns a Python list with each rest as an inner list; "Not found" without kernels.
  [[nodiscard]] std::string text() const;
  /// Returns all names in the order of text().
  [[nodiscard]] std::vector<std::string_view> flat() const;
};

/// Returns the chains of an operator's kernels: the events above the operator, the operator, the
/// events between operator and kernel, the kernel. A chain contains operators and names with
/// "nn.Module", "::" or "/". Each "_<digits>" is removed, except in kernel names.
[[nodiscard]] CallChain call_chain(const LoadedTrace& trace, EventId op,
                                   std::span<const EventId> kernels);

/// Returns the Python frame that represents the operator: the first frame that has the operator's
/// name in its function and is after the operator's last occurrence in the chain. Without such a
/// frame: the nearest frame before that position that is not a PyTorch wrapper; otherwise "Not
/// found".
[[nodiscard]] std::string entry_point(const CallChain& chain, std::string_view op);

struct PythonStack {
  std::string entry_point; ///< the frame that represents the operator
  /// Python list of all frames above the operator, outermost first; "" without frames.
  std::string text;
};
/// Returns the unchanged frames above an operator. Backward work runs on a separate thread and gets
/// the frames of its forward operator. Entry point: for the first kernel that has one, the
/// outermost frame between operator and kernel with a function that contains the operator's name.
/// Without such a frame: the innermost frame above the operator that is neither from PyTorch or
/// Triton nor a wrapper; otherwise the innermost frame.
[[nodiscard]] PythonStack python_stack(const LoadedTrace& trace, EventId op,
                                       std::span<const EventId> kernels);

} // namespace rankscope
