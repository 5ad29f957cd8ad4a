// Tests the options of the generator: each changes only the times that it names, by its factor.
#include "synth_slices.h"

#include <cmath>
#include <fmt/format.h>
#include <set>
#include <tuple>

namespace rankscope {
namespace {

using simdjson::dom::element;
using test::bytes_of;
using test::is_comm;
using test::is_gemm;
using test::make;
using test::Slice;
using test::slices_of;
using test::small;
using test::TempFolder;

TEST(Synth, GemmsUnderCollectivesTakeLongerWithMoreChannels) {
  // A call with base time b takes d ns, of which v ns overlap with collectives. It did d - v of its
  // work alone and v / (1 + s) under collectives: s = v / (b - (d - v)) - 1. AgreesWithTheFiles
  // checks the calls against the traces.
  const auto slowdowns = [](std::int64_t channels) {
    TempFolder folder;
    synth::Options o = small();
    o.channels = {channels};
    o.noise = 0;
    o.ranks = 8;
    o.straggler = -1;
    make(o, folder.path());
    simdjson::dom::parser parser;
    element truth;
    EXPECT_EQ(parser.load(folder.path() + "/ground_truth.json").get(truth), simdjson::SUCCESS);
    std::vector<double> out;
    for (const element row : truth["configs"].at(0)["gemms"].get_array()) {
      const element min = row["min"].value();
      const element max = row["max"].value();
      const auto base = static_cast<double>(min["dur_ns"].get_int64().value());
      const auto slow = static_cast<double>(max["dur_ns"].get_int64().value());
      const auto overlap = static_cast<double>(max["overlap_ns"].get_int64().value());
      if (min["overlap_ns"].get_int64().value() == 0 && overlap > 20000)
        out.push_back(overlap / (base - (slow - overlap)) - 1.0);
    }
    return out;
  };
  for (const std::int64_t channels : {28, 70}) {
    const auto c = static_cast<double>(channels);
    const std::vector<double> seen = slowdowns(channels);
    EXPECT_GT(seen.size(), 7U);
    for (const double s : seen)
      EXPECT_NEAR(s, 1.4 * c / (304.0 - c), 0.002); // docs/synth.md
  }
}

TEST(Synth, GemmScaleScalesGemmsOnly) {
  TempFolder a;
  TempFolder b;
  synth::Options o = small();
  o.channels = {28};
  o.ranks = 1; // so it does not wait for another rank
  o.noise = 0;
  o.straggler = -1;
  make(o, a.path());
  o.gemm_scale = 2;
  make(o, b.path());
  const std::string name = "/256thread/nccl_28channels/torch_profiler/rank0/trace_step19.json";
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t total = 0;
  const auto first = slices_of(bytes_of(a.path() + name), counts, total);
  const auto second = slices_of(bytes_of(b.path() + name), counts, total);
  ASSERT_EQ(first.size(), second.size());
  double gemm[2] = {0, 0};
  double other[2] = {0, 0};
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i].category != "kernel" || is_comm(first[i]))
      continue;
    double* sums = is_gemm(first[i]) ? gemm : other;
    sums[0] += static_cast<double>(first[i].end - first[i].start);
    sums[1] += static_cast<double>(second[i].end - second[i].start);
  }
  EXPECT_NEAR(gemm[1] / gemm[0], 2.0, 0.02);
  EXPECT_DOUBLE_EQ(other[1], other[0]);
}

/// Nanoseconds of GPU work of one rank: GEMMs, other computation, collectives.
struct GpuTime {
  double gemm = 0, other = 0, comm = 0;
};
GpuTime gpu_time(const synth::Options& o, const std::string& config, int rank) {
  TempFolder folder;
  make(o, folder.path());
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t total = 0;
  GpuTime out;
  for (const Slice& s : slices_of(bytes_of(fmt::format("{}/{}/torch_profiler/rank{}/"
                                                       "trace_step19.json",
                                                       folder.path(), config, rank)),
                                  counts, total))
    if (s.category == "kernel")
      (is_comm(s)   ? out.comm
       : is_gemm(s) ? out.gemm
                    : out.other) += static_cast<double>(s.end - s.start);
  return out;
}

/// Returns two configurations without noise and without slow parts.
synth::Options quiet() {
  synth::Options o = small();
  o.ranks = 4;
  o.noise = 0;
  o.straggler = -1;
  o.contention = 0;
  return o;
}

const char* const kFew = "256thread/nccl_28channels";
const char* const kMany = "256thread/nccl_70channels";

TEST(Synth, WithoutContentionGemmsTakeTheSameBesideCollectives) {
  synth::Options o = quiet();
  const double few = gpu_time(o, kFew, 1).gemm;
  EXPECT_NEAR(gpu_time(o, kMany, 1).gemm / few, 1, 1e-6);
  o.contention = 1;
  EXPECT_GT(gpu_time(o, kMany, 1).gemm / few, 1.02);
}

TEST(Synth, EqualConfigurationsHaveTheSameCollectives) {
  synth::Options o = quiet();
  o.contention = 1;
  const double apart = gpu_time(o, kFew, 0).comm / gpu_time(o, kMany, 0).comm;
  o.equal_configs = true;
  const double equal = gpu_time(o, kFew, 0).comm / gpu_time(o, kMany, 0).comm;
  EXPECT_GT(apart, 1.2);
  EXPECT_NEAR(equal, 1, 0.05); // waits and jitter are drawn separately for each configuration
}

TEST(Synth, ASlowConfigurationIsSlowerByOneFactor) {
  synth::Options o = quiet();
  const GpuTime plain = gpu_time(o, kMany, 2);
  o.slow_configs = {{"256thread_70ch", 1.05}};
  const GpuTime slow = gpu_time(o, kMany, 2);
  EXPECT_NEAR(slow.gemm / plain.gemm, 1.05, 1e-4);
  EXPECT_NEAR(slow.other / plain.other, 1.05, 1e-4);
  const GpuTime same = gpu_time(o, kFew, 2);
  o.slow_configs.clear();
  EXPECT_DOUBLE_EQ(same.gemm, gpu_time(o, kFew, 2).gemm);
}

TEST(Synth, AThrottledRankComputesLongerAlone) {
  synth::Options o = quiet();
  const GpuTime plain = gpu_time(o, kFew, 2);
  const GpuTime others = gpu_time(o, kFew, 1);
  o.throttled = 2;
  o.throttle_factor = 1.1;
  const GpuTime slow = gpu_time(o, kFew, 2);
  EXPECT_NEAR(slow.gemm / plain.gemm, 1.1, 1e-4);
  EXPECT_NEAR(slow.other / plain.other, 1.1, 1e-4);
  EXPECT_NEAR(gpu_time(o, kFew, 1).gemm / others.gemm, 1, 1e-6);
  EXPECT_GT(gpu_time(o, kFew, 1).comm, 1.02 * others.comm) << "the others wait";
}

TEST(Synth, ASlowLinkSlowsTheGroupsThatUseIt) {
  const auto bandwidths = [](const synth::Options& o) {
    TempFolder folder;
    make(o, folder.path());
    simdjson::dom::parser parser;
    element truth;
    EXPECT_EQ(parser.load(folder.path() + "/ground_truth.json").get(truth), simdjson::SUCCESS);
    std::map<std::string, double> best; // by group
    for (const element c : truth["configs"].at(0)["collectives"].get_array())
      best[std::string(c["pg"].get_string().value())] = std::max(
          best[std::string(c["pg"].get_string().value())], c["busbw_gbps"].get_double().value());
    return best;
  };
  synth::Options o = quiet();
  o.channels = {28};
  // 0: all ranks; 1: ranks 0 and 2; 2: ranks 1 and 3; 3: ranks 0 and 1; 4: ranks 2 and 3
  o.process_groups = 2;
  const auto plain = bandwidths(o);
  o.slow_links = {{0, 1, 2}};
  const auto slow = bandwidths(o);
  EXPECT_NEAR(slow.at("3") / plain.at("3"), 0.5, 0.02);
  for (const char* group : {"1", "2", "4"})
    EXPECT_NEAR(slow.at(group) / plain.at(group), 1, 0.02) << group;
}

TEST(Synth, TheTruthNamesTheSwitchesThatAreOn) {
  const auto truth_of = [](const synth::Options& o) {
    TempFolder folder;
    make(o, folder.path());
    return bytes_of(folder.path() + "/ground_truth.json");
  };
  synth::Options o = small();
  for (const char* word : {"contention", "equal_", "slow_", "throttled", "gpu_factor"})
    EXPECT_EQ(truth_of(o).find(word), std::string::npos) << word;
  o.contention = 0;
  o.slow_configs = {{"256thread_28ch", 1.5}};
  o.throttled = 1;
  o.throttle_factor = 1.25;
  o.slow_links = {{0, 2, 3}};
  const std::string text = truth_of(o);
  simdjson::dom::parser parser;
  element truth;
  ASSERT_EQ(parser.parse(text).get(truth), simdjson::SUCCESS);
  EXPECT_EQ(truth["options"]["contention"].get_double().value(), 0);
  EXPECT_EQ(truth["options"]["throttled"]["factor"].get_double().value(), 1.25);
  EXPECT_EQ(truth["options"]["slow_configs"].at(0)["factor"].get_double().value(), 1.5);
  EXPECT_EQ(truth["options"]["slow_links"].at(0)["ranks"].at(1).get_int64().value(), 2);
  EXPECT_EQ(truth["configs"].at(0)["gpu_factor"].get_double().value(), 1.5);
  EXPECT_EQ(truth["configs"].at(0)["model_gemm_slowdown"].get_double().value(), 0);
}

} // namespace
} // namespace rankscope
