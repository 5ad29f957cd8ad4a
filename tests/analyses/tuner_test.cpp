// Tests tuner files: the format of the plugins, the ranges of the measured sizes, and that only
// significantly faster settings are chosen.
#include "analyses/sweep/tuner.h"

#include "base/statistics.h"

#include <gtest/gtest.h>
#include <map>
#include <sstream>

namespace rankscope {
namespace {

/// A collective with two calls per step.
struct Latency {
  std::string name;
  std::int64_t bytes = 0;
  std::vector<double> steps_us; ///< mean of each step
};

/// Returns 12 steps whose latencies alternate by +-`scatter_us` around the mean.
Latency latency(const std::string& name, std::int64_t bytes, double mean_us, double scatter_us) {
  Latency out{name, bytes, {}};
  for (int step = 0; step < 12; ++step)
    out.steps_us.push_back(mean_us + (step % 2 == 0 ? scatter_us : -scatter_us));
  return out;
}

ConfigurationCollectives collectives(const std::vector<Latency>& rows) {
  ConfigurationCollectives out;
  for (const Latency& row : rows) {
    SyncSummary s;
    s.name = row.name;
    s.full_mib = static_cast<double>(row.bytes) / 1'048'576;
    s.in_nelems = row.bytes;
    s.group_size = 8;
    s.latency_us.mean = sample_stats(row.steps_us).mean;
    SampleSet& samples = out.samples[key_of(s)].latency_us;
    for (std::size_t step = 0; step < row.steps_us.size(); ++step)
      for (const double offset : {-0.5, 0.5})
        samples.add(static_cast<std::int64_t>(step), row.steps_us[step] + offset);
    out.summary.push_back(std::move(s));
  }
  return out;
}

const std::vector<TunerSetting> kSettings = {{"default", {"ring", "simple", 32}},
                                             {"tree_ll", {"tree", "ll", 16}},
                                             {"many", {"ring", "simple", 64}}};

/// Returns the rows of the file without comments.
std::vector<std::string> rows(const std::string& file) {
  std::vector<std::string> out;
  std::istringstream in(file);
  for (std::string line; std::getline(in, line);) {
    EXPECT_LT(line.size(), 256U);
    if (line[0] != '#')
      out.push_back(line);
  }
  return out;
}

TEST(Tuner, WordsOfTheLibrary) {
  EXPECT_EQ(tuner_choice("Tree", "LL128", 4), (TunerChoice{"tree", "ll128", 4}));
  EXPECT_EQ(tuner_choice("NVLSTree", "Simple", 4)->algorithm, "nvls_tree");
  EXPECT_EQ(tuner_choice("CollnetDirect", "LL", 4)->algorithm, "collnet_direct");
  for (const auto& [a, p] :
       {std::pair("Ring,Tree", "LL"), std::pair("^Ring", "LL"), std::pair("", "LL"),
        std::pair("Ring", ""), std::pair("Ring", "LL,"), std::pair("Rong", "LL")})
    EXPECT_FALSE(tuner_choice(a, p, 4)) << a << ' ' << p;
  EXPECT_FALSE(tuner_choice("Ring", "LL", 0)); // the example plugin would use one channel
  for (const auto& [name, file] :
       {std::pair("allreduce", "allreduce"), std::pair("all_reduce", "allreduce"),
        std::pair("_allgather_base", "allgather"),
        std::pair("reduce_scatter_tensor", "reducescatter"), std::pair("broadcast", "broadcast"),
        std::pair("reduce", "reduce"), std::pair("send", ""), std::pair("alltoall", "")})
    EXPECT_EQ(tuner_collective(name), file) << name;
}

TEST(Tuner, ByHand) {
  // allreduce: significantly faster are tree_ll at 1 KiB (10 against 20 us), no setting at 3 KiB,
  // and `many` at 1 MiB; the limits of the ranges are (1024 + 3072) / 2 = 2048 and (3072 + 1048576)
  // / 2 = 525824
  const ConfigurationCollectives base =
      collectives({latency("allreduce", 1024, 20, 1), latency("allreduce", 3072, 30, 1),
                   latency("allreduce", 1048576, 200, 2), latency("_allgather_base", 2048, 50, 1)});
  const ConfigurationCollectives tree =
      collectives({latency("allreduce", 1024, 10, 1), latency("allreduce", 3072, 29.9, 1),
                   latency("allreduce", 1048576, 300, 2), latency("_allgather_base", 2048, 20, 1)});
  const ConfigurationCollectives many = collectives({latency("allreduce", 1048576, 150, 2)});
  const auto file = tuner_file(kSettings, 0, {{0, &base}, {1, &tree}, {2, &many}});
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(rows(*file),
            (std::vector<std::string>{
                "allgather,1024,4096,ring,simple,32,-1,8,-1,-1", // tree has no allgather
                "allreduce,512,2048,tree,ll,16,-1,8,-1,-1",
                "allreduce,2049,525824,ring,simple,32,-1,8,-1,-1",
                "allreduce,525825,2097152,ring,simple,64,-1,8,-1,-1"}))
      << *file;
  EXPECT_NE(file->find("# 1024 bytes, tree_ll: 10.0 us, 10.0 us shorter than default ("),
            std::string::npos)
      << *file;
}

// HA-B11: sizes outside the measured range have no row.
TEST(Tuner, SizesBetweenMeasuredOnesHaveARowWithChannelsAndNoOthers) {
  const ConfigurationCollectives base =
      collectives({latency("reduce_scatter", 100, 20, 1), latency("reduce_scatter", 101, 20, 1),
                   latency("reduce_scatter", 20'000'000'000, 20, 1)});
  const ConfigurationCollectives many = collectives({latency("reduce_scatter", 101, 10, 1)});
  const auto file = tuner_file(kSettings, 0, {{0, &base}, {2, &many}, {2, &many}});
  ASSERT_TRUE(file);
  // by collective and number of ranks: the first size without a row
  std::map<std::string, std::int64_t> next;
  for (const std::string& line : rows(*file)) {
    std::istringstream in(line);
    std::vector<std::string> fields;
    for (std::string field; std::getline(in, field, ',');)
      fields.push_back(field);
    ASSERT_EQ(fields.size(), 10U);
    EXPECT_EQ(fields[0], "reducescatter");
    std::int64_t& from = next.try_emplace(fields[0] + fields[7], 50).first->second;
    EXPECT_EQ(std::stoll(fields[1]), from) << line;
    from = std::stoll(fields[2]) + 1;
    EXPECT_GT(std::stoll(fields[5]), 0) << line;
  }
  ASSERT_EQ(next.size(), 1U);
  EXPECT_EQ(next.at("reducescatter8"), 40'000'000'001);
}

// The calls of a step have the same link and the same late rank, so they are one sample.
TEST(Tuner, CallsOfOneStepAreOneSample) {
  const auto run = [](std::vector<double> steps_us) {
    ConfigurationCollectives out = collectives({{"allreduce", 1024, std::move(steps_us)}});
    SampleSet& samples = out.samples.begin()->second.latency_us;
    const SampleSet once = samples;
    for (int more = 0; more < 200; ++more)
      samples.add(once);
    return out;
  };
  const auto chosen = [](const ConfigurationCollectives& base,
                         const ConfigurationCollectives& tree) {
    const auto file = tuner_file(kSettings, 0, {{0, &base}, {1, &tree}});
    return file &&
           rows(*file) == std::vector<std::string>{"allreduce,512,2048,tree,ll,16,-1,8,-1,-1"};
  };
  // one step per setting, and two steps with overlapping ranges
  EXPECT_FALSE(chosen(run({20}), run({10})));
  EXPECT_FALSE(chosen(run({20, 12}), run({10, 14})));
  EXPECT_TRUE(chosen(run({20, 21, 20, 21, 20, 21, 20, 21, 20, 21, 20, 21}),
                     run({10, 11, 10, 11, 10, 11, 10, 11, 10, 11, 10, 11})));
  // repeated runs of one step each are separate samples
  const ConfigurationCollectives slow_a = run({20});
  const ConfigurationCollectives slow_b = run({20.1});
  const ConfigurationCollectives slow_c = run({20.2});
  const ConfigurationCollectives fast_a = run({10});
  const ConfigurationCollectives fast_b = run({10.1});
  const ConfigurationCollectives fast_c = run({10.2});
  const auto file = tuner_file(
      kSettings, 0,
      {{0, &slow_a}, {0, &slow_b}, {0, &slow_c}, {1, &fast_a}, {1, &fast_b}, {1, &fast_c}});
  ASSERT_TRUE(file);
  EXPECT_EQ(rows(*file), (std::vector<std::string>{"allreduce,512,2048,tree,ll,16,-1,8,-1,-1"}));
}

TEST(Tuner, NothingMeasuredIsAnError) {
  const ConfigurationCollectives tree = collectives({latency("allreduce", 1024, 10, 1)});
  EXPECT_FALSE(tuner_file(kSettings, 0, {}));
  EXPECT_FALSE(tuner_file(kSettings, 0, {{1, &tree}})); // no measurement of the default
}

} // namespace
} // namespace rankscope
