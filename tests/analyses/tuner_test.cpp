// Tuner files: the format of the plugins, measured sizes covered, nothing chosen that is not told.
#include "analyses/sweep/tuner.h"

#include <gtest/gtest.h>
#include <map>
#include <sstream>

namespace rankscope {
namespace {

SyncSummary latency(const std::string& name, std::int64_t bytes, double mean_us, double std_us,
                    std::size_t count = 10) {
  SyncSummary out;
  out.name = name;
  out.full_mib = static_cast<double>(bytes) / 1'048'576;
  out.group_size = 8;
  out.latency_us.mean = mean_us;
  out.latency_us.std_sample = std_us;
  out.latency_us.count = count;
  return out;
}

const std::vector<TunerSetting> kSettings = {{"default", {"ring", "simple", 32}},
                                             {"tree_ll", {"tree", "ll", 16}},
                                             {"many", {"ring", "simple", 64}}};

/// Without comments.
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
  EXPECT_FALSE(tuner_choice("Ring", "LL", 0)); // the example plugin would take one channel
  for (const auto& [name, file] :
       {std::pair("allreduce", "allreduce"), std::pair("all_reduce", "allreduce"),
        std::pair("_allgather_base", "allgather"),
        std::pair("reduce_scatter_tensor", "reducescatter"), std::pair("broadcast", "broadcast"),
        std::pair("reduce", "reduce"), std::pair("send", ""), std::pair("alltoall", "")})
    EXPECT_EQ(tuner_collective(name), file) << name;
}

TEST(Tuner, ByHand) {
  // allreduce: at 1 KiB tree_ll is told (10 against 20 us), at 3 KiB nothing is, at 1 MiB `many`;
  // cuts at (1024 + 3072) / 2 = 2048 and (3072 + 1048576) / 2 = 525824
  const ConfigurationCollectives base{
      {},
      "",
      {latency("allreduce", 1024, 20, 1), latency("allreduce", 3072, 30, 1),
       latency("allreduce", 1048576, 200, 2), latency("_allgather_base", 2048, 50, 1)}};
  const ConfigurationCollectives tree{
      {},
      "",
      {latency("allreduce", 1024, 10, 1), latency("allreduce", 3072, 29.9, 1),
       latency("allreduce", 1048576, 300, 2), latency("_allgather_base", 2048, 20, 1)}};
  const ConfigurationCollectives many{{}, "", {latency("allreduce", 1048576, 150, 2)}};
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

// HA-B11: what was not measured has no row.
TEST(Tuner, SizesBetweenMeasuredOnesHaveARowWithChannelsAndNoOthers) {
  const ConfigurationCollectives base{{},
                                      "",
                                      {latency("reduce_scatter", 100, 20, 1),
                                       latency("reduce_scatter", 101, 20, 1),
                                       latency("reduce_scatter", 20'000'000'000, 20, 1)}};
  const ConfigurationCollectives many{{}, "", {latency("reduce_scatter", 101, 10, 1)}};
  const auto file = tuner_file(kSettings, 0, {{0, &base}, {2, &many}, {2, &many}});
  ASSERT_TRUE(file);
  std::map<std::string, std::int64_t> next; // by collective and ranks: the first size without a row
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

TEST(Tuner, NothingMeasuredIsAnError) {
  const ConfigurationCollectives tree{{}, "", {latency("allreduce", 1024, 10, 1)}};
  EXPECT_FALSE(tuner_file(kSettings, 0, {}));
  EXPECT_FALSE(tuner_file(kSettings, 0, {{1, &tree}})); // not with the default
}

} // namespace
} // namespace rankscope
