// Tests the models that the reference does not have, with hand-calculated values.
#include "model/ops/op_model.h"
#include "model/ops/op_registry.h"

#include <cmath>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

struct Cost {
  double flops, bytes;
};

Cost cost(const char* name, const char* dims, const char* types, const char* concrete = "",
          std::string_view kernel = {}) {
  const OpInfo* op = find_op(name);
  EXPECT_NE(op, nullptr) << name;
  EXPECT_TRUE(op->beyond) << name;
  ModelHints hints;
  hints.kernel = kernel;
  const auto r = evaluate(*op, ParsedArgs(dims, types, "", concrete), hints, false);
  return r ? Cost{r->flops, r->bytes} : Cost{-1, -1};
}

TEST(MemoryModels, SoftmaxReadsAndWritesOnce) {
  const Cost f = cost("aten::_softmax", "[[2, 1000], [], []]", R"(["float", "Scalar", "Scalar"])",
                      R"(["", "-1", "False"])");
  EXPECT_EQ(f.flops, 10000); // 5 * 2000
  EXPECT_EQ(f.bytes, 16000); // 2000 * (4 + 4)
  const Cost half = cost("aten::_log_softmax", "[[2, 1000], [], []]",
                         R"(["c10::Half", "Scalar", "Scalar"])", R"(["", "-1", "True"])");
  EXPECT_EQ(half.bytes, 12000); // 2000 * (2 + 4): half as input, float as output
  const Cost back = cost("aten::_softmax_backward_data", "[[2, 1000], [2, 1000], [], []]",
                         R"(["float", "float", "Scalar", "Scalar"])");
  EXPECT_EQ(back.flops, 8000);
  EXPECT_EQ(back.bytes, 24000);
}

TEST(MemoryModels, ListsTakeTheirTypeFromTheKernel) {
  const char* const dims = "[[[4, 1, 768], [4, 196, 768]], []]"; // 605184 elements
  const char* const types = R"(["TensorList", "Scalar"])";
  const Cost cat = cost("aten::cat", dims, types, "",
                        "void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::"
                        "(anonymous namespace)::OpaqueType<2u>, unsigned int, 3, 64, 64>(...)");
  EXPECT_EQ(cat.flops, 0);
  EXPECT_EQ(cat.bytes, 2 * 605184 * 2);
  EXPECT_EQ(cost("aten::cat", dims, types, "", "CatArrayBatchedCopy<float, unsigned int>").bytes,
            2 * 605184 * 4);
  EXPECT_TRUE(std::isnan(cost("aten::cat", dims, types, "", "Memcpy DtoD").bytes));
  const Cost add = cost("aten::_foreach_add_",
                        "[[[128, 128], [128]], [[128, 128], [128]], []]", // 16512 elements per list
                        R"(["TensorList", "TensorList", "Scalar"])", "",
                        "multi_tensor_apply_kernel<TensorListMetadata<2>, "
                        "BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>, float>");
  EXPECT_EQ(add.flops, 16512);
  EXPECT_EQ(add.bytes, 3 * 16512 * 4); // both lists are read, the first is written
}

TEST(MemoryModels, PoolingByItsOutput) {
  // (112 + 2 - 3) / 2 + 1 = 56: 2007040 outputs with 9 taps, 8028160 inputs
  const char* const dims = "[[10, 64, 112, 112], [], [], [], [], []]";
  const char* const types =
      R"(["c10::BFloat16", "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar"])";
  const char* const concrete = R"(["", "[3, 3]", "[2, 2]", "[1, 1]", "[1, 1]", "False"])";
  const Cost pool = cost("aten::max_pool2d_with_indices", dims, types, concrete);
  EXPECT_EQ(pool.flops, 2007040.0 * 9);
  EXPECT_EQ(pool.bytes, 8028160.0 * 2 + 2007040.0 * 10);
  // ceil mode: (113 + 2 - 3 + 1) / 2 + 1 = 57
  const Cost ceil = cost("aten::max_pool2d_with_indices", "[[1, 1, 113, 114], [], [], [], [], []]",
                         types, R"(["", "[3]", "[2]", "[1]", "[1]", "True"])");
  EXPECT_EQ(ceil.flops, 57.0 * 58 * 9);
  // kernel size not recorded
  EXPECT_EQ(cost("aten::max_pool2d_with_indices", dims, types).flops, -1);
}

TEST(MemoryModels, IndicesAndWhatTheyChoose) {
  // 141 rows of 512: the index is read, the rows are read and written
  EXPECT_EQ(cost("aten::index_select", "[[2, 512], [], [141]]",
                 R"(["c10::BFloat16", "Scalar", "long int"])", R"(["", "0", ""])")
                .bytes,
            141 * 8 + 2 * 141 * 512 * 2);
  EXPECT_EQ(
      cost("aten::gather", "[[50], [], [1000], []]", R"(["float", "Scalar", "long", "Scalar"])")
          .bytes,
      1000 * (8 + 2 * 4));
  const Cost added = cost("aten::scatter_add_", "[[50], [], [1000], [1000]]",
                          R"(["float", "Scalar", "long", "float"])");
  EXPECT_EQ(added.flops, 1000);
  EXPECT_EQ(added.bytes, 1000 * (8 + 3 * 4));
  EXPECT_EQ(cost("aten::scatter_", "[[50], [], [1000], [1000]]",
                 R"(["float", "Scalar", "long", "float"])")
                .bytes,
            1000 * (8 + 2 * 4));
}

TEST(MemoryModels, ElementsByTheirTensors) {
  EXPECT_EQ(cost("aten::fill_", "[[5, 128], []]", R"(["float", "Scalar"])").bytes, 640 * 4);
  EXPECT_EQ(cost("aten::where", "[[100, 1], [100, 1], []]", R"(["bool", "float", "float"])").bytes,
            100 * (1 + 4 + 4));
  EXPECT_EQ(
      cost("aten::masked_fill_", "[[100], [100], []]", R"(["float", "bool", "Scalar"])").bytes,
      100 * (1 + 2 * 4));
  EXPECT_EQ(cost("aten::eq", "[[100], []]", R"(["long int", "Scalar"])").bytes, 100 * (8 + 1));
  EXPECT_EQ(cost("aten::lt", "[[100], [100]]", R"(["float", "float"])").bytes, 100 * (4 + 4 + 1));
  EXPECT_EQ(cost("aten::addcmul_", "[[100], [100], [100], []]",
                 R"(["float", "float", "float", "Scalar"])")
                .bytes,
            4 * 100 * 4);
  EXPECT_EQ(
      cost("aten::native_dropout", "[[100], [], []]", R"(["c10::Half", "Scalar", "Scalar"])").bytes,
      100 * (2 + 2 + 1));
  EXPECT_EQ(cost("aten::tanh_backward", "[[100], [100]]", R"(["float", "float"])").bytes, 1200);
  EXPECT_EQ(cost("aten::gelu", "[[100], []]", R"(["c10::BFloat16", ""])").bytes, 400);
}

TEST(MemoryModels, UpsamplingAndPaddingCountTheirOutput) {
  const OpInfo* up = find_op("aten::upsample_nearest1d");
  const auto r = evaluate(*up,
                          ParsedArgs("[[1, 768, 8], [], []]", R"(["float", "ScalarList", ""])",
                                     "[]", R"(["", "[128]", ""])"),
                          {}, true);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->flops, 98304); // the reference has 9.8304e-05 GFLOP
  EXPECT_EQ(r->bytes, (768 * 8 + 98304) * 4);
  EXPECT_EQ(r->params.at(1).second, "(1, 768, 128)");
  // 2 x 3 x 10, padded by 2 and 1 in the last dimension: 2 x 3 x 13
  const OpInfo* pad = find_op("aten::replication_pad1d");
  ASSERT_NE(pad, nullptr);
  const auto padded = evaluate(
      *pad, ParsedArgs("[[2, 3, 10], []]", R"(["float", "ScalarList"])", "[]", R"(["", "[2, 1]"])"),
      {}, true);
  ASSERT_TRUE(padded);
  EXPECT_EQ(padded->bytes, (2 * 3 * 10 + 2 * 3 * 13) * 4);
}

} // namespace
} // namespace rankscope
