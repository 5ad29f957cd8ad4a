// Tests reading of the library's version and configuration from its log, and whether a setting took
// effect. The lines are in the format of NCCL and RCCL, with changed names and numbers.
#include "collect/nccl_log.h"
#include "temp_folder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

NcclFacts facts_of(const std::string& text) {
  const test::TempFolder folder;
  NcclFacts out;
  out.read_file(folder.write("log", text));
  return out;
}

SweepSetting setting(std::int64_t threads, std::int64_t channels) {
  return grid_settings({threads}, {channels}, false).front();
}

bool nothing_said(const SettingCheck& check) {
  return !check.silent && check.took_effect() && check.warnings.empty();
}

/// Returns the log of a process of rank `rank` that read these channels; 0 = none.
std::string log_of_rank(int rank, int channels) {
  const std::string head = "h1:" + std::to_string(100 + rank) + ":7 [0] NCCL INFO ";
  return (channels == 0 ? ""
                        : head + "NCCL_MAX_NCHANNELS set by environment to " +
                              std::to_string(channels) + ".\n") +
         head + "NCCL_NTHREADS set by environment to 256.\n";
}

/// Returns "NAME: ASKED, USED" for each difference.
std::vector<std::string> differences(const SettingCheck& check) {
  std::vector<std::string> out;
  for (const SettingCheck::Difference& d : check.differences)
    out.push_back(d.name + ": " + d.asked + ", " + d.used);
  return out;
}

constexpr const char* kLog =
    "node1:100:101 [0] NCCL INFO NCCL_DEBUG set by environment to INFO\n"
    "loss 1.23\n"
    "node1:100:101 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n"
    "node1:100:140 [0] NCCL INFO NCCL_MAX_NCHANNELS set by environment to 28.\n"
    "node1:100:140 [0] NCCL INFO NCCL_NTHREADS set by environment to 256.\r\n"
    "node1:100:140 [0] NCCL INFO 28 coll channels, 28 collnet channels, 0 nvls channels, 32 p2p "
    "channels, 32 p2p channels per peer\n"
    "node1:100:140 [0] NCCL INFO ncclCommInitRank comm 0x55 rank 0 nranks 8 cudaDev 0 nvmlDev 0 "
    "busId 1a000 commId 0x77 - Init COMPLETE";

TEST(NcclLog, FactsOfALog) {
  const NcclFacts f = facts_of(kLog);
  EXPECT_TRUE(f.found);
  EXPECT_EQ(f.library, "NCCL");
  EXPECT_EQ(f.version, "2.21.5+cuda12.4");
  using Values = std::map<std::string, std::set<std::string>>;
  EXPECT_EQ(f.environment.at("NCCL_MAX_NCHANNELS"), (Values{{"28", {"node1:100"}}}));
  EXPECT_EQ(f.environment.at("NCCL_NTHREADS"), (Values{{"256", {"node1:100"}}}));
  EXPECT_EQ(f.channels, 28);
  EXPECT_EQ(f.most_channels, 28);
  EXPECT_EQ(f.ranks, 8);
  EXPECT_TRUE(f.warnings.empty());
  EXPECT_TRUE(nothing_said(check_setting(f, setting(256, 28))));
}

TEST(NcclLog, RcclIsNamedByItsOwnVersion) {
  const NcclFacts f = facts_of("h:1:1 [0] NCCL INFO NCCL version 2.22.3+hip6.4\n"
                               "RCCL version : 2.22.3-develop:abc123\n");
  EXPECT_EQ(f.library, "RCCL");
  EXPECT_EQ(f.version, "2.22.3-develop:abc123");
}

TEST(NcclLog, ASettingThatDidNotTakeEffectIsSaid) {
  const NcclFacts f = facts_of(kLog);
  EXPECT_EQ(differences(check_setting(f, setting(256, 56))),
            (std::vector<std::string>{"NCCL_MAX_NCHANNELS: 56, 28", "channels: 56, 28"}));
  NcclFacts fewer = f;
  fewer.environment["NCCL_MAX_NCHANNELS"] = {{"56", {"node1:100"}}};
  fewer.channels = 24;
  fewer.most_channels = 32;
  EXPECT_EQ(differences(check_setting(fewer, setting(256, 56))),
            std::vector<std::string>{"channels: 56, 24 to 32"});
  NcclFacts unread = f;
  unread.environment.erase("NCCL_NTHREADS");
  EXPECT_EQ(differences(check_setting(unread, setting(256, 28))),
            std::vector<std::string>{"RCCL_THREADS_PER_BLOCK, NCCL_NTHREADS: threads 256, "});
}

// Each process of a run needs the value, whichever log is read last.
TEST(NcclLog, OneProcessWithAnotherValueOrWithoutAValueIsFound) {
  for (int wrong = 0; wrong < 8; ++wrong)
    for (const int channels : {8, 0}) {
      std::string text;
      for (int rank = 0; rank < 8; ++rank)
        text += log_of_rank(rank, rank == wrong ? channels : 28);
      const SettingCheck check = check_setting(facts_of(text), setting(256, 28));
      ASSERT_EQ(check.differences.size(), 1U) << wrong << " " << channels;
      const SettingCheck::Difference& d = check.differences.front();
      EXPECT_EQ(d.used, channels == 0 ? "" : "8");
      EXPECT_EQ(d.processes, std::set<std::string>{"h1:" + std::to_string(100 + wrong)});
      EXPECT_EQ(d.all_processes, 8U);
    }
}

TEST(NcclLog, NamesOfProcesses) {
  // with a time or a tag before, and without a process
  const NcclFacts f =
      facts_of("[2025-01-02 03:04:05] h:12:13 [1] NCCL INFO A set by environment to 1\n"
               "[rank0]: h:12:13 [1] NCCL INFO A set by environment to 1\n"
               "[1,0]<stderr>:h:12:13 [1] NCCL INFO A set by environment to 1\n"
               "[0] NCCL INFO A set by environment to 1\n"
               "NCCL INFO A set by environment to 1\n");
  const std::set<std::string>& processes = f.environment.at("A").at("1");
  EXPECT_TRUE(processes.contains("h:12"));
  EXPECT_EQ(processes.size(), 2U); // the other lines belong to the file
}

TEST(NcclLog, NoLibraryIsSaidUnlessNothingWasAskedOfIt) {
  const NcclFacts f = facts_of("loss 1.23\n");
  EXPECT_FALSE(f.found);
  EXPECT_TRUE(check_setting(f, setting(256, 28)).silent);
  SweepSetting other;
  other.configuration.set("batch", "16");
  other.environment["batch"] = {{"BATCH", "16"}};
  EXPECT_TRUE(nothing_said(check_setting(f, other)));
}

TEST(NcclLog, WarningsOnceEachAndNotWithoutEnd) {
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += "h:1:1 [0] enqueue.cc:1 NCCL WARN number " + std::to_string(i % 20) + "\n";
  EXPECT_EQ(facts_of(text).warnings.size(), 8U);
}

TEST(NcclLog, OddBytesAndLongLines) {
  std::string text =
      "NCCL INFO \nNCCL INFO  coll channels\nNCCL version \n NCCL INFO nranks x nranks ";
  text += std::string(100'000, 'x') + " NCCL WARN hidden in a line of the workload\n";
  text += std::string("\0\xff\n", 3) + "h NCCL INFO 5 coll channels\n";
  const NcclFacts f = facts_of(text);
  EXPECT_EQ(f.channels, 5);
  EXPECT_TRUE(f.warnings.empty());
  EXPECT_EQ(f.ranks, 0);
}

} // namespace
} // namespace rankscope
