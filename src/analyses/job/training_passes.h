// The forward and backward passes of a training step, by the names of operators.
#pragma once

#include <string_view>

namespace rankscope {

/// Returns whether the backward pass of this operator is another operator.
[[nodiscard]] bool only_in_forward_pass(std::string_view op);
/// `context`: the outermost operator around a launch.
[[nodiscard]] bool in_backward_pass(std::string_view context);
[[nodiscard]] bool in_optimizer_step(std::string_view context);
/// Returns whether a hook that runs when a gradient is ready made the launch.
[[nodiscard]] bool in_gradient_hook(std::string_view context);

} // namespace rankscope
