// Tests that the generator records every argument that the profiler records: complete lists for
// each operator.
#include "synth/synth_program.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

namespace rankscope::synth {
namespace {

TEST(SynthArgs, MembersAsTheProfilerWritesThem) {
  const Args args = {Tensor{{2, 3}, {}},
                     Tensor{{3, 5}, {1, 3}, "float"},
                     Arg::tensors({{{7}, {}}, {{2, 2}, {}}}),
                     Arg::list("[0, 1]"),
                     Arg::scalar("True"),
                     Arg::none()};
  EXPECT_EQ(input_dims(args), "[[2, 3], [3, 5], [[7], [2, 2]], [], [], []]");
  EXPECT_EQ(argument_members(args),
            "\"Concrete Inputs\": [\"\", \"\", \"\", \"[0, 1]\", \"True\", \"\"], "
            "\"Input type\": [\"c10::BFloat16\", \"float\", \"TensorList\", \"ScalarList\", "
            "\"Scalar\", \"\"], "
            "\"Input Strides\": [[3, 1], [1, 3], [[1], [2, 1]], [], [], []], "
            "\"Input Dims\": [[2, 3], [3, 5], [[7], [2, 2]], [], [], []]");
  EXPECT_EQ(argument_members({}), "");
}

TEST(SynthArgs, EveryOperatorHasAllArgumentsOfItsSchema) {
  // number of arguments in PyTorch's native_functions.yaml, and in the schemas of c10d
  const std::map<std::string, std::size_t> expected = {
      {"aten::to", 8},
      {"aten::copy_", 3},
      {"aten::embedding", 5},
      {"aten::layer_norm", 6},
      {"aten::native_layer_norm", 5},
      {"aten::native_layer_norm_backward", 8},
      {"aten::empty", 6},
      {"aten::linear", 3},
      {"aten::t", 1},
      {"aten::transpose", 3},
      {"aten::as_strided", 4},
      {"aten::addmm", 5},
      {"aten::mm", 2},
      {"aten::sum", 4},
      {"aten::add", 3},
      {"aten::add_", 3},
      {"aten::gelu", 2},
      {"aten::gelu_backward", 3},
      {"aten::scaled_dot_product_attention", 8},
      {"aten::_scaled_dot_product_flash_attention", 7},
      {"aten::_flash_attention_forward", 15},
      {"aten::_scaled_dot_product_flash_attention_backward", 15},
      {"aten::_flash_attention_backward", 17},
      {"aten::cross_entropy_loss", 6},
      {"aten::_log_softmax", 3},
      {"aten::_log_softmax_backward_data", 4},
      {"aten::detach", 1},
      {"aten::_foreach_norm", 3},
      {"aten::_fused_adamw_", 15},
      {"aten::zero_", 1},
      {"aten::item", 1},
      {"aten::_local_scalar_dense", 1},
      {"c10d::_allgather_base_", 3},
      {"c10d::_reduce_scatter_base_", 5},
      {"c10d::allreduce_", 5},
      {"nccl:_all_gather_base", 1},
      {"nccl:_reduce_scatter_base", 1},
      {"nccl:all_reduce", 1},
      {"torch::autograd::AccumulateGrad", 1},
      {"AddBackward0", 1},
      {"AddmmBackward0", 1},
      {"GeluBackward0", 1},
      {"LogSoftmaxBackward0", 1},
      {"MmBackward0", 1},
      {"NativeLayerNormBackward0", 1},
      {"ScaledDotProductFlashAttentionBackward0", 1},
      {"TBackward0", 1},
      // annotations of the profiler and of the autograd engine, which have no arguments
      {"ProfilerStep", 0},
      {"Optimizer.step#AdamW.step", 0},
      {"Optimizer.zero_grad#AdamW.zero_grad", 0},
  };
  for (const int process_groups : {1, 2}) {
    Options options;
    options.process_groups = process_groups;
    options.ranks = 4;
    options.layers = 2;
    const Program program = make_program(options, make_groups(options));
    std::set<std::string> seen;
    for (const Op& op : program.ops) {
      if (op.name.starts_with("autograd::engine::evaluate_function: ")) {
        EXPECT_TRUE(op.args.empty()) << op.name;
      } else if (op.name == "record_param_comms") { // the emitter adds the rank
        EXPECT_GE(op.collective, 0);
      } else {
        ASSERT_TRUE(expected.contains(op.name)) << op.name;
        EXPECT_EQ(op.args.size(), expected.at(op.name)) << op.name;
      }
      seen.insert(op.name);
    }
    for (const auto& [name, count] : expected)
      EXPECT_TRUE(seen.contains(name)) << name;
  }
}

} // namespace
} // namespace rankscope::synth
