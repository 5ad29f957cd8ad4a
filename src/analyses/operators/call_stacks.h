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
  /// Remaining names of each distinct chain, in the order of the kernels; empty = one chain only.
  std::vector<std::vector<std::string>> rests;

  /// As a Python list, the rests as lists inside; "Not found" without kernels.
  [[nodiscard]] std::string text() const;
  /// All names in the order of text().
  [[nodiscard]] std::vector<std::string_view> flat() const;
};

/// Returns the chains of an operator's kernels: events above the operator, the operator, events
/// between it and the kernel, the kernel. A chain has operators and names with "nn.Module", "::" or
/// "/", with each "_<digits>" removed; kernel names are unchanged.
[[nodiscard]] CallChain call_chain(const LoadedTrace& trace, EventId op,
                                   std::span<const EventId> kernels);

/// Returns the Python frame that stands for the operator: after the operator's last place in the
/// chain, the first frame whose function contains its name. Else, before that place, the nearest
/// frame that is not a PyTorch wrapper. Else "Not found".
[[nodiscard]] std::string entry_point(const CallChain& chain, std::string_view op);

struct PythonStack {
  std::string entry_point; ///< the frame that stands for the operator
  std::string text;        ///< Python list of all frames above it, outermost first; "" = none
};
/// Returns the unchanged frames above an operator; backward work runs on a separate thread and gets
/// the frames of its forward operator. Entry point: the outermost frame between the operator and a
/// kernel whose function contains the operator's name, for the first kernel with such a frame. Else
/// the innermost frame above that is not from PyTorch or Triton, nor a wrapper; else the innermost.
[[nodiscard]] PythonStack python_stack(const LoadedTrace& trace, EventId op,
                                       std::span<const EventId> kernels);

} // namespace rankscope
