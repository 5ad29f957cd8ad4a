// Tests findings about configurations and ranks of a sweep: how often they are wrong without an
// effect, and how often an effect is found. Prints both tables.
#include "findings/sweep_findings.h"

#include "analyses/sweep/sweep_compare.h"
#include "base/display_text.h"
#include "cost.h"
#include "findings/rules.h"
#include "sanitized.h"

#include <cstdio>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>
#include <set>

namespace rankscope {
namespace {

constexpr int kSeeds = 100;
constexpr int kConfigurations = 4;
constexpr int kRanks = 4;
constexpr int kSimulatedSteps = 20;
constexpr double kNoiseMs = 1; ///< standard deviation of a step time

struct Effect {
  double faster_ms = 0;    ///< configuration 2 takes this much less time
  double straggler_ms = 0; ///< rank 1 computes this much longer ...
  bool others_wait = true; ///< ... and the other ranks wait for it in collectives
};

/// Returns records with steps of about 100 ms and independent noise per step of a configuration and
/// per rank's computation.
std::vector<RankRecord> simulated(unsigned seed, const Effect& effect) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, kNoiseMs);
  std::vector<RankRecord> out;
  const auto ns = [](double ms) { return static_cast<std::int64_t>(ms * 1e6); };
  for (int c = 0; c < kConfigurations; ++c) {
    const std::size_t first = out.size();
    for (int r = 0; r < kRanks; ++r) {
      RankRecord record;
      record.key.configuration.label = "c" + std::to_string(c);
      record.key.configuration.set(kThreads, std::int64_t{64} << c);
      record.key.configuration.set(kChannels, std::int64_t{28});
      record.key.rank = r;
      out.push_back(std::move(record));
    }
    for (int s = 0; s < kSimulatedSteps; ++s) {
      const double total = 100 + noise(random) - (c == 2 ? effect.faster_ms : 0);
      for (int r = 0; r < kRanks; ++r) {
        const bool late = r == 1 && effect.straggler_ms > 0;
        const double compute = 60 + noise(random) + (late ? effect.straggler_ms : 0);
        const double comm =
            30 + noise(random) / 4 - (late && effect.others_wait ? effect.straggler_ms : 0);
        StepTimes step;
        step.step = s;
        step.ns[static_cast<std::size_t>(TimeKind::kTotal)] = ns(total);
        step.ns[static_cast<std::size_t>(TimeKind::kComputation)] = ns(compute);
        step.ns[static_cast<std::size_t>(TimeKind::kTotalComm)] = ns(comm);
        step.ns[static_cast<std::size_t>(TimeKind::kExposedComm)] = ns(comm);
        out[first + static_cast<std::size_t>(r)].steps.push_back(step);
      }
    }
    for (std::size_t r = first; r < out.size(); ++r)
      for (std::size_t k = 0; k < kTimeKinds; ++k) {
        std::int64_t sum = 0;
        for (const StepTimes& step : out[r].steps)
          sum += step.ns[k];
        out[r].time_ns[k] = sum;
      }
  }
  return out;
}

std::vector<Finding> findings_of(const std::vector<RankRecord>& records) {
  SweepFacts facts;
  facts.records = records;
  return sweep_findings(facts);
}

struct Said {
  bool ranking = false; ///< a configuration differs significantly from the best one
  bool winner = false;
  bool slow_rank = false, waits = false;
  bool try_other = false;
};

Said said_of(const std::vector<RankRecord>& records) {
  const auto groups = by_configuration(records);
  const auto ranking = rank_by_steps(groups, TimeKind::kTotal);
  EXPECT_TRUE(ranking);
  Said out;
  for (const AgainstBest& o : ranking->others)
    out.ranking = out.ranking || o.significant();
  out.winner = ranking->winner() && ranking->best->configuration.label == "c2";
  for (const SlowRank& s : slow_ranks(groups).ranks) {
    out.slow_rank = out.slow_rank || s.rank == 1;
    out.waits = out.waits || s.waited.has_value();
  }
  for (const Finding& f : findings_of(records))
    out.try_other = out.try_other || f.rule == rules::try_further.id;
  return out;
}

// Regression test: each step of a rank was searched among all steps of the other ranks.
TEST(SweepCompare, CommonStepsGrowWithTheSteps) {
  test::expect_near_linear(test::kSanitized ? 1'000 : 4'000, [](std::size_t n) {
    std::vector<RankRecord> ranks(2);
    for (RankRecord& rank : ranks)
      for (std::size_t s = 0; s < n; ++s) {
        StepTimes step;
        step.step = static_cast<std::int64_t>(&rank == &ranks[0] ? s : n - 1 - s);
        step.ns[static_cast<std::size_t>(TimeKind::kTotal)] = 1'000'000 * (step.step + 1);
        rank.steps.push_back(step);
      }
    ConfigurationRanks group;
    group.ranks = {&ranks[0], &ranks[1]};
    const std::vector<double> means = step_means_ms(group, TimeKind::kTotal);
    ASSERT_EQ(means.size(), n);
    ASSERT_EQ(means.back(), static_cast<double>(n));
  });
}

TEST(SweepCompare, NullRunsAreSeldomWrong) {
  int ranking = 0, slow = 0, other = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const std::vector<RankRecord> records = simulated(seed, {});
    const Said said = said_of(records);
    ranking += said.ranking ? 1 : 0;
    slow += slow_ranks(by_configuration(records)).ranks.empty() ? 0 : 1;
    other += said.try_other ? 1 : 0;
  }
  std::printf("of %d sweeps without any effect: %d tell configurations apart, %d name a slow rank, "
              "%d say what to try\n",
              kSeeds, ranking, slow, other);
  EXPECT_LE(ranking, 5);
  EXPECT_LE(slow, 5);
  EXPECT_LE(other, 5);
}

TEST(SweepCompare, EffectsOfTwiceTheNoiseAreFound) {
  int winner = 0, slow = 0, waits = 0, no_waits = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    winner += said_of(simulated(seed, {2 * kNoiseMs, 0, true})).winner ? 1 : 0;
    const Said late = said_of(simulated(seed, {0, 2 * kNoiseMs, true}));
    slow += late.slow_rank ? 1 : 0;
    waits += late.waits ? 1 : 0;
    no_waits += said_of(simulated(seed, {0, 2 * kNoiseMs, false})).waits ? 1 : 0;
  }
  std::printf("of %d sweeps with an effect of twice the noise: %d name the fastest configuration, "
              "%d the slow rank, %d that the others wait; %d say so where they do not\n",
              kSeeds, winner, slow, waits, no_waits);
  EXPECT_GE(winner, 90); // the intervals allow for correlated steps
  EXPECT_GE(slow, 95);
  EXPECT_GE(waits, 95);
  EXPECT_LE(no_waits, 5);
}

// Regression test: an outlier step hid that a configuration is slower, because its variance was
// part of the interval.
TEST(SweepCompare, AnOutlyingStepIsLeftOutByName) {
  const auto with_checkpoints = [](unsigned seed, const Effect& effect, std::size_t many) {
    std::vector<RankRecord> records = simulated(seed, effect);
    for (RankRecord& r : records)
      for (std::size_t s = 0; s < many; ++s)
        r.steps[3 + s].ns[static_cast<std::size_t>(TimeKind::kTotal)] += 50'000'000;
    return records;
  };
  int winner = 0, ranking = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    winner += said_of(with_checkpoints(seed, {2 * kNoiseMs, 0, true}, 1)).winner ? 1 : 0;
    ranking += said_of(with_checkpoints(seed, {}, 1)).ranking ? 1 : 0;
  }
  std::printf("of %d sweeps with an outlying step in each configuration: %d name the fastest one; "
              "without an effect %d tell them apart\n",
              kSeeds, winner, ranking);
  EXPECT_GE(winner, 85);
  EXPECT_LE(ranking, 5);
  const std::vector<Finding> found = findings_of(with_checkpoints(3, {4, 0, true}, 1));
  EXPECT_NE(found[0].evidence.find("; step 3 of "), std::string::npos) << found[0].evidence;
  EXPECT_NE(found[0].evidence.find(" ms longer than the median step)"), std::string::npos);
  EXPECT_NE(found[0].evidence.find("; 2 more steps are left out"), std::string::npos)
      << found[0].evidence;
  // two slow steps are a mode, not an outlier
  const std::vector<RankRecord> modes = with_checkpoints(3, {}, 2);
  EXPECT_TRUE(outlying_steps(by_configuration(modes)).empty());
}

TEST(SweepCompare, OneStepIsNoSample) {
  std::vector<RankRecord> records = simulated(1, {5, 5, true});
  for (RankRecord& r : records)
    r.steps.resize(1);
  EXPECT_FALSE(rank_by_steps(by_configuration(records), TimeKind::kTotal));
  EXPECT_TRUE(slow_ranks(by_configuration(records)).tested.empty());
  const std::vector<Finding> findings = findings_of(records);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].rule, rules::not_ranked.id);
  EXPECT_NE(findings[0].headline.find("without a test"), std::string::npos) << findings[0].headline;
  for (const Finding& f : findings)
    EXPECT_NE(f.rule, rules::fastest.id);
}

TEST(SweepFindings, TheAnswerComesFirstWithItsInterval) {
  const std::vector<Finding> found = findings_of(simulated(3, {4, 4, true}));
  ASSERT_GE(found.size(), 5U);
  // 96 against 100 ms: all other configurations are slower
  EXPECT_EQ(found[0].rule, rules::fastest.id);
  EXPECT_EQ(found[0].headline.rfind("256 threads are fastest: ", 0), 0U) << found[0].headline;
  EXPECT_NE(found[0].evidence.find("95 % CI over 18 comparisons, at least 20 steps per "
                                   "configuration"),
            std::string::npos)
      << found[0].evidence;
  EXPECT_EQ(found[0].scope, FindingScope::kThisRun);
  EXPECT_EQ(found[0].steps, 20U);
  for (int i = 1; i < kConfigurations; ++i) {
    const Finding& slower = found[static_cast<std::size_t>(i)];
    EXPECT_EQ(slower.rule, rules::slower_configuration.id);
    EXPECT_NE(slower.headline.find(" threads cost "), std::string::npos) << slower.headline;
    EXPECT_NEAR(*slower.value, 4, 2);
    EXPECT_GT(*slower.low, 0);
    EXPECT_EQ(slower.cost_ms, slower.value);
  }
  const Finding& rank = found[kConfigurations];
  EXPECT_EQ(rank.rule, rules::slow_rank.id);
  EXPECT_EQ(rank.headline.rfind("Rank 1 computes ", 0), 0U) << rank.headline;
  EXPECT_NE(rank.evidence.find("; in 4 of 4 configurations, most in c"), std::string::npos)
      << rank.evidence;
  const AnswerText text = answer_text(found);
  EXPECT_EQ(text.answer.rfind(found[0].headline + ". " + found[1].headline + ". ", 0), 0U)
      << text.answer;
  EXPECT_NE(text.answer.find("1 more configuration is slower."), std::string::npos) << text.answer;
  EXPECT_EQ(text.reasons[0], found[0].evidence);
}

// US-U1: a slow link is reported once for all configurations.
TEST(SweepFindings, DifferentNumbersOfStepsAreSaid) {
  std::vector<RankRecord> records = simulated(1, {});
  const auto note = [&records] {
    for (const Finding& f : findings_of(records))
      if (f.rule == rules::different_steps.id)
        return f.headline;
    return std::string();
  };
  EXPECT_EQ(note(), "");
  for (int r = 0; r < kRanks; ++r)
    records[static_cast<std::size_t>(r)].steps.resize(15);
  EXPECT_EQ(note(), "Configurations have 15 to 20 steps");
  records[0].steps.resize(14); // of four ranks
  EXPECT_EQ(note(), "Configurations have 14.8 to 20 steps");
}

TEST(SweepFindings, ASlowLinkIsNamedOnce) {
  SweepFacts facts;
  facts.records = simulated(3, {});
  for (const double slow_gbps : {93.0, 95.0}) {
    ConfigurationCollectives& configuration = facts.collectives.emplace_back();
    configuration.configuration = facts.records[facts.collectives.size() - 1].key.configuration;
    for (int pair = 0; pair < 12; ++pair) {
      SyncSummary& s = configuration.summary.emplace_back();
      s.name = "allreduce";
      s.dtype = "Float";
      s.in_nelems = 1024;
      s.group_size = 2;
      s.count = 10;
      s.group = std::to_string(pair);
      s.group_ranks = fmt::format("[{}, {}]", 2 * pair, 2 * pair + 1);
      s.bus_gbps.mean = pair == 6 ? slow_gbps : 185 + 0.1 * pair;
    }
  }
  std::vector<Finding> links;
  for (const Finding& f : sweep_findings(facts))
    if (f.rule == rules::slow_link.id)
      links.push_back(f);
  ASSERT_EQ(links.size(), 1U);
  EXPECT_EQ(links[0].headline.rfind("Ranks 12, 13: allreduce reaches 93.0 GB/s, 50 % below", 0), 0U)
      << links[0].headline;
  EXPECT_NE(links[0].evidence.find("; in 2 of 2 configurations, most with "), std::string::npos)
      << links[0].evidence;
}

TEST(SweepFindings, WithoutADifferenceTheAnswerSaysWhatIsNotExcluded) {
  const std::vector<Finding> found = findings_of(simulated(3, {}));
  EXPECT_EQ(
      found[0].headline.rfind("No significant difference in step time (4 configurations): ", 0), 0U)
      << found[0].headline;
  for (const Finding& f : found) // no headline is shortened
    EXPECT_EQ(f.headline.find("..."), std::string::npos) << f.headline;
  EXPECT_NE(found[0].evidence.find(" in these runs are not excluded ("), std::string::npos)
      << found[0].evidence;
  EXPECT_GT(*found[0].detectable, 0);
  EXPECT_EQ(found[0].subject_kind, "configurations");
  EXPECT_EQ(found[1].rule, rules::no_slow_rank.id);
  EXPECT_EQ(found[1].headline, "No rank computes significantly longer than its peers in 4 "
                               "configurations");
  EXPECT_GT(*found[1].detectable, 0);
}

// Two of three configurations do not differ. Both are named by the parameter that differs, and the
// third one with its cost.
TEST(SweepFindings, NamesAreThoseOfTheParameterThatDiffers) {
  std::vector<RankRecord> records = simulated(3, {-20, 0, true}); // c2 takes 120 ms
  std::erase_if(records, [](const RankRecord& r) { return r.key.configuration.label == "c3"; });
  const std::vector<Finding> found = findings_of(records);
  // the headline calls no configuration the fastest that is only not significantly slower
  const bool first = found[0].headline.starts_with("64 threads are fastest: ");
  EXPECT_TRUE(found[0].headline.starts_with(first ? "64 threads are fastest: "
                                                  : "128 threads are fastest: "))
      << found[0].headline;
  EXPECT_TRUE(found[0].headline.ends_with(
      fmt::format(" ms per step, not significantly faster than {} threads", first ? 128 : 64)))
      << found[0].headline;
  EXPECT_EQ(found[1].headline.rfind("256 threads cost ", 0), 0U) << found[1].headline;
  // if a second parameter differs too, labels are used as names
  for (RankRecord& r : records)
    if (r.key.configuration.label == "c2")
      r.key.configuration.set("protocol", "LL");
  EXPECT_EQ(findings_of(records)[1].headline.rfind("c2 costs ", 0), 0U);
}

// A test that was cut off left the claim that a configuration is the fastest.
TEST(SweepFindings, TheTestIsNotCutOff) {
  for (std::size_t length = 1; length < 60; ++length) {
    std::vector<RankRecord> records = simulated(1, {});
    for (RankRecord& r : records) {
      r.key.configuration.label += std::string(length, 'x');
      r.key.configuration.parameters.clear();
    }
    for (const Finding& f : findings_of(records))
      if (f.rule == rules::fastest.id || f.rule == rules::least_exposed.id) {
        EXPECT_TRUE(f.headline.find("significant") != std::string::npos ||
                    f.headline.find("configurations):") != std::string::npos ||
                    f.headline.find("differ") != std::string::npos)
            << f.headline;
      }
  }
}

// Every headline fits for all names; no subject has a rule twice; every rule is listed.
TEST(SweepFindings, HeadlinesFitWhateverTheNames) {
  std::size_t checked = 0;
  for (const unsigned seed : {1U, 2U, 3U})
    for (const Effect effect : {Effect{}, Effect{4, 4, true}, Effect{-20, 9, false}}) {
      std::vector<RankRecord> records = simulated(seed, effect);
      for (RankRecord& r : records) {
        r.key.configuration.label += std::string(150, 'x') + r.key.configuration.label;
        r.key.configuration.parameters.clear();
        r.idle_ns[0] = 1'000'000'000;
        r.time_ns[static_cast<std::size_t>(TimeKind::kIdle)] = 1'000'000'000;
        r.graphs = {100, 90, 80};
      }
      records.push_back(records.back());
      records.back().key.rank = 1'000'000'000;
      records.back().error = std::string(500, 'e');
      std::set<std::string> seen;
      for (const Finding& f : findings_of(records)) {
        ++checked;
        EXPECT_LE(display_width(f.headline), kHeadlineWidth) << f.headline;
        EXPECT_FALSE(f.headline.ends_with('.') && !f.headline.ends_with("...")) << f.headline;
        EXPECT_FALSE(f.evidence.empty()) << f.headline;
        EXPECT_TRUE(seen.insert(std::string(f.rule) + f.subject_kind + f.subject).second) << f.rule;
        EXPECT_TRUE(std::any_of(finding_rules().begin(), finding_rules().end(),
                                [&](const FindingRule& r) { return r.id == f.rule; }));
      }
    }
  EXPECT_GT(checked, 50U);
}

} // namespace
} // namespace rankscope
