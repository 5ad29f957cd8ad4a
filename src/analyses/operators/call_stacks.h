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
  std::vector<std::string> common; ///< names that all chains begin with
  /// What each distinct chain goes on with, in the order of the kernels; empty = one chain only.
  std::vector<std::vector<std::string>> rests;

  /// As a Python list, the rests as lists inside; "Not found" without kernels.
  [[nodiscard]] std::string text() const;
  /// All names in the order of text().
  [[nodiscard]] std::vector<std::string_view> flat() const;
};

/// The chains of an operator's kernels: what is above the operator, itself, what is between it and
/// the kernel, the kernel. Kept are operators and names with "nn.Module", "::" or "/", without
/// "_<digits>" anywhere; kernels as they are.
[[nodiscard]] CallChain call_chain(const LoadedTrace& trace, EventId op,
                                   std::span<const EventId> kernels);

/// The frame that stands for the operator: behind its last place in the chain the first one of a
/// Python file with a function that is called like it; else before that place the nearest one of a
/// Python file that is no wrapper of PyTorch; "Not found".
[[nodiscard]] std::string entry_point(const CallChain& chain, std::string_view op);

struct PythonStack {
  std::string entry_point; ///< the frame that stands for the operator
  std::string text;        ///< Python list of all frames above it, outermost first; "" = none
};
/// The frames above an operator as they are; backward work, which runs on a thread of its own, has
/// those of its forward operator. Entry point: on the way down to the first kernel that has one,
/// the frame of a Python file whose function is called like the operator; else the innermost one
/// above it that is not PyTorch's, Triton's runtime's or a wrapper; else the innermost.
[[nodiscard]] PythonStack python_stack(const LoadedTrace& trace, EventId op,
                                       std::span<const EventId> kernels);

} // namespace rankscope
