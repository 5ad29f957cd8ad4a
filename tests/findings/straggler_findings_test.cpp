// Tests the findings about stragglers, from handmade facts.
#include "findings/straggler_findings.h"

#include "base/display_text.h"
#include "findings/rules.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

StragglerEffect effect_of(double removed, double gain_ms, std::vector<std::int64_t> ranks = {}) {
  StragglerEffect out;
  out.ranks = std::move(ranks);
  out.removed = removed;
  out.gain_ms = gain_ms;
  out.low_ms = 0.9 * gain_ms;
  out.high_ms = 1.1 * gain_ms;
  return out;
}

/// Returns a job of 10 steps that take 1500 ms, and 1000 ms without stragglers. The last stage, the
/// worst rank and unequal micro-batches explain little.
WhatIfFacts straggling_job() {
  StragglerFacts s;
  s.without_delays_ms = 1500;
  s.ideal_ms = 1000;
  s.last_stage = effect_of(0.1, 50, {1, 3});
  s.worst_ranks = effect_of(0.04, 20, {2});
  s.equal_batches = effect_of(0.2, 100);
  s.even_stages = effect_of(0.04, 20);
  s.equal_and_even = effect_of(0.9, 450);
  s.correlation = {0.3, 0.25, 0.35, 80};
  WhatIfFacts out;
  out.pipeline = true;
  out.steps = 10;
  out.stragglers = std::move(s);
  return out;
}

TEST(StragglerFindings, LengthsAreNamedWithTheirCorrelation) {
  WhatIfFacts facts = straggling_job();
  facts.stragglers->equal_batches = effect_of(0.8, 400);
  facts.stragglers->correlation = {0.95, 0.93, 0.97, 80};
  const std::vector<Finding> found = straggler_findings(facts);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, rules::sequence_lengths.id);
  EXPECT_EQ(found[0].headline, "Micro-batches have different sequence lengths: 400 ms of a step");
  EXPECT_EQ(found[0].evidence,
            "With equal micro-batches, a step takes 400 ms less (95 % CI 360 to 440 ms, 10 steps); "
            "this is 80.0 % of the cost of stragglers. Among the micro-batches of a rank in a "
            "step, forward and backward durations have the correlation coefficient 0.950 (95 % CI "
            "0.930 to 0.970, 80 pairs)");
  EXPECT_FALSE(found[0].action.empty());
  EXPECT_EQ(found[0].value, 400);
  EXPECT_EQ(found[0].low, 360);
  EXPECT_NEAR(*found[0].high, 440, 1e-9);
  EXPECT_EQ(found[0].cost_ms, 400);
  EXPECT_EQ(found[0].steps, 10U);
}

TEST(StragglerFindings, LengthsNeedACorrelationAndAGain) {
  const auto rule_of = [](MicroBatchCorrelation correlation, StragglerEffect equal) {
    WhatIfFacts facts = straggling_job();
    facts.stragglers->correlation = correlation;
    facts.stragglers->equal_batches = std::move(equal);
    const std::vector<Finding> found = straggler_findings(facts);
    return found.size() == 1 ? found[0].rule : "";
  };
  const std::string_view spread = rules::spread_stragglers.id;
  EXPECT_EQ(rule_of({0.95, 0.9, 0.97, 80}, effect_of(0.8, 400)), rules::sequence_lengths.id);
  EXPECT_EQ(rule_of({0.95, 0.89, 0.97, 80}, effect_of(0.8, 400)), spread);
  EXPECT_EQ(rule_of({0.95, std::nullopt, std::nullopt, 80}, effect_of(0.8, 400)), spread);
  EXPECT_EQ(rule_of({0.95, 0.93, 0.97, 80}, effect_of(0.4, 200)), spread);
  StragglerEffect uncertain = effect_of(0.8, 400);
  uncertain.low_ms = -1;
  EXPECT_EQ(rule_of({0.95, 0.93, 0.97, 80}, uncertain), spread);
}

TEST(StragglerFindings, TheLargestGainIsFirst) {
  WhatIfFacts facts = straggling_job();
  facts.stragglers->equal_batches = effect_of(0.7, 350);
  facts.stragglers->correlation = {0.99, 0.98, 0.995, 80};
  facts.stragglers->last_stage = effect_of(0.8, 400, {1, 3});
  // the last stage explains more, but its work has to go to the other stages
  std::vector<Finding> found = straggler_findings(facts);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].rule, rules::sequence_lengths.id);
  EXPECT_EQ(found[1].rule, rules::slow_last_stage.id);
  EXPECT_EQ(found[1].headline, "The last pipeline stage takes longer than the others: 20.0 ms of a "
                               "step");
  EXPECT_EQ(
      found[1].evidence,
      "With the computation time spread evenly over the stages, a step takes 20.0 ms less "
      "(95 % CI 18.0 to 22.0 ms, 10 steps). With the usual durations on the last stage and no "
      "other change, it takes 400 ms less, which is 80.0 % of the cost of stragglers. With equal "
      "micro-batches and even stages, a step takes 450 ms less (95 % CI 405 to 495 ms, 10 "
      "steps)");
  facts.stragglers->even_stages = effect_of(0.75, 375);
  found = straggler_findings(facts);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].rule, rules::slow_last_stage.id);
  EXPECT_EQ(found[1].rule, rules::sequence_lengths.id);
}

TEST(StragglerFindings, ALastStageThatEvenStagesDoNotShortenIsNotNamed) {
  WhatIfFacts facts = straggling_job();
  facts.stragglers->last_stage = effect_of(0.8, 400, {1, 3});
  facts.stragglers->even_stages = effect_of(-0.02, -10);
  const std::vector<Finding> found = straggler_findings(facts);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, rules::spread_stragglers.id);
}

TEST(StragglerFindings, WithoutACauseTheSharesAreGiven) {
  const std::vector<Finding> found = straggler_findings(straggling_job());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].headline,
            "Stragglers cost 500 ms of a step; no single cause explains most of this");
  EXPECT_EQ(found[0].evidence,
            "Slowdown 1.500; the last stage explains 10.0 % of it, the rank with the largest "
            "slowdown explains 4.0 %, unequal micro-batches explain 20.0 %. Among the "
            "micro-batches of a rank in a step, forward and backward durations have the "
            "correlation coefficient 0.300 (95 % CI 0.250 to 0.350, 80 pairs)");
  // lengths are only advised where the data do not exclude them
  EXPECT_EQ(found[0].action.find("unequal sequence lengths"), std::string::npos);
  WhatIfFacts unknown = straggling_job();
  unknown.stragglers->correlation.reset();
  EXPECT_NE(straggler_findings(unknown).at(0).action.find("unequal sequence lengths"),
            std::string::npos);
}

TEST(StragglerFindings, ManyRanksFitTheHeadline) {
  WhatIfFacts facts = straggling_job();
  std::vector<std::int64_t> ranks(40);
  for (std::size_t k = 0; k < ranks.size(); ++k)
    ranks[k] = 100'000'000 + static_cast<std::int64_t>(k);
  facts.stragglers->worst_ranks = effect_of(0.8, 400, ranks);
  const std::vector<Finding> found = straggler_findings(facts);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, rules::slow_workers.id);
  EXPECT_LE(display_width(found[0].headline), kHeadlineWidth) << found[0].headline;
}

} // namespace
} // namespace rankscope
