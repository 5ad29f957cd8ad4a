// Tests the cost of attention in a server step with hand-calculated values: many requests in one
// call, whose lengths are in the annotation of the step.
#include "model/ops/op_model.h"
#include "model/ops/op_registry.h"

#include <cmath>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

const char* const kStepAttentionBf16 =
    R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16"])";

std::string step(const char* context, const char* generation) {
  return std::string("execute_1_context_1(") + context + ")_generation_1(" + generation + ")";
}
constexpr const char* kNone = "sq0sk0sqsq0sqsk0";

PerfResult cost(const char* op, const char* dims, const std::string& annotation,
                const std::string& concrete = "[]", bool compat = false) {
  const OpInfo* info = find_op(op);
  EXPECT_NE(info, nullptr) << op;
  ModelHints hints;
  hints.annotation = annotation;
  const auto r = evaluate(*info, ParsedArgs(dims, kStepAttentionBf16, "", concrete), hints, compat);
  EXPECT_TRUE(r) << op;
  return r.value_or(PerfResult{});
}

// 32 requests with one token each, 55,086 keys in total, 64 query heads and 8 key heads of width
// 64:
// 64 x (64 + 64) x 2 x 55086; 32 x 128 x (64 + 8) x 2 + (55086 - 32) x 128 x 8 x 2 bytes
TEST(StepAttention, DecodeOfVllm) {
  for (const bool compat : {false, true}) {
    const PerfResult r =
        cost("vllm::unified_attention_with_output", "[[32, 64, 64], [32, 8, 64], [32, 8, 64]]",
             step(kNone, "sq32sk55086sqsq32sqsk55086"), "[]", compat);
    EXPECT_EQ(r.flops, 902529024);
    EXPECT_EQ(r.bytes, 113340416);
    EXPECT_EQ(r.compute_spec, "matrix_bf16");
  }
}

// 15 prompts of 1024 tokens without history, 32 query heads and 8 key heads of width 128: the lower
// triangle, 32 x 256 x (2 - 1) x 15 x 1024^2; 15360 x 256 x 40 x 2 bytes = 300 MiB
TEST(StepAttention, PrefillOfSglang) {
  const PerfResult r =
      cost("aiter::mha_batch_prefill", "[[15360, 32, 128], [20000, 8, 128], [20000, 8, 128]]",
           "step[EXTEND bs=15 toks=15360 c_sq=15360 c_sk=15360 c_sqsq=15728640 c_sqsk=15728640]");
  EXPECT_EQ(r.flops, 128849018880);
  EXPECT_EQ(r.bytes, 300 * 1024 * 1024);
}

// A chunk of 4 tokens after 6 tokens: the rows attend to 7, 8, 9 and 10 keys, which is 4 x 10 minus
// the upper half of the chunk's square; and a decode of 2 tokens with 11 keys. 2 query heads, 1 key
// head, width 8, V of width 4: 2 x 12 x (2 x 40 - 16 + 2 x 11); (4 + 2) x 12 x 3 x 2 + ((10 - 4) +
// (11 - 2)) x 12 x 2 bytes
TEST(StepAttention, ChunksAndDecodeTogether) {
  const PerfResult r = cost("aiter::fmha_v3_varlen_fwd", "[[6, 2, 8], [6, 1, 8], [6, 1, 4]]",
                            step("sq4sk10sqsq16sqsk40", "sq2sk11sqsq2sqsk11"));
  EXPECT_EQ(r.flops, 24 * (80 - 16 + 22));
  EXPECT_EQ(r.bytes, 432 + 360);
}

// q, K and V are inputs 2 to 4, with pages of 16; d 64, V 32: 4 x 96 x 2 x 90
TEST(StepAttention, Paged) {
  const PerfResult r = cost("sglang_profiler::attention_paged_attention_ragged",
                            "[[], [], [3, 4, 64], [10, 16, 2, 64], [10, 16, 2, 32]]",
                            step(kNone, "sq3sk90sqsq3sqsk90"));
  EXPECT_EQ(r.flops, 4 * 96 * 180);
  EXPECT_EQ(r.bytes, 3 * 96 * 6 * 2 + 87 * 96 * 2 * 2);
}

// A window of 100 keys: the two tokens attend to 200 of 300 keys.
TEST(StepAttention, SlidingWindow) {
  std::string concrete = "[";
  for (int i = 0; i < 19; ++i)
    concrete += "\"\", ";
  const auto at = [&](const char* window) {
    return cost("aiter::pa_decode_gluon", "[[2, 8, 64], [2, 8, 64], [10, 1, 64]]",
                step("sq9sk9sqsq81sqsk81", "sq2sk300sqsq2sqsk300"),
                concrete + "\"" + window + "\"]");
  };
  // only decode: another kernel processes the prefill
  EXPECT_EQ(at("100").flops, 8 * 128 * 2 * 200);
  EXPECT_EQ(at("100").bytes, 2 * 128 * 9 * 2 + 198 * 128 * 2);
  EXPECT_EQ(at("0").flops, 8 * 128 * 2 * 300);
}

// 4 value heads and 2 key heads, d_k 8, d_v 16: 2 x 2 x 8 + 4 x 16 = 96 columns; 5 tokens
TEST(StepAttention, GatedDeltaRule) {
  const PerfResult r = cost("vllm::gdn_attention_core", "[[5, 96], [5, 4], [5, 4], [5, 4, 16]]",
                            step(kNone, "sq5sk50sqsq5sqsk50"));
  EXPECT_EQ(r.flops, 7 * 5 * 4 * 16 * 8);
  EXPECT_EQ(r.bytes, 2 * 5 * 4 * (8 + 2 * 16 + 2));
}

TEST(StepAttention, WithoutTheLengthsNothingIsKnown) {
  for (const char* name : {"", "ProfilerStep#3", "execute_context_1(5)_generation_0(0)",
                           "execute_1_context_1(sq1sk1sqsq1"}) {
    const PerfResult r = cost("aiter::mha_varlen_fwd", "[[6, 2, 8], [6, 1, 8], [6, 1, 8]]", name);
    EXPECT_TRUE(std::isnan(r.flops)) << name;
  }
}

} // namespace
} // namespace rankscope
