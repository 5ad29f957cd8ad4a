// Measures how often, without a real difference, analyze, top and collectives report ranks or
// configurations, and compare and the page of two sweeps report a difference, for each kind of
// noise of `synth --step-noise`. Also measures how often real effects are found. The tables are
// printed. RANKSCOPE_SEEDS sets the number of runs per kind of noise; iid and common noise use five
// times as many. docs/reference/null-tables.md has the results for 60. (ST-B, ST-C2, HA-D1)
#include "analyses/collectives/collective_facts.h"
#include "analyses/compare/compare_runs.h"
#include "base/rank_excess.h"
#include "compare_families.h"
#include "findings/collective_findings.h"
#include "findings/comparison_findings.h"
#include "findings/rank_findings.h"
#include "findings/rules.h"
#include "findings/sweep_findings.h"
#include "pages/sweep_page.h"
#include "sanitized.h"
#include "seeds.h"
#include "synth/synth_noise.h"
#include "synth_records.h"
#include "synth_traces.h"
#include "temp_folder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <string_view>

namespace rankscope {
namespace {

using synth::StepNoise;

int null_seeds() {
  return test::seeds(test::kThreadSanitized ? 2 : test::kAddressSanitized ? 4 : 20);
}

int null_seeds_of(StepNoise kind) {
  const bool many = kind == StepNoise::kIid || kind == StepNoise::kCommon;
  return many && std::getenv("RANKSCOPE_SEEDS") != nullptr ? 5 * null_seeds() : null_seeds();
}

/// Returns the seed of a run. With RANKSCOPE_SEEDS, these are other seeds than those with which the
/// limits were chosen.
std::uint64_t seed_of(int run) {
  const std::uint64_t first = std::getenv("RANKSCOPE_SEEDS") != nullptr ? 10000 : 0;
  return first + static_cast<std::uint64_t>(run);
}

/// Returns "12/300".
std::string found_of(int found, int tests) {
  return fmt::format("{}/{}", found, tests);
}

/// Returns P(X >= k) for n draws with probability p.
double at_least(int k, int n, double p) {
  double out = 0;
  for (int i = k; i <= n; ++i)
    out += std::exp(std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0) +
                    i * std::log(p) + (n - i) * std::log1p(-p));
  return out;
}

/// Whether the one-sided 95 % lower limit of the rate is at most the bar.
bool within(int found, int tests, double bar) {
  return found == 0 || at_least(found, tests, bar) >= 0.05;
}

/// Returns options for three equal configurations of four ranks. The first computation of a step
/// takes most of it.
synth::Options null_sweep(StepNoise kind, std::int64_t steps, std::uint64_t seed) {
  synth::Options o;
  o.threads = {128, 256, 512};
  o.channels = {56};
  o.ranks = 4;
  o.layers = 2;
  o.steps = steps;
  o.seed = seed;
  o.straggler = -1;
  o.contention = 0;
  o.equal_configs = true;
  o.equal_devices = true;
  o.noise = 0.005;
  o.step_noise = kind;
  return o;
}

using Rules = std::set<std::string_view>;

/// Whether a finding claims a difference. `this_run`: count only claims beyond the recorded steps.
bool claims_any(const std::vector<Finding>& findings, const Rules& claims, bool this_run = false) {
  for (const Finding& f : findings) {
    if (this_run && f.scope == FindingScope::kTheseSteps)
      continue;
    // a ranking without a significant difference claims no difference
    const bool ranking = f.rule == rules::fastest.id || f.rule == rules::least_exposed.id;
    if (claims.count(f.rule) > 0 && !(ranking && f.subject_kind != "configuration"))
      return true;
  }
  return false;
}

/// Returns the rules that claim a difference between ranks or links.
const Rules& rank_claims() {
  static const Rules all = {rules::slow_rank.id, rules::late_rank.id, rules::slow_link.id,
                            rules::slow_collective.id};
  return all;
}

/// Returns the rules that claim a difference between configurations, which is one between these
/// runs.
const Rules& configuration_claims() {
  static const Rules all = {rules::fastest.id,       rules::slower_configuration.id,
                            rules::least_exposed.id, rules::computes_longer.id,
                            rules::try_further.id,   rules::communication_trade.id};
  return all;
}

struct Claims {
  bool analyze = false, analyze_these_runs = false, collectives = false, top = false;
  /// the effect that was added was found
  bool slow_rank = false, late_rank = false, winner = false;
};

constexpr std::int64_t kEffectRank = 1;

Claims claims_of(const synth::Options& o) {
  const test::GeneratedSweep sweep = test::generated_sweep(o);
  SweepFacts facts_of_sweep;
  facts_of_sweep.records = sweep.records;
  const SweepJudgement judgement = judge(facts_of_sweep.records);
  const std::vector<Finding> findings = sweep_findings(facts_of_sweep, judgement);
  Claims out;
  // each rank slows down by a different amount: some are slower in these steps
  const bool this_run = o.step_noise == StepNoise::kThrottle;
  const bool ranks = claims_any(findings, rank_claims(), this_run) ||
                     claims_any(findings, {rules::gemm_contention.id});
  out.analyze_these_runs = ranks || claims_any(findings, configuration_claims());
  out.analyze = o.step_noise == StepNoise::kRuns ? ranks : out.analyze_these_runs;
  ConfigurationRanks run;
  for (const RankRecord& r : sweep.records)
    if (r.key.configuration.label == sweep.records.front().key.configuration.label)
      run.ranks.push_back(&r);
  const std::vector<ConfigurationRanks> runs = {run};
  const SlowRanks slow = slow_ranks(runs);
  const Result<CollectiveFacts> facts = collective_facts(sweep.collectives.front(), {});
  EXPECT_TRUE(facts);
  const std::vector<Finding> comm_findings = collective_findings(*facts);
  out.collectives = claims_any(comm_findings, rank_claims(), this_run);
  out.top = out.collectives || claims_any(slow_rank_findings(slow), rank_claims(), this_run);
  for (const SlowRank& s : slow.ranks)
    out.slow_rank = out.slow_rank || s.rank == kEffectRank;
  for (const Finding& f : comm_findings)
    out.late_rank = out.late_rank || (f.rule == rules::late_rank.id && f.subject == "1");
  out.winner = judgement.total && !judgement.total->others.empty() &&
               judgement.total->others.back().significant();
  return out;
}

constexpr StepNoise kNullKinds[] = {
    StepNoise::kIid,    StepNoise::kCommon,      StepNoise::kAr1,     StepNoise::kAr1Common,
    StepNoise::kHeavy,  StepNoise::kHeavyCommon, StepNoise::kOutlier, StepNoise::kBimodal,
    StepNoise::kHetero, StepNoise::kRuns};

double bar_of(StepNoise kind) {
  return kind == StepNoise::kAr1 || kind == StepNoise::kAr1Common || kind == StepNoise::kRuns
             ? 0.10
             : 0.05;
}

TEST(NullTables, FalseClaimsAreSeldomWhateverTheNoise) {
  std::printf("runs with a false claim\n%-10s %-6s %9s %12s %9s %18s\n", "noise", "steps",
              "analyze", "collectives", "top", "analyze, this run");
  std::vector<StepNoise> kinds(std::begin(kNullKinds), std::end(kNullKinds));
  kinds.push_back(StepNoise::kThrottle); // the other tests have no scope
  for (const std::int64_t steps : {2, 3, 8, 20}) {
    for (const StepNoise kind : kinds) {
      const int n = null_seeds_of(kind);
      int analyze = 0, these_runs = 0, collectives = 0, top = 0;
      for (int seed = 1; seed <= n; ++seed) {
        const Claims c = claims_of(null_sweep(kind, steps, seed_of(seed)));
        analyze += c.analyze ? 1 : 0;
        these_runs += c.analyze_these_runs ? 1 : 0;
        collectives += c.collectives ? 1 : 0;
        top += c.top ? 1 : 0;
      }
      std::printf("%-10s %-6d %9s %12s %9s %18s\n",
                  std::string(synth::step_noise_name(kind)).c_str(), static_cast<int>(steps),
                  found_of(analyze, n).c_str(), found_of(collectives, n).c_str(),
                  found_of(top, n).c_str(), found_of(these_runs, n).c_str());
      std::fflush(stdout);
      const std::string what = fmt::format("{} with {} steps", synth::step_noise_name(kind), steps);
      EXPECT_TRUE(within(analyze, n, bar_of(kind))) << what << ": analyze " << analyze;
      EXPECT_TRUE(within(collectives, n, bar_of(kind))) << what << ": collectives " << collectives;
      EXPECT_TRUE(within(top, n, bar_of(kind))) << what << ": top " << top;
    }
  }
}

// Parts of a step are not samples (ST-0.4), and with fewer than eight peers, nothing is reported
// about ranks from one step.
TEST(NullTables, OneStepSaysNothingOfFewRanksAndSeldomOfMany) {
  for (const std::int64_t ranks : {4, 16}) {
    std::printf("one step, %d ranks:", static_cast<int>(ranks));
    for (const StepNoise kind : kNullKinds) {
      // a rank that is much slower in the only step is correctly reported as slow in "this one
      // step"
      if (ranks > 4 && (kind == StepNoise::kOutlier || kind == StepNoise::kHetero ||
                        kind == StepNoise::kBimodal))
        continue;
      const int n = null_seeds_of(kind);
      int found = 0;
      for (int seed = 1; seed <= n; ++seed) {
        synth::Options o = null_sweep(kind, 1, seed_of(seed));
        o.threads = {256};
        o.ranks = ranks;
        const Claims c = claims_of(o);
        found += c.analyze || c.top || c.collectives ? 1 : 0;
      }
      std::printf(" %s %s", std::string(synth::step_noise_name(kind)).c_str(),
                  found_of(found, n).c_str());
      EXPECT_TRUE(within(found, n, 0.03)) << synth::step_noise_name(kind) << " " << found;
      EXPECT_TRUE(ranks > 4 || found == 0);
    }
    std::printf("\n");
  }
}

/// Returns the first configuration as a run of `compare`.
ComparedRun compared_run(const synth::Options& o, const char* label) {
  const synth::Groups groups = synth::make_groups(o);
  const synth::Program program = synth::make_program(o, groups);
  const synth::Run run = synth::simulate(o, program, groups, {o.threads[0], o.channels[0]});
  ComparedRun out;
  out.label = label;
  std::vector<StepWork> work;
  std::vector<RankCollectives> collectives;
  for (std::int64_t r = 0; r < o.ranks; ++r) {
    const LoadedTrace trace = test::TraceOfRun(o, program, run, r).load();
    out.ranks.emplace(r, rank_timeline(trace, {}));
    work.push_back(step_work_of(trace, {}));
    collectives.push_back(test::collectives_of(o, program, groups, run, r));
  }
  out.work = join_step_work(std::move(work));
  const Result<CollectiveFacts> facts = collective_facts(collectives, {});
  EXPECT_TRUE(facts);
  add_collectives(out, *facts);
  return out;
}

/// Whether the page of two sweeps reports a difference, in its text or by a colour.
bool page_claims(const synth::Options& base, const synth::Options& test, const std::string& path) {
  const test::GeneratedSweep sweeps[] = {test::generated_sweep(base), test::generated_sweep(test)};
  SweepFacts facts[2];
  for (std::size_t s = 0; s < 2; ++s)
    facts[s].records = sweeps[s].records;
  const Result<void> written =
      write_sweep_page({{"base", "a", &facts[0]}, {"test", "b", &facts[1]}}, path);
  EXPECT_TRUE(written);
  const std::string html = test::bytes_of(path);
  for (const char* words : {" longer per step than ", " shorter per step than ",
                            "<td class=\"good\">", "<td class=\"bad\">"})
    if (html.find(words) != std::string::npos)
      return true;
  return false;
}

// ST no. 2 and no. 6: single collectives of a step were used as samples, and steps as independent.
// 38 % of equal pairs had a false row of NCCL, and 82 % with dependent steps.
TEST(NullTables, EqualRunsSeldomDiffer) {
  const test::TempFolder folder;
  std::printf("equal pairs with a false row\n");
  for (const std::int64_t steps : {2, 3, 8, 20})
    for (const StepNoise kind : kNullKinds) {
      const int n = null_seeds_of(kind);
      std::vector<test::RowFamily> families = test::row_families();
      int step_time = 0, changes = 0, changed_steps = 0, pages = 0;
      for (int seed = 1; seed <= n; ++seed) {
        synth::Options base = null_sweep(kind, steps, 2 * seed_of(seed));
        synth::Options test = null_sweep(kind, steps, 2 * seed_of(seed) + 1);
        const Comparison c =
            compare_runs(compared_run(base, "base"), {compared_run(test, "test")}, {});
        for (test::RowFamily& family : families)
          family.pairs_with += std::ranges::any_of(family.verdicts(c), [](Verdict v) {
            return v == Verdict::kBetter || v == Verdict::kWorse;
          });
        const std::vector<Finding> findings = comparison_findings(c).changes[0];
        changes += claims_any(findings, {rules::changed_work.id, rules::changed_operator.id});
        step_time += claims_any(findings, {rules::changed_step_time.id});
        changed_steps += claims_any(findings, {rules::changed_steps.id});
        pages += page_claims(base, test, folder.path("page.html"));
      }
      const std::string what = fmt::format("{}, {} steps", synth::step_noise_name(kind), steps);
      std::printf("%-17s", what.c_str());
      const auto rate = [&](const char* name, int found, bool has_bar = true) {
        std::printf(" %s %d/%d", name, found, n);
        // "these runs" do differ
        EXPECT_TRUE(!has_bar || kind == StepNoise::kRuns || within(found, n, bar_of(kind)))
            << what << ": " << name << " " << found;
      };
      for (const test::RowFamily& family : families)
        rate(family.name, family.pairs_with);
      // it has a separate level of 5 % and no bar, because few steps do not show that they depend
      // on each other; of the GPU rows, total_time has a bar
      rate("step time", step_time, false);
      rate("changes", changes);
      rate("changed steps", changed_steps);
      rate("page", pages);
      std::printf("\n");
      std::fflush(stdout);
    }
}

/// The numbers of runs in which an effect is found.
struct FoundEffects {
  int slow = 0, late = 0, winner = 0;
};

/// `sds`: size of the effect in standard deviations of a step.
FoundEffects found_effects(StepNoise kind, std::int64_t steps, double sds) {
  FoundEffects out;
  for (int seed = 1; seed <= null_seeds(); ++seed) {
    synth::Options o = null_sweep(kind, steps, seed_of(seed));
    o.throttled = kEffectRank;
    o.throttle_factor = 1 + sds * o.step_sd;
    const Claims c = claims_of(o);
    out.slow += c.slow_rank ? 1 : 0;
    out.late += c.late_rank ? 1 : 0;
    o.throttled = -1;
    o.slow_configs = {{"512thread_56ch", 1 + sds * o.step_sd}};
    out.winner += claims_of(o).winner ? 1 : 0;
  }
  return out;
}

TEST(NullTables, EffectsAreFound) {
  const int n = null_seeds();
  std::vector<std::int64_t> lengths = {8};
  if (std::getenv("RANKSCOPE_SEEDS") != nullptr)
    lengths = {2, 3, 8, 20};
  std::printf("found of %d runs: slow rank, late rank, slower configuration\n", n);
  for (const std::int64_t steps : lengths)
    for (const double sds : {2.0, 4.0})
      for (const StepNoise kind : kNullKinds) {
        const FoundEffects found = found_effects(kind, steps, sds);
        std::printf("  %d steps, %.0f sd %-8s %3d %3d %3d\n", static_cast<int>(steps), sds,
                    std::string(synth::step_noise_name(kind)).c_str(), found.slow, found.late,
                    found.winner);
        std::fflush(stdout);
        // only these rates are documented; all others are only in the table
        if (steps == 8 && sds > 2 && (kind == StepNoise::kIid || kind == StepNoise::kCommon)) {
          EXPECT_GE(found.slow, n * 7 / 10) << synth::step_noise_name(kind);
          EXPECT_GE(found.winner, n * 7 / 10) << synth::step_noise_name(kind);
        }
      }
}

/// Returns ranks with a step of 20 ms, with noise of the step and of its kernels; rank 1 takes
/// `sds` standard deviations longer. The values are differences from the peers, [rank][step].
std::vector<StepSeries> noisy_ranks(StepNoise kind, std::int64_t ranks, std::int64_t steps,
                                    std::uint64_t seed, double sds) {
  constexpr double kStepMs = 20;
  // the part of the kernels' noise that remains in the sum of a step
  constexpr double kKernels = 0.0015;
  synth::Options o;
  o.ranks = ranks;
  o.steps = steps;
  o.seed = seed;
  o.step_noise = kind;
  std::vector<std::vector<double>> ms = synth::step_factors(o, synth::Config{});
  std::mt19937_64 random(seed);
  std::normal_distribution<double> kernels(1, kKernels);
  for (std::vector<double>& step : ms)
    for (std::size_t r = 0; r < step.size(); ++r)
      step[r] *= kStepMs * kernels(random) * (r == kEffectRank ? 1 + sds * o.step_sd : 1);
  return against_peers(ms);
}

// Tests only the rank test, so that many ranks take little time: its results for 4 to 1,024 ranks.
TEST(NullTables, TheRankTestByNumberOfRanksAndSteps) {
  constexpr double kEffects[] = {0, 2, 4}; // in standard deviations
  std::printf("of the runs: a false rank, rank 1 found at 2 sd, at 4 sd\n");
  for (const std::int64_t ranks : {4, 8, 64, 1024})
    for (const std::int64_t steps : {2, 3, 8, 20}) {
      const int n = std::max(2, null_seeds() / (ranks > 64 ? 10 : ranks > 8 ? 2 : 1));
      std::printf("%d ranks, %d steps, %d runs:", static_cast<int>(ranks), static_cast<int>(steps),
                  n);
      for (const StepNoise kind : kNullKinds) {
        std::array<int, std::size(kEffects)> found{};
        for (int seed = 1; seed <= n; ++seed)
          for (std::size_t e = 0; e < found.size(); ++e) {
            const std::vector<std::vector<StepSeries>> run = {
                noisy_ranks(kind, ranks, steps, seed_of(seed), kEffects[e])};
            std::vector<RankTest> tests = test_ranks(run, 1e-6);
            find_changing(run, 1e-6, tests);
            const std::vector<RankExcess>& tested = tests.front().ranks;
            found[e] += kEffects[e] > 0 ? tested[kEffectRank].significant
                                        : std::ranges::any_of(tested, &RankExcess::significant);
          }
        const std::string name(synth::step_noise_name(kind));
        std::printf(" %s %d %d %d", name.c_str(), found[0], found[1], found[2]);
        const std::string what = fmt::format("{}, {} ranks, {} steps", name, ranks, steps);
        EXPECT_TRUE(within(found[0], n, bar_of(kind))) << what << ": " << found[0];
        const bool stated = kind == StepNoise::kIid || kind == StepNoise::kCommon ||
                            kind == StepNoise::kHeavyCommon;
        if (stated && steps == 8) {
          EXPECT_GE(found[2] * 10, n * 9) << what;
        }
      }
      std::printf("\n");
      std::fflush(stdout);
    }
}

} // namespace
} // namespace rankscope
