// Tests all forms of annotations of serving steps.
#include "model/step_annotation.h"

#include <gtest/gtest.h>
#include <string>

namespace rankscope {
namespace {

StepCounts counts(std::string_view name) {
  const auto out = parse_step_counts(name);
  EXPECT_TRUE(out) << name;
  return out.value_or(StepCounts{});
}

TEST(StepCounts, Vllm) {
  const StepCounts s = counts("execute_40_context_2(sq300sk500sqsq50000sqsk80000)_generation_30("
                              "sq30sk6000sqsq30sqsk6000) and more");
  EXPECT_EQ(s.kind, StepKind::kVllm);
  EXPECT_EQ(s.context_requests, 2);
  EXPECT_EQ(s.generation_requests, 30);
  EXPECT_EQ(s.batch_size, 330);
  EXPECT_EQ(s.requests(), 32);
  EXPECT_EQ(s.sums.c_sqsk, 80000);
  EXPECT_EQ(phase_of(s), StepPhase::kMixed);
  const StepCounts brief = counts("execute_context_0(0)_generation_17(17)");
  EXPECT_EQ(brief.kind, StepKind::kVllmShort);
  EXPECT_EQ(brief.batch_size, 17);
  EXPECT_FALSE(has_all_sums(brief.kind));
  EXPECT_EQ(phase_of(brief), StepPhase::kDecode);
}

// Speculative decoding: two tokens for each of 64 requests.
TEST(StepCounts, Sglang) {
  const StepCounts s = counts("step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=262144 g_sk=131072]");
  EXPECT_EQ(s.kind, StepKind::kSglang);
  EXPECT_EQ(s.generation_requests, 64);
  EXPECT_EQ(s.batch_size, 128);
  EXPECT_EQ(s.sums.g_sk, 131072);
  const StepCounts mixed = counts("step[MIXED bs=9 c=2 g=7 c_sq=100 c_sqsq=5000 g_sq=7]");
  EXPECT_EQ(mixed.context_requests, 2);
  EXPECT_EQ(mixed.generation_requests, 7);
  EXPECT_EQ(mixed.batch_size, 107);
  const StepCounts brief = counts("step[EXTEND bs=15 toks=15360]");
  EXPECT_EQ(brief.kind, StepKind::kSglangShort);
  EXPECT_EQ(brief.context_requests, 15);
  EXPECT_EQ(brief.batch_size, 15360);
  EXPECT_EQ(phase_of(brief), StepPhase::kPrefill);
  EXPECT_EQ(counts("step[DECODE bs=8]").batch_size, 8);
  EXPECT_FALSE(parse_step_counts("step[DECODE bs=8 x=1]")); // the short form has no other values
}

// The short form of a mode other than EXTEND and DECODE does not divide its values between prefill
// and decode.
TEST(StepCounts, ModesOfSglangsShortForm) {
  const auto phase = [](const char* mode) {
    return phase_of(counts("step[" + std::string(mode) + " bs=3 toks=12]"));
  };
  EXPECT_EQ(phase("EXTEND"), StepPhase::kPrefill);
  EXPECT_EQ(phase("DECODE"), StepPhase::kDecode);
  EXPECT_EQ(phase("MIXED"), StepPhase::kMixed);
  EXPECT_EQ(phase("IDLE"), StepPhase::kIdle);
  EXPECT_EQ(phase("TARGET_VERIFY"), StepPhase::kUnstated);
  EXPECT_EQ(phase_name(StepPhase::kUnstated), "");
  EXPECT_FALSE(counts("step[EXTEND bs=3 toks=12]").phase);
  const char* const mixed = "step[MIXED bs=3 toks=12]";
  EXPECT_EQ(counts(mixed).requests(), 3);
  EXPECT_FALSE(parse_step_annotation(mixed));               // no sums are known
  EXPECT_EQ(parse_step_annotation(mixed, false)->c_sq, 12); // as in the reference
}

TEST(StepCounts, AtomAndDiffusion) {
  const StepCounts s = counts("decode[bs=117/128 tok=117 d=117]");
  EXPECT_EQ(s.kind, StepKind::kAtomShort);
  EXPECT_EQ(s.generation_requests, 117);
  EXPECT_EQ(s.batch_size, 117);
  EXPECT_EQ(counts("prefill[bs=2 tok=10 sk=12 sqsq=52 sqsk=60]").kind, StepKind::kAtom);
  const StepCounts d = counts("execute_diffusion_4_1024x768");
  EXPECT_EQ(d.batch_size, 4);
  EXPECT_EQ(d.requests(), 0);
  EXPECT_EQ(phase_of(d), StepPhase::kDiffusion);
}

TEST(StepCounts, LengthsOfRequests) {
  using List = std::vector<std::int64_t>;
  EXPECT_EQ(step_request_lengths("prefill[bs=2 tok=14721 ctx=[7803, 6918] sqsq=1 sqsk=1 sk=14721]"),
            (List{7803, 6918}));
  EXPECT_EQ(step_request_lengths("decode[bs=3 tok=3 ctx=[5,6,7]]"), (List{5, 6, 7}));
  for (const char* name : {"", "decode[bs=3 tok=3 ctx=[5,6", "decode[bs=3 tok=3 ctx=[5;6]]",
                           "decode[bs=1 tok=1 ctx=[]]", "decode[bs=1 tok=1 ctx=[-4]]",
                           "step[DECODE bs=1 ctx=[4]]", " ctx=[4]"})
    EXPECT_TRUE(step_request_lengths(name).empty()) << name;
}

TEST(StepCounts, WhatIsNoStep) {
  for (const char* name :
       {"", "execute_", "execute_5_context_1(sq1sk1sqsq1sqsk1)", "step[", "step[]", "step[DECODE]",
        "decode[tok=5]", "decode[bs=4]", "decode[", "ProfilerStep#3", "execute_diffusion_4_10",
        "execute_5_context_-1(sq1sk1sqsq1sqsk1)_generation_0(sq0sk0sqsq0sqsk0)",
        " execute_context_0(0)_generation_1(1)"})
    EXPECT_FALSE(parse_step_counts(name)) << name;
  // numbers above 64 bits are not parsed; large numbers are limited to 64 bits
  EXPECT_FALSE(parse_step_counts("execute_context_0(0)_generation_1(99999999999999999999)"));
  EXPECT_GT(counts("execute_context_0(0)_generation_9223372036854775807(1)").requests(), 0);
}

} // namespace
} // namespace rankscope
