// Tests the changes that are found in generated pairs for 100 seeds: equal runs, a slower kernel, a
// slower link, a renamed kernel. The rates are printed.
#include "analyses/compare/compare_part.h"
#include "analyses/compare/what_changed.h"
#include "analyses/timeline/own_times.h"
#include "engine/loader.h"
#include "readers/discovery.h"
#include "sanitized.h"
#include "small_sweep.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <iostream>
#include <numeric>

namespace rankscope {
namespace {

constexpr int kWhatChangedTruthSeeds = test::kThreadSanitized    ? 4
                                       : test::kAddressSanitized ? 20
                                                                 : 100;

synth::Options options_of(std::uint64_t seed) {
  synth::Options o = test::small_sweep();
  o.layers = 2;
  o.steps = 6;
  o.seed = seed;
  o.straggler = -1;
  o.equal_devices = true;
  return o;
}

StepWork work_of(const synth::Options& o) {
  const test::TempFolder folder;
  EXPECT_TRUE(synth::generate(o, folder.path(), 1, nullptr));
  Diagnostics diagnostics;
  const auto plan = discover_run({folder.path()}, {}, diagnostics);
  EXPECT_TRUE(plan);
  std::vector<StepWork> ranks;
  for (const RankFile& file : plan->ranks) {
    const auto trace = load_trace(file.path, LoadOptions{});
    EXPECT_TRUE(trace);
    ranks.push_back(step_work_of(*trace, {}));
  }
  return join_step_work(std::move(ranks));
}

/// Returns the kernel with the largest total time, and the run in which it takes `factor` times as
/// long.
std::pair<WorkKey, StepWork> slowed(StepWork run, double factor) {
  const auto sum = [](const Work& w) {
    return std::accumulate(w.self_ns.begin(), w.self_ns.end(), std::int64_t{0});
  };
  auto most = run.work.end();
  for (auto it = run.work.begin(); it != run.work.end(); ++it)
    if (it->first.kind == StepWorkKind::kKernel &&
        (most == run.work.end() || sum(it->second) > sum(most->second)))
      most = it;
  for (std::size_t s = 0; s < run.steps.size(); ++s) {
    std::int64_t& ns = most->second.self_ns[s];
    const auto more = static_cast<std::int64_t>(static_cast<double>(ns) * (factor - 1));
    ns += more;
    run.total_ns[s] += more;
  }
  return {most->first, std::move(run)};
}

/// Returns the number of rows of an equal pair that are reported as changes; prints them.
std::size_t false_rows(const WhatChanged& c) {
  for (const ChangeList* list : {&c.work, &c.operators, &c.steps})
    for (std::size_t i = 0; i < list->reported; ++i)
      std::cout << fmt::format("  unchanged but told: {} {:.40} {:.40} {}: {:.4f} -> {:.4f} ms\n",
                               list->rows[i].what, list->rows[i].name, list->rows[i].op,
                               list->rows[i].shapes, list->rows[i].base_ms, list->rows[i].test_ms);
  return c.work.reported + c.operators.reported + c.steps.reported;
}

// With few pairs, the rate varies around 5 %. RANKSCOPE_PAIRS=N: uses N pairs.
TEST(WhatChangedTruth, EqualRunsHaveNoChange) {
  const char* const more = std::getenv("RANKSCOPE_PAIRS");
  const int pairs = more != nullptr ? std::atoi(more) : kWhatChangedTruthSeeds;
  int quiet = 0;
  for (int pair = 0; pair < pairs; ++pair) {
    const auto seed = static_cast<std::uint64_t>(2 * pair + 1);
    // with a threshold of 0, only the interval determines the verdict
    const WhatChanged c =
        what_changed(work_of(options_of(seed)), work_of(options_of(seed + 1)), {0, {}});
    quiet += false_rows(c) == 0 ? 1 : 0;
  }
  std::cout << fmt::format("equal pairs without a change in any row: {}/{}\n", quiet, pairs);
  EXPECT_LE(pairs - quiet, 0.05 * pairs + 2 * std::sqrt(0.05 * 0.95 * pairs));
}

TEST(WhatChangedTruth, ASlowKernelOrCollectiveIsFoundFirst) {
  int gemm_first = 0;
  int kernel_first = 0;
  int link_first = 0;
  for (int s = 0; s < kWhatChangedTruthSeeds; ++s) {
    const auto seed = static_cast<std::uint64_t>(s);
    const StepWork base = work_of(options_of(2 * seed + 1));
    const StepWork same = work_of(options_of(2 * seed + 2));

    synth::Options slow = options_of(2 * seed + 2);
    slow.gemm_scale = 1.05;
    const WhatChanged gemm = what_changed(base, work_of(slow), {});
    gemm_first += gemm.work.reported > 0 && gemm.work.rows[0].what == "kernel" &&
                          gemm.work.rows[0].name.find("Cijk") != std::string::npos &&
                          gemm.work.rows[0].difference_ms > 0
                      ? 1
                      : 0;
    const auto [key, slower] = slowed(same, 1.05);
    const WhatChanged kernel = what_changed(base, slower, {});
    kernel_first += kernel.work.reported > 0 && kernel.work.rows[0].name == key.name &&
                            kernel.work.rows[0].shapes == key.shapes
                        ? 1
                        : 0;

    slow = options_of(2 * seed + 2);
    slow.slow_links = {{0, 1, 2.0}};
    const WhatChanged link = what_changed(base, work_of(slow), {});
    link_first += link.work.reported > 0 && link.work.rows[0].what == "collective" ? 1 : 0;
  }
  std::cout << fmt::format("GEMMs 5 % slower first: {0}/{3}\none kernel 5 % slower first: {1}/{3}\n"
                           "slow link: a collective first: {2}/{3}\n",
                           gemm_first, kernel_first, link_first, kWhatChangedTruthSeeds);
  EXPECT_GE(gemm_first * 100, kWhatChangedTruthSeeds * 95);
  EXPECT_GE(kernel_first * 100, kWhatChangedTruthSeeds * 95);
  EXPECT_GE(link_first * 100, kWhatChangedTruthSeeds * 95);
}

// Each kernel is renamed, one after the other, and must be found by its place.
TEST(WhatChangedTruth, ARenamedKernelIsFoundAtItsPlace) {
  const StepWork base = work_of(options_of(11));
  const StepWork other = work_of(options_of(12));
  int kernels = 0;
  for (const auto& [key, work] : other.work) {
    if (key.kind != StepWorkKind::kKernel || !base.work.contains(key))
      continue;
    ++kernels;
    StepWork renamed = other;
    WorkKey name = key;
    name.name = "zz_" + key.name;
    renamed.work.emplace(name, renamed.work.at(key));
    renamed.work.erase(key);
    const auto pairs = replaced_kernels(base, renamed);
    ASSERT_EQ(pairs.size(), 1U) << key.name;
    EXPECT_EQ(pairs[0].first, key);
    EXPECT_EQ(pairs[0].second, name);
  }
  EXPECT_GE(kernels, 10);
  // all kernels at the same time
  StepWork renamed = other;
  renamed.work.clear();
  for (const auto& [key, work] : other.work) {
    WorkKey name = key;
    if (key.kind == StepWorkKind::kKernel)
      name.name = "zz_" + key.name;
    renamed.work.emplace(name, work);
  }
  int right = 0;
  for (const auto& [then, now] : replaced_kernels(base, renamed))
    right += now.name == "zz_" + then.name ? 1 : 0;
  std::cout << fmt::format("all renamed: {} of {} matched rightly\n", right, kernels);
  EXPECT_GE(right * 100, 95 * kernels);
}

// Compares self times with gpu_timeline_per_step, which uses unions of intervals.
TEST(OwnTimesTruth, TheyAddUpToTheTimelineOfEachStep) {
  const test::TempFolder folder;
  synth::Options o = test::small_sweep();
  o.steps = 3;
  ASSERT_TRUE(synth::generate(o, folder.path(), 1, nullptr));
  Diagnostics diagnostics;
  const auto plan = discover_run({test::config_folder(folder.path())}, {}, diagnostics);
  ASSERT_TRUE(plan);
  for (const RankFile& file : plan->ranks) {
    auto trace = load_trace(file.path, LoadOptions{});
    ASSERT_TRUE(trace);
    const SelfTimes times = self_times_of(*trace, {});
    const std::vector<StepTimes> timelines = step_times_of(*trace, {});
    ASSERT_EQ(times.steps.size(), 3U);
    ASSERT_EQ(timelines.size(), 3U);
    for (std::size_t s = 0; s < timelines.size(); ++s) {
      const StepSelfTimes& step = times.steps[s];
      std::int64_t by_bucket[3] = {0, 0, 0};
      for (const SelfTime& time : step.events) {
        by_bucket[static_cast<int>(time.bucket)] += time.ns;
        std::int64_t parts = time.bucket == TimelineBucket::kCommunication ? time.ns : 0;
        for (const Interval& part : time.parts)
          parts -= part.end - part.start;
        EXPECT_EQ(parts, 0);
      }
      const auto ns = [&](TimeKind kind) {
        return timelines[s].ns[static_cast<std::size_t>(kind)];
      };
      EXPECT_EQ(by_bucket[0], ns(TimeKind::kComputation));
      EXPECT_EQ(by_bucket[1], ns(TimeKind::kExposedComm));
      EXPECT_EQ(by_bucket[2], ns(TimeKind::kExposedMemcpy));
      EXPECT_EQ(std::accumulate(step.idle_ns.begin(), step.idle_ns.end(), std::int64_t{0}),
                ns(TimeKind::kIdle));
      for (const std::int64_t idle : step.idle_ns)
        EXPECT_GE(idle, 0);
      EXPECT_EQ(step.total_ns, ns(TimeKind::kTotal));
    }
    const StepWork work = step_work_of(*trace, {});
    for (std::size_t s = 0; s < work.steps.size(); ++s) {
      std::int64_t sum = 0;
      for (const auto& [key, sums] : work.work)
        sum += sums.self_ns[s];
      EXPECT_EQ(sum, work.total_ns[s]);
    }
  }
}

// A part contains all data of the steps.
TEST(WhatChangedTruth, PartsKeepTheSteps) {
  ComparePart part;
  part.work = work_of(options_of(3));
  const std::string bytes = encode_part("compare", kComparePartVersion, part);
  const auto back = decode_part<ComparePart>("compare", kComparePartVersion, bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(encode_part("compare", kComparePartVersion, *back), bytes);
  part.work.total_ns.pop_back();
  EXPECT_FALSE(decode_part<ComparePart>("compare", kComparePartVersion,
                                        encode_part("compare", kComparePartVersion, part)));
}

} // namespace
} // namespace rankscope
