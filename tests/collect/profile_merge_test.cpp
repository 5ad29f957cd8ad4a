// Tests merging of the ranks of a profiling run, with handmade manifests.
#include "collect/profile/merge_ranks.h"
#include "temp_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

struct Gpu {
  const char* bdf;
  double joules;
  std::int64_t vram;
};

class ProfileMerge : public ::testing::Test {
protected:
  void rank(int n, const std::string& host, int status, double seconds, std::int64_t begin_ns,
            const std::vector<Gpu>& gpus) const {
    std::string list;
    for (const Gpu& g : gpus)
      list += fmt::format("{}{{\"bdf\": \"{}\", \"joules\": {}, \"peak_vram_bytes\": {}}}",
                          list.empty() ? "" : ", ", g.bdf, g.joules, g.vram);
    folder_.write(
        fmt::format("run/rank_{}/manifest.json", n),
        fmt::format("{{\"format\": \"rankscope-profile-1\", \"run_id\": \"id{}\", \"rank\": {}, "
                    "\"status\": \"{}\", \"exit_status\": {}, \"seconds\": {}, "
                    "\"host\": {{\"name\": \"{}\"}}, "
                    "\"clock_begin\": {{\"unix_ns\": {}}}, \"clock_end\": {{\"unix_ns\": {}}}, "
                    "\"figures\": {{\"samplers\": {{\"gpus\": [{}]}}}}}}",
                    n, n, status == 0 ? "success" : "failure", status, seconds, host, begin_ns,
                    begin_ns + static_cast<std::int64_t>(seconds * 1e9), list));
  }
  [[nodiscard]] std::string run() const { return folder_.path("run"); }
  test::TempFolder folder_;
};

constexpr std::int64_t kNow = 1'763'000'000'000'000'001; // more digits than a double can represent

TEST_F(ProfileMerge, SumsByHand) {
  rank(0, "a", 0, 10, kNow, {{"c1", 1000, 5}, {"c2", 2000, 7}});
  rank(1, "a", 0, 12, kNow + 1'000'000'000, {{"c1", 1100, 5}, {"c2", 1900, 9}});
  rank(2, "b", 3, 8, kNow, {{"c1", 500, 6}});
  const Result<ProfiledRanks> merged = merge_ranks({run()});
  ASSERT_TRUE(merged) << merged.error().message();
  ASSERT_EQ(merged->ranks.size(), 3U);
  EXPECT_EQ(merged->ranks[0].joules, 3000);
  EXPECT_EQ(merged->ranks[1].peak_vram_b, 9);
  EXPECT_EQ(merged->ranks[2].status, "failure");
  EXPECT_EQ(merged->ranks[2].exit_status, 3);
  EXPECT_EQ(merged->succeeded, 2U);
  // host a's two GPUs were sampled by both ranks: 1100 + 2000 J; host b has 500 J
  EXPECT_EQ(merged->gpus, 3U);
  EXPECT_EQ(merged->joules, 3600);
  EXPECT_EQ(merged->peak_vram_b, 9);
  EXPECT_EQ(merged->wall_s, 13); // from the start of rank 0 to the end of rank 1
  EXPECT_EQ(merged->longest_s, 12);
  EXPECT_EQ(merged->shortest_s, 8);
  EXPECT_TRUE(merged->facts.empty());
}

TEST_F(ProfileMerge, FoldersMayBeNamedOneByOne) {
  for (const int n : {10, 2})
    rank(n, "a", 0, 1, kNow, {});
  const Result<ProfiledRanks> merged = merge_ranks({run() + "/rank_10/", run() + "/rank_2"});
  ASSERT_TRUE(merged) << merged.error().message();
  EXPECT_EQ(merged->ranks[0].rank, 2);
  EXPECT_EQ(merged->ranks[1].rank, 10);
  EXPECT_FALSE(merged->joules.has_value());
  ASSERT_EQ(merged->facts.size(), 1U);
  const auto* const missing = std::get_if<profile::MissingRanks>(&merged->facts[0].what);
  ASSERT_NE(missing, nullptr);
  EXPECT_EQ(missing->ranks, (profile::Texts{"0", "1", "3", "4", "5", "6", "7", "8", "9"}));
  EXPECT_FALSE(merge_ranks({run(), run() + "/rank_2"})) << "rank 2 twice";
}

TEST_F(ProfileMerge, ARankWithoutAUsableManifestStaysInTheList) {
  rank(0, "a", 0, 1, kNow, {});
  folder_.write("run/rank_1/run.log", "");
  folder_.write("run/rank_2/manifest.json", "{\"format\": \"rankscope-profile-1\", ");
  folder_.write("run/rank_3/manifest.json", "{}");
  const Result<ProfiledRanks> merged = merge_ranks({run()});
  ASSERT_TRUE(merged) << merged.error().message();
  ASSERT_EQ(merged->ranks.size(), 4U);
  EXPECT_EQ(merged->ranks[1].status, "no manifest");
  EXPECT_EQ(merged->ranks[2].status, "unreadable");
  EXPECT_EQ(merged->ranks[3].status, "unreadable");
  EXPECT_EQ(merged->succeeded, 1U);
  EXPECT_EQ(merged->facts.size(), 3U);
  EXPECT_FALSE(merge_ranks({folder_.path()})) << "no run at all";
}

TEST_F(ProfileMerge, SamplesHaveTheirRankAndWholeRowsOnly) {
  rank(0, "a", 0, 1, kNow, {});
  rank(1, "a", 0, 1, kNow, {});
  folder_.write("run/rank_0/gpu_samples.csv", "t,w\n1,10\n2,20\n3,3");
  folder_.write("run/rank_1/gpu_samples.csv", "t,w\n1,11\n");
  const Result<ProfiledRanks> merged = merge_ranks({run()});
  ASSERT_TRUE(merged) << merged.error().message();
  const Result<void> written = write_merged(*merged, {}, run());
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_EQ(test::bytes_of(run() + "/gpu_samples.csv"), "rank,t,w\n0,1,10\n0,2,20\n1,1,11\n");
  EXPECT_NE(test::bytes_of(run() + "/summary.txt").find("2 of 2 ok"), std::string::npos);
  EXPECT_TRUE(write_merged(*merged, {}, run())) << "again";
  EXPECT_FALSE(write_merged(*merged, {}, run() + "/rank_0")) << "a run's own manifest stays";
  folder_.write("run/rank_1/gpu_samples.csv", "t,x\n1,11\n");
  EXPECT_FALSE(write_merged(*merged, {}, run()));
}

} // namespace
} // namespace rankscope
