#include "analyses/job/training_passes.h"

#include "base/ascii.h"

#include <algorithm>
#include <array>

namespace rankscope {

bool only_in_forward_pass(std::string_view op) {
  constexpr std::array<std::string_view, 16> kNames = {"aten::addmm",
                                                       "aten::native_layer_norm",
                                                       "aten::_fused_rms_norm",
                                                       "aten::native_group_norm",
                                                       "aten::native_batch_norm",
                                                       "aten::cudnn_batch_norm",
                                                       "aten::miopen_batch_norm",
                                                       "aten::cudnn_convolution",
                                                       "aten::miopen_convolution",
                                                       "aten::gelu",
                                                       "aten::silu",
                                                       "aten::relu",
                                                       "aten::clamp_min",
                                                       "aten::_softmax",
                                                       "aten::native_dropout",
                                                       "aten::embedding"};
  return std::ranges::find(kNames, op) != kNames.end() || contains(op, "attention_forward");
}

bool in_backward_pass(std::string_view context) {
  return context.starts_with("autograd::engine::evaluate_function");
}

bool in_optimizer_step(std::string_view context) {
  return context.starts_with("Optimizer.step");
}

bool in_gradient_hook(std::string_view context) {
  return in_backward_pass(context) && contains(context, "AccumulateGrad");
}

} // namespace rankscope
