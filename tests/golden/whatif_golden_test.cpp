// Compares stragglers of two pipeline-parallel jobs with the published results of a study
// (github.com/ByteDance-Seed/StragglerAnalysis): slowdowns, M_W, M_S and the ideal timelines.
#include "analyses/job/whatif.h"
#include "findings/rules.h"
#include "findings/straggler_findings.h"
#include "golden/golden_data.h"
#include "readers/pipeline_timeline.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <simdjson.h>
#include <tuple>

namespace rankscope {
namespace {

constexpr double kOfRatios = 1e-4; ///< the study calculates with 32-bit floats
/// For the first operation of some steps, the study's table has other starts than its timeline: one
/// gather in step 1026 of ST starts 0.25 ms earlier.
constexpr double kOfMeasured = 2e-4;

class WhatIfGolden : public testing::TestWithParam<const char*> {
protected:
  void SetUp() override {
    if (golden::root().empty())
      GTEST_SKIP() << golden::kAbsent;
    job_ = GetParam();
    Result<PipelineTimeline> timeline = read_pipeline_timeline(file("timeline-", ".json.gz"));
    ASSERT_TRUE(timeline) << timeline.error().message();
    timeline_ = std::move(*timeline);
    keep_steps_of_the_study();
    Result<PipelineRun> run = pipeline_run(timeline_, "timeline");
    ASSERT_TRUE(run) << run.error().message();
    run_ = std::move(*run);
    Result<WhatIf> whatif = whatif_of(run_.run, &run_.grid, {});
    ASSERT_TRUE(whatif) << whatif.error().message();
    whatif_ = std::move(*whatif);
  }
  [[nodiscard]] std::string file(const char* begin, const char* end) const {
    return (golden::root() / "whatif" / (begin + job_ + end)).string();
  }
  [[nodiscard]] const StragglerFacts& facts() const { return *whatif_.facts.stragglers; }
  simdjson::dom::element json(const char* begin) {
    return parser_.load(file(begin, ".json")).value();
  }
  /// The study's results leave out two of the 45 steps in the timeline of SE.
  void keep_steps_of_the_study() {
    std::vector<std::int64_t> steps;
    for (const auto [step, seconds] : simdjson::dom::object(json("result-")["step_t_base"].value()))
      steps.push_back(std::stoll(std::string(step)));
    std::ranges::sort(steps);
    std::vector<PipelineRow> rows;
    for (PipelineRow row : timeline_.rows) {
      const std::int64_t number = timeline_.steps[row.step];
      const auto at = std::ranges::lower_bound(steps, number);
      if (at == steps.end() || *at != number)
        continue;
      row.step = static_cast<std::uint32_t>(at - steps.begin());
      rows.push_back(row);
    }
    timeline_.rows = std::move(rows);
    timeline_.steps = std::move(steps);
  }
  static void expect_ratio(double ours, double theirs, const std::string& what,
                           double most = kOfRatios) {
    EXPECT_NEAR(ours / theirs, 1, most) << what << ": " << ours << ", study: " << theirs;
  }

  std::string job_;
  PipelineTimeline timeline_;
  PipelineRun run_;
  WhatIf whatif_;
  simdjson::dom::parser parser_;
};

TEST_P(WhatIfGolden, SlowdownsAreThoseOfTheStudy) {
  const simdjson::dom::element study = json("result-");
  expect_ratio(facts().slowdown(), double(study["blocking_slowdown"]), "S");
  expect_ratio(facts().delay_slowdown(), double(study["launch_slowdown"]), "launch");
  std::map<std::int64_t, std::size_t> row;
  for (std::size_t k = 0; k < facts().steps.size(); ++k)
    row[facts().steps[k].number] = k;
  std::size_t compared = 0;
  for (const auto& [name, time] : {std::pair("step_t_base", &StragglerStep::measured_ms),
                                   std::pair("step_t_nodelay", &StragglerStep::without_delays_ms),
                                   std::pair("step_t_noblk", &StragglerStep::ideal_ms)})
    for (const auto [step, seconds] : simdjson::dom::object(study[name])) {
      const StragglerStep& row_facts = facts().steps.at(row.at(std::stoll(std::string(step))));
      expect_ratio(row_facts.*time, 1e3 * double(seconds),
                   std::string(name) + " " + std::string(step),
                   time == &StragglerStep::measured_ms ? kOfMeasured : kOfRatios);
      ++compared;
    }
  EXPECT_EQ(compared, 3 * facts().steps.size());
  for (const auto& [name, group] :
       {std::pair("blocking_decompose_by_optype", StragglerGroup::kOperator),
        std::pair("blocking_decompose_by_dp_rank", StragglerGroup::kDataParallel),
        std::pair("blocking_decompose_by_stage", StragglerGroup::kStage)}) {
    std::map<std::string, const StragglerShare*> ours;
    for (const StragglerShare& share : facts().shares)
      if (share.group == group)
        ours[share.name] = &share;
    const simdjson::dom::object theirs = study[name];
    EXPECT_EQ(ours.size(), theirs.size()) << name;
    for (const auto [key, slowdown] : theirs) {
      ASSERT_TRUE(ours.contains(std::string(key))) << name << " " << key;
      expect_ratio(ours[std::string(key)]->slowdown, double(slowdown),
                   std::string(name) + " " + std::string(key));
    }
    const std::string by_step = std::string(name) + "_per_step";
    for (const auto [step, groups] : simdjson::dom::object(study[by_step]))
      for (const auto [key, slowdown] : simdjson::dom::object(groups))
        expect_ratio(ours[std::string(key)]->step_slow.at(row.at(std::stoll(std::string(step)))),
                     double(slowdown), by_step + " " + std::string(step) + " " + std::string(key));
  }
}

TEST_P(WhatIfGolden, WorstRanksAndLastStageExplainAsMuch) {
  for (const auto& [name, effect] :
       {std::pair("mw-", &facts().worst_ranks), std::pair("ms-", &facts().last_stage)}) {
    const simdjson::dom::element study = json(name);
    ASSERT_TRUE(*effect) << name;
    // both times are accurate to 1e-4, so this is the error of their ratio to the slowdown
    const double bar =
        kOfRatios * double(study["tori"]) / (double(study["tori"]) - double(study["tideal"]));
    EXPECT_NEAR((*effect)->removed, double(study["rem"]), bar) << name;
    EXPECT_NEAR((*effect)->added.value(), double(study["add"]), bar) << name;
    expect_ratio(facts().without_delays_ms, 1e3 * double(study["tori"]), name);
    expect_ratio(facts().ideal_ms, 1e3 * double(study["tideal"]), name);
  }
}

/// The causes are those of the study's artefact: ST has a long last stage; SE has sequences of
/// different lengths, and second a long last stage.
TEST_P(WhatIfGolden, TheMainCauseIsThatOfTheStudy) {
  ASSERT_TRUE(facts().correlation && facts().correlation->low);
  const MicroBatchCorrelation& correlation = *facts().correlation;
  std::size_t forwards = 0;
  for (const PipelineRow& row : timeline_.rows)
    forwards += row.op == PipelineOp::kForwardCompute ? 1 : 0;
  EXPECT_EQ(correlation.pairs, forwards);
  const std::vector<Finding> found = straggler_findings(whatif_.facts);
  if (job_ == "ST") {
    EXPECT_NEAR(correlation.coefficient, 0.673, 0.001);
    EXPECT_LT(*correlation.high, 0.9);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].rule, rules::slow_last_stage.id);
    return;
  }
  EXPECT_NEAR(correlation.coefficient, 0.992, 0.001);
  EXPECT_GT(*correlation.low, 0.99);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].rule, rules::sequence_lengths.id);
  EXPECT_NE(found[0].evidence.find("correlation coefficient 0.99"), std::string::npos);
  EXPECT_NE(found[0].evidence.find(" 22016 pairs"), std::string::npos);
  EXPECT_EQ(found[1].rule, rules::slow_last_stage.id);
  EXPECT_GT(*found[0].low, *found[1].high);
}

TEST_P(WhatIfGolden, IdealTimelineIsThatOfTheStudy) {
  Result<PipelineTimeline> study = read_pipeline_timeline(file("ideal-timeline-", ".json.gz"));
  ASSERT_TRUE(study) << study.error().message();
  const JobRun& run = run_.run;
  const std::vector<std::int64_t> start = replay_starts(run.graph, whatif_.edit);
  // by rank, step, operation and number; for collectives, the study shows only the transfers
  using Key = std::tuple<std::int64_t, std::int64_t, std::string, std::int64_t>;
  struct Span {
    std::int64_t start_ns = 0, end_ns = 0;
  };
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::size_t>, std::int64_t> seq;
  for (const PipelineRow& row : timeline_.rows)
    seq[{row.worker, row.start_ns, row.step, static_cast<std::size_t>(row.op)}] = row.seq;
  std::map<Key, Span> ours;
  for (NodeId n = 0; n < run.graph.size(); ++n) {
    if (!run.is_activity(n))
      continue;
    const RankNode& node = run.node(n);
    const auto step = static_cast<std::int64_t>(run.step_of(n));
    const std::int64_t begin = run.step_begin_ns[run.step_of(n)];
    ours[{run.rank_of[n], step, std::string(run.text(n, run.activity(n).name)),
          seq.at({run.rank_of[n], node.start_ns, step, node.activity})}] = {
        start[n] - begin, start[n] + whatif_.edit.dur_ns[n] - begin};
  }
  std::map<std::uint32_t, std::int64_t> begin;
  for (const PipelineRow& row : study->rows) {
    const auto [at, added] = begin.emplace(row.step, row.start_ns);
    at->second = std::min(at->second, row.start_ns);
  }
  ASSERT_EQ(ours.size(), study->rows.size());
  const double bar = kOfRatios * facts().ideal_ms * 1e6; // relative to a step
  std::size_t off = 0;
  for (const PipelineRow& row : study->rows) {
    const auto at =
        ours.find({row.worker, row.step,
                   std::string(kPipelineOpNames[static_cast<std::size_t>(row.op)]), row.seq});
    ASSERT_NE(at, ours.end());
    const std::int64_t theirs = row.start_ns - begin[row.step];
    if (std::abs(static_cast<double>(at->second.start_ns - theirs)) > bar ||
        std::abs(static_cast<double>(at->second.end_ns - theirs - row.dur_ns)) > bar)
      ++off;
  }
  EXPECT_EQ(off, 0U) << "of " << ours.size();
}

INSTANTIATE_TEST_SUITE_P(Jobs, WhatIfGolden, testing::Values("ST", "SE"),
                         [](const auto& instance) { return std::string(instance.param); });

} // namespace
} // namespace rankscope
