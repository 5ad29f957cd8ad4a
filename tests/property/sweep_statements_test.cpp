// Tests the findings of a sweep on generated sweeps with known effects: how often each kind of
// sentence is reported without a reason in the generator, and how often an effect of twice the
// noise is found. The traces are created in memory with the events that the generator would write,
// and are processed as in analyze. Both tables are printed.
#include "analyses/sweep/sweep.h"
#include "analyses/sweep/sweep_compare.h"
#include "base/statistics.h"
#include "engine/loader.h"
#include "findings/rules.h"
#include "findings/sweep_findings.h"
#include "sanitized.h"
#include "seeds.h"
#include "synth/synth_emit.h"
#include "synth_records.h"
#include "synth_traces.h"
#include "temp_folder.h"

#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

constexpr int kUsualSeeds = test::kThreadSanitized    ? 2
                            : test::kAddressSanitized ? 5
                                                      : 100; // the rates are for the release build

/// Returns 5 % of the sweeps, at least one.
int most_false() {
  return std::max(1, test::seeds(kUsualSeeds) * 5 / 100);
}
int least_found() {
  return test::seeds(kUsualSeeds) * 95 / 100;
}
/// For an effect that nine of ten runs show: with the five seeds of a sanitized build, two may miss
/// it.
int mostly_found() {
  const int seeds = test::seeds(kUsualSeeds);
  return seeds < 20 ? seeds * 60 / 100 : seeds * 80 / 100;
}

/// Returns options for two configurations that differ only in their samples, with four equal ranks
/// and no contention.
synth::Options plain(std::uint64_t seed) {
  synth::Options o;
  o.threads = {256, 512};
  o.channels = {56};
  o.ranks = 4;
  o.layers = 3;
  o.steps = 8;
  o.seed = seed;
  o.straggler = -1;
  o.contention = 0;
  o.equal_configs = true;
  o.equal_devices = true;
  return o;
}

void add_rank(const LoadedTrace& trace, const RunKey& key, const ReportOptions& report,
              SweepFacts& out, std::vector<GemmFacts>& gemms) {
  out.records.push_back(make_record(trace, report));
  out.records.back().key = key;
  std::vector<RankGemms> rank_gemms(1);
  rank_gemms[0] = extract_gemms(trace, report);
  rank_gemms[0].key = key;
  gemms.push_back(gemm_facts(rank_gemms, 5, GemmRanking::kRange));
}

/// Runs all steps of analyze without files.
SweepFacts analysed(const synth::Options& o) {
  const synth::Groups groups = synth::make_groups(o);
  const synth::Program program = synth::make_program(o, groups);
  SweepFacts out;
  out.top_k = 5;
  std::vector<GemmFacts> gemms;
  for (const std::int64_t t : o.threads)
    for (const std::int64_t c : o.channels) {
      const synth::Run run = synth::simulate(o, program, groups, {t, c});
      for (std::int64_t r = 0; r < o.ranks; ++r) {
        RunKey key;
        key.configuration.label = synth::label_of(o, {t, c});
        key.configuration.set(kThreads, t);
        key.configuration.set(kChannels, c);
        key.rank = r;
        add_rank(test::TraceOfRun(o, program, run, r).load(), key, {}, out, gemms);
      }
    }
  std::vector<const GemmFacts*> parts;
  for (const GemmFacts& part : gemms)
    parts.push_back(&part);
  out.gemms = join_gemm_facts(parts, GemmRanking::kRange);
  out.findings = sweep_findings(out);
  return out;
}

bool says(const SweepFacts& sweep, const char* what) {
  for (const Finding& f : sweep.findings)
    if (f.sentence().find(what) != std::string::npos)
      return true;
  return false;
}

bool has(const SweepFacts& sweep, const FindingRule& rule) {
  for (const Finding& f : sweep.findings)
    if (f.rule == rule.id)
      return true;
  return false;
}

/// A kind of finding that compares or names a cause.
struct Kind {
  const char* name;
  std::function<bool(const SweepFacts&)> in;
};
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"winner",
       [](const SweepFacts& s) {
         for (const Finding& f : s.findings)
           if (f.rule == rules::least_exposed.id && f.subject_kind == "configuration")
             return true;
         return has(s, rules::slower_configuration);
       }},
      {"contention",
       [](const SweepFacts& s) {
         return says(s, "ontention: GEMMs under") ||
                says(s, "calls that collectives overlap are longer") ||
                has(s, rules::gemm_contention);
       }},
      {"slow rank", [](const SweepFacts& s) { return has(s, rules::slow_rank); }},
      {"advice",
       [](const SweepFacts& s) {
         return has(s, rules::try_further) || has(s, rules::communication_trade) ||
                says(s, "so check its GPU's clocks");
       }},
      {"general slow-down", [](const SweepFacts& s) {
         return says(s, "general slow-down: ") || says(s, "longer without overlap too");
       }}};
  return all;
}

bool says(const SweepFacts& sweep, const Kind& kind) {
  return kind.in(sweep);
}

/// Returns in how many of the sweeps each kind of finding occurs.
template <class Make> std::vector<int> counted(const Make& make) {
  std::vector<int> out(kinds().size());
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(test::seeds(kUsualSeeds));
       ++seed) {
    const SweepFacts sweep = analysed(make(seed));
    for (std::size_t k = 0; k < kinds().size(); ++k)
      out[k] += says(sweep, kinds()[k]) ? 1 : 0;
  }
  return out;
}

void print_header(const char* what) {
  std::printf("%-38s", what);
  for (const Kind& kind : kinds())
    std::printf(" %17s", kind.name);
  std::printf("\n");
}

void print_row(const char* what, const std::vector<int>& row) {
  std::printf("%-38s", what);
  for (const int n : row)
    std::printf(" %17d", n);
  std::printf("   of %d\n", test::seeds(kUsualSeeds));
}

enum { kWinner, kContention, kSlowRank, kAdvice, kGeneral };

double ms_of(const StepTimes& step, TimeKind kind) {
  return static_cast<double>(step.ns[static_cast<std::size_t>(kind)]) / 1e6;
}

/// Returns the standard deviation of a rank's compute time over steps, in ms.
double compute_noise_ms(const SweepFacts& sweep) {
  double sum = 0;
  for (const RankRecord& rank : sweep.records) {
    std::vector<double> ms;
    for (const StepTimes& s : rank.steps)
      ms.push_back(ms_of(s, TimeKind::kComputation));
    sum += sample_stats(ms).variance;
  }
  return std::sqrt(sum / static_cast<double>(sweep.records.size()));
}

/// Returns the standard deviation of a configuration's steps relative to their mean.
double step_noise(const SweepFacts& sweep) {
  const auto groups = by_configuration(sweep.records);
  const SampleStats steps = sample_stats(step_means_ms(groups[0], TimeKind::kTotal));
  return std::sqrt(steps.variance) / steps.mean;
}

TEST(SweepStatements, TheTraceInMemoryIsTheOneThatIsWritten) {
  synth::Options o = plain(7);
  o.straggler = 1;
  o.contention = 1;
  o.step_noise = synth::StepNoise::kIid;
  o.inject.more_rank = 1;
  const synth::Groups groups = synth::make_groups(o);
  const synth::Program program = synth::make_program(o, groups);
  const synth::Run run = synth::simulate(o, program, groups, {256, 56});
  test::TempFolder folder;
  for (const std::int64_t rank : {0, 1}) {
    const std::string path = folder.path(fmt::format("{}.json", rank));
    const auto written = synth::emit_rank(o, program, groups, run, rank, path);
    ASSERT_TRUE(written) << written.error().message();
    const auto read = load_trace(path, {});
    ASSERT_TRUE(read);
    const RankRecord wanted = make_record(*read, {});
    const RankRecord got = make_record(test::TraceOfRun(o, program, run, rank).load(), {});
    EXPECT_EQ(got.time_ns, wanted.time_ns);
    // also equal to the record that is made without a trace
    const RankRecord direct = test::record_of(o, program, run, rank);
    ASSERT_EQ(direct.steps.size(), wanted.steps.size());
    for (std::size_t s = 0; s < direct.steps.size(); ++s)
      for (const TimeKind kind : {TimeKind::kComputation, TimeKind::kExposedComm, TimeKind::kTotal,
                                  TimeKind::kTotalComm, TimeKind::kBusy, TimeKind::kIdle})
        EXPECT_EQ(ms_of(direct.steps[s], kind), ms_of(wanted.steps[s], kind))
            << time_kind_name(kind) << " of step " << s;
    ASSERT_EQ(got.steps.size(), wanted.steps.size());
    for (std::size_t s = 0; s < got.steps.size(); ++s)
      EXPECT_EQ(got.steps[s].ns, wanted.steps[s].ns);
    ASSERT_EQ(got.calls.size(), wanted.calls.size());
    double got_speed = 0;
    double wanted_speed = 0;
    for (std::size_t g = 0; g < got.calls.size(); ++g)
      for (std::size_t b = 0; b < got.calls[g].blocks.size(); ++b) {
        got_speed += got.calls[g].blocks[b].share_speed;
        wanted_speed += wanted.calls[g].blocks[b].share_speed;
      }
    EXPECT_GT(got_speed, 0);
    EXPECT_NEAR(got_speed, wanted_speed, 1e-6 * wanted_speed);
  }
}

TEST(SweepStatements, FalseSentencesAreSeldom) {
  print_header("nothing to find, but:");
  // equal configurations, with contention and a slow rank
  const auto same = counted([](std::uint64_t seed) {
    synth::Options o = plain(seed);
    o.contention = 1;
    o.straggler = 1;
    o.straggler_us = 800;
    return o;
  });
  print_row("contention and a slow rank", same);
  EXPECT_LE(same[kWinner], most_false());
  EXPECT_LE(same[kGeneral], most_false());
  // no contention; the configurations differ, and a rank is slow
  const auto alone = counted([](std::uint64_t seed) {
    synth::Options o = plain(seed);
    o.threads = {256};
    o.channels = {28, 70};
    o.equal_configs = false;
    o.straggler = 1;
    o.straggler_us = 800;
    return o;
  });
  print_row("other bandwidths and a slow rank", alone);
  EXPECT_LE(alone[kContention], most_false());
  EXPECT_LE(alone[kGeneral], most_false());
  // no slow rank; the configurations differ and have contention
  const auto even = counted([](std::uint64_t seed) {
    synth::Options o = plain(seed);
    o.threads = {256};
    o.channels = {28, 70};
    o.equal_configs = false;
    o.contention = 1;
    return o;
  });
  print_row("other bandwidths and contention", even);
  EXPECT_LE(even[kSlowRank], most_false());
  EXPECT_LE(even[kGeneral], most_false());
  // one configuration is slower in all kernels: no contention
  const auto slower = counted([](std::uint64_t seed) {
    synth::Options o = plain(seed);
    o.slow_configs = {{"512thread_56ch", 1.05}};
    return o;
  });
  print_row("one configuration slower by 5 %", slower);
  EXPECT_LE(slower[kContention], most_false());
  EXPECT_LE(slower[kSlowRank], most_false());
  // no effects
  const auto none = counted(plain);
  print_row("nothing", none);
  for (const int n : none)
    EXPECT_LE(n, most_false());
}

/// Twice as many steps: with 16 steps, 95 % of such effects can be found at the corrected levels.
synth::Options longer(std::uint64_t seed) {
  synth::Options o = plain(seed);
  o.steps = 16;
  return o;
}

TEST(SweepStatements, EffectsOfTwiceTheNoiseAreFound) {
  const SweepFacts quiet = analysed(longer(1));
  const double rank_ms = compute_noise_ms(quiet);
  const double step = step_noise(quiet);
  ASSERT_GT(rank_ms, 0);
  ASSERT_GT(step, 0);
  std::printf("noise: %.3f ms of a rank's compute time, %.3f %% of a configuration's step, 1 %% of "
              "a kernel\n",
              rank_ms, 100 * step);
  print_header("twice the noise:");
  const auto shorter = counted([step](std::uint64_t seed) {
    synth::Options o = longer(seed);
    o.slow_configs = {{"512thread_56ch", 1 + 2 * step}};
    return o;
  });
  print_row("a configuration is slower (step)", shorter);
  // the intervals allow for dependent steps
  EXPECT_GE(shorter[kWinner], mostly_found());
  const auto late = counted([rank_ms](std::uint64_t seed) {
    synth::Options o = longer(seed);
    o.straggler = 1;
    o.straggler_us = 2000 * rank_ms;
    return o;
  });
  print_row("a rank computes longer (rank)", late);
  // one of four ranks, at the level of the rank test
  EXPECT_GE(late[kSlowRank], mostly_found());
  const auto slower = counted([](std::uint64_t seed) {
    synth::Options o = plain(seed);
    o.slow_configs = {{"512thread_56ch", 1 + 2 * o.noise}};
    return o;
  });
  print_row("a configuration is slower (kernel)", slower);
  EXPECT_GE(slower[kWinner], least_found());
  EXPECT_GE(slower[kGeneral], least_found());
  EXPECT_GE(slower[kAdvice], least_found());
  const auto overlapping = counted([](std::uint64_t seed) {
    synth::Options o = plain(seed);
    o.contention = 2 * o.noise / synth::model_slowdown({256, 56}, false);
    return o;
  });
  print_row("GEMMs beside collectives (kernel)", overlapping);
  EXPECT_GE(overlapping[kContention], least_found());
  const auto throttled = counted([](std::uint64_t seed) {
    synth::Options o = plain(seed);
    o.throttled = 2;
    o.throttle_factor = 1 + 2 * o.noise;
    return o;
  });
  print_row("a throttled rank (kernel)", throttled);
  EXPECT_GE(throttled[kSlowRank], least_found());
}

TEST(SweepStatements, ContentionIsTheCauseWhereOneConfigurationHasMoreOfIt) {
  synth::Options o = plain(3);
  o.threads = {256};
  o.channels = {28, 90};
  o.equal_configs = false;
  o.contention = 1;
  const SweepFacts more = analysed(o);
  EXPECT_TRUE(says(more, "90 channels compute ")) << more.findings[2].sentence();
  EXPECT_TRUE(says(more, "Contention: GEMMs under a collective take "));
  EXPECT_FALSE(says(more, "eneral slow-down: "));
  // the same difference in computation, but in every call
  o.contention = 0;
  o.slow_configs = {{"256thread_90ch", 1.05}};
  const SweepFacts general = analysed(o);
  EXPECT_FALSE(says(general, "ontention: "));
  EXPECT_TRUE(says(general, "A general slow-down: without overlap, GEMMs take "));
}

// ST-C10: a rank with one more GEMM per step has more work; its clocks must not be suspected.
TEST(SweepStatements, MoreWorkIsNoSlowerClock) {
  synth::Options o = plain(5);
  o.inject.more_rank = 3;
  const SweepFacts more = analysed(o);
  EXPECT_TRUE(says(more, "Rank 3 computes")) << more.findings.back().sentence();
  EXPECT_TRUE(says(more, "Rank 3: it runs 1 GEMM kernel more per step"));
  EXPECT_FALSE(says(more, "check its GPU"));
  o = plain(5);
  o.throttled = 3;
  o.throttle_factor = 1.05;
  EXPECT_TRUE(says(analysed(o), "check its GPU's clocks, power and temperature"));
}

// ST-0.8: a configuration with twice the rows is not a slower configuration.
TEST(SweepStatements, OtherWorkIsNotRanked) {
  synth::Options o = plain(5);
  o.inject.batch = true;
  const synth::Groups groups = synth::make_groups(o);
  SweepFacts sweep;
  std::vector<GemmFacts> gemms;
  for (const std::int64_t t : o.threads) {
    const synth::Program program = synth::make_program(o, groups, t == o.threads.back());
    const synth::Run run = synth::simulate(o, program, groups, {t, o.channels.front()});
    for (std::int64_t r = 0; r < o.ranks; ++r) {
      RunKey key;
      key.configuration.label = synth::label_of(o, run.config);
      key.configuration.set(kThreads, t);
      key.rank = r;
      add_rank(test::TraceOfRun(o, program, run, r).load(), key, {}, sweep, gemms);
    }
  }
  sweep.findings = sweep_findings(sweep);
  EXPECT_TRUE(says(sweep, "do different work per step"));
  EXPECT_TRUE(has(sweep, rules::not_ranked));
  EXPECT_FALSE(has(sweep, rules::fastest));
  EXPECT_FALSE(has(sweep, rules::try_further));
  EXPECT_FALSE(has(sweep, rules::computes_longer));
}

} // namespace
} // namespace rankscope
