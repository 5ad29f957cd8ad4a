// Tests watch with Inspector logs that grow: each byte is read once, incomplete lines wait;
// truncated or rotated logs, restarts, and logs together with traces. The tests set the time.
#include "app/watch.h"

#include "small_sweep.h"
#include "synth/synth.h"
#include "temp_folder.h"
#include "test_paths.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kBeginUs = 1'770'000'000'000'000 / 60'000'000 * 60'000'000;

std::string line(std::int64_t rank, std::uint64_t number, std::int64_t at_us, int exec_us = 500,
                 double gbps = 100) {
  return fmt::format(
      R"({{"header":{{"id":"0x7f","comm_name":"default_pg","rank":{},"n_ranks":4,"nnodes":1}},)"
      R"("metadata":{{"inspector_output_format_version":"v4.0","dump_timestamp_us":{},)"
      R"("hostname":"n","pid":1}},"coll_perf":{{"coll":"AllReduce","coll_sn":{},)"
      R"("coll_msg_size_bytes":4096,"coll_exec_time_us":{},"coll_timing_source":"kernel_gpu",)"
      R"("coll_algobw_gbs":1.0,"coll_busbw_gbs":{:.3f}}}}})"
      "\n",
      rank, kBeginUs + at_us, number, exec_us, gbps);
}

class WatchLogFiles : public ::testing::Test {
protected:
  WatchLogFiles() { fs::create_directories(run()); }

  [[nodiscard]] std::string run() const { return folder_.path("run"); }
  [[nodiscard]] std::string log(std::int64_t rank) const {
    return run() + "/node01-pid" + std::to_string(1000 + rank) + ".log";
  }
  static void append(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::app) << text;
  }
  /// Writes 24 collectives of each rank in minute `m`.
  void minute(std::int64_t m, int late_us = 0, double gbps = 100) const {
    for (std::int64_t r = 0; r < 4; ++r) {
      std::string text;
      for (std::int64_t i = 0; i < 24; ++i)
        text += line(r, static_cast<std::uint64_t>(m * 24 + i), m * 60'000'000 + i * 2'500'000 + r,
                     1000 - (r == 3 ? late_us : 0) + static_cast<int>((i * 7 + r * 3) % 11), gbps);
      append(log(r), text);
    }
  }
  [[nodiscard]] WatchRequest request(const std::string& state = "") const {
    WatchRequest out;
    out.inputs = {run()};
    out.state = state;
    return out;
  }
  static Watch open(const WatchRequest& request) {
    Result<Watch> watch = Watch::open(request);
    EXPECT_TRUE(watch) << watch.error().message();
    return std::move(*watch);
  }
  /// Polls `minutes` minutes after the start of the job.
  static WatchPoll poll(Watch& watch, double minutes, bool last = false) {
    Session session;
    session.threads = 1;
    Result<WatchPoll> out =
        watch.poll(session, kBeginUs * 1000 + static_cast<std::int64_t>(minutes * 60e9), last);
    EXPECT_TRUE(out) << out.error().message();
    return out ? std::move(*out) : WatchPoll{};
  }

  test::TempFolder folder_;
};

TEST_F(WatchLogFiles, EachRecordIsReadOnceAndWindowsAreJudgedWhenAllHavePassed) {
  Watch watch = open(request());
  EXPECT_EQ(poll(watch, 0).records, 0U);
  minute(0);
  const WatchPoll first = poll(watch, 1);
  EXPECT_EQ(first.records, 96U);
  EXPECT_TRUE(first.windows.empty()); // more records of that minute may follow
  EXPECT_EQ(poll(watch, 1.5).records, 0U);
  minute(1);
  const WatchPoll second = poll(watch, 2);
  EXPECT_EQ(second.records, 96U);
  ASSERT_EQ(second.windows.size(), 1U);
  EXPECT_EQ(second.windows[0].ranks, 4U);
  EXPECT_NEAR(second.windows[0].bus_gbps, 100, 1e-9);
  EXPECT_EQ(poll(watch, 2.1, true).windows.size(), 1U);
  EXPECT_EQ(watch.state().logs.records(), 192U);
}

/// Returns `n` lines of a rank that are not collectives.
std::string other_lines(std::int64_t rank, std::int64_t at_us, int n, const std::string& what) {
  std::string out;
  for (int i = 0; i < n; ++i)
    out += fmt::format(R"({{"header":{{"id":"0x7f","rank":{},"n_ranks":4}},"metadata":{{)"
                       R"("inspector_output_format_version":"v4.0","dump_timestamp_us":{}}},{}}})"
                       "\n",
                       rank, kBeginUs + at_us, what);
  return out;
}

const std::string kSend = R"("p2p_perf":{"p2p":"Send","p2p_msg_size_bytes":1048576})";

// Logs that exist at the first poll give the same results as logs that arrive minute by minute,
// also if a block of one log spans minutes and a block of another log seconds.
TEST_F(WatchLogFiles, LogsOfDifferentDensityAreReadInTheOrderOfTime) {
  const auto add_lines = [](const WatchPoll& seen, std::vector<std::string>& out) {
    for (const Alarm& alarm : seen.alarms)
      out.push_back(alarm.sentence);
    for (const WatchedWindow& w : seen.windows)
      out.push_back(fmt::format("{} {} {:.6f} {:.6f}", w.label, w.ranks, w.late_us, w.bus_gbps));
  };
  constexpr std::int64_t kMinutes = 12;
  std::vector<std::string> straight;
  Watch watch = open(request());
  for (std::int64_t m = 0; m < kMinutes; ++m) {
    minute(m, m >= 3 ? 200 : 0, m >= 7 ? 60 : 100);
    append(log(0), other_lines(0, m * 60'000'000 + 59'000'000, 1000, kSend));
    add_lines(poll(watch, static_cast<double>(m) + 1, m + 1 == kMinutes), straight);
  }
  std::vector<std::string> at_once;
  Watch backlog = open(request());
  add_lines(poll(backlog, kMinutes, true), at_once);
  std::sort(straight.begin(), straight.end());
  std::sort(at_once.begin(), at_once.end());
  EXPECT_EQ(at_once, straight);
  EXPECT_EQ(straight.size(), 2U + kMinutes);
}

// A log that grows is not a hang: a pipeline stage that only sends and receives, and a node whose
// clock was set back.
TEST_F(WatchLogFiles, ALogThatGrowsIsNoRankThatStandsStill) {
  const auto story = [this](const std::string& what, std::int64_t back_us) {
    fs::remove_all(run());
    fs::create_directories(run());
    Watch watch = open(request());
    std::vector<std::string> reported;
    for (std::int64_t m = 0; m < 12; ++m) {
      for (std::int64_t r = 0; r < 4; ++r)
        append(log(r), m < 2 || r != 2 ? line(r, static_cast<std::uint64_t>(m), m * 60'000'000 + 1)
                                       : other_lines(r, m * 60'000'000 - back_us, 1, what));
      for (const Alarm& alarm : poll(watch, static_cast<double>(m) + 1).alarms)
        if (alarm.kind == AlarmKind::kHang)
          reported.push_back(alarm.subject);
    }
    return reported;
  };
  const std::vector<std::string> none;
  EXPECT_EQ(story(kSend, 0), none);
  EXPECT_EQ(story(kSend, 3'600'000'000), none);
  // lines of the plugin's thread, which only report that there were no collectives
  EXPECT_EQ(story(R"("dump_stats":{"coll_dropped_since_last_dump":0})", 0),
            std::vector<std::string>{"2"});
}

// Containers with process id 1 and the same host name.
TEST_F(WatchLogFiles, EqualNamesInFoldersAreProcessesOfTheirOwn) {
  Watch watch = open(request());
  for (std::int64_t r = 0; r < 4; ++r) {
    const std::string folder = run() + "/rank" + std::to_string(r);
    fs::create_directories(folder);
    for (std::int64_t i = 0; i < 72; ++i)
      append(folder + "/node-pid1.log",
             line(r, static_cast<std::uint64_t>(i), i * 2'500'000 + r, 1000));
  }
  const WatchPoll seen = poll(watch, 4, true);
  ASSERT_FALSE(seen.windows.empty());
  EXPECT_EQ(seen.windows[0].ranks, 4U);
}

TEST_F(WatchLogFiles, ALineThatHasNotEndedWaits) {
  Watch watch = open(request());
  const std::string text = line(0, 0, 0);
  append(log(0), text + text.substr(0, 300));
  EXPECT_EQ(poll(watch, 1).records, 1U);
  EXPECT_EQ(poll(watch, 1.1).records, 0U);
  append(log(0), text.substr(300));
  const WatchPoll grew = poll(watch, 1.2);
  EXPECT_EQ(grew.records, 1U);
  EXPECT_TRUE(grew.warnings.empty());
}

TEST_F(WatchLogFiles, ALogOfManyPiecesIsReadWhole) {
  Watch watch = open(request());
  std::string text;
  for (std::uint64_t n = 0; n < 1000; ++n) // 400 bytes each: several blocks
    text += line(0, n, static_cast<std::int64_t>(n));
  // longer than a block, shorter than the limit for lines
  text += fmt::format("{{\"header\": {{\"{}\": 1}}}}\n", std::string(200'000, 'x'));
  text += line(0, 1000, 1000);
  append(log(0), text);
  const WatchPoll seen = poll(watch, 1);
  EXPECT_EQ(seen.records, 1001U);
  ASSERT_EQ(seen.warnings.size(), 1U);
  EXPECT_EQ(seen.warnings[0], log(0) + ": 1 line is not a record");
}

TEST_F(WatchLogFiles, ALogThatIsCutOffOrRotatedIsSaidAndReadFromItsBeginning) {
  Watch watch = open(request());
  minute(0);
  poll(watch, 1);
  fs::resize_file(log(0), 0);
  append(log(0), line(0, 24, 60'000'000));
  WatchPoll seen = poll(watch, 2);
  EXPECT_EQ(seen.records, 1U);
  ASSERT_EQ(seen.warnings.size(), 1U);
  EXPECT_EQ(seen.warnings[0], log(0) + ": is shorter than the part already read (cut off or "
                                       "rewritten): read from its beginning");
  const auto before = fs::file_size(log(1));
  fs::rename(log(1), log(1) + ".1");
  std::string text;
  for (std::uint64_t n = 24; fs::file_size(log(1) + ".1") >= text.size(); ++n)
    text += line(1, n, 60'000'000 + static_cast<std::int64_t>(n));
  append(log(1), text); // longer than the log before it
  EXPECT_GT(fs::file_size(log(1)), before);
  seen = poll(watch, 3);
  EXPECT_GT(seen.records, 20U);
  ASSERT_EQ(seen.warnings.size(), 1U);
  EXPECT_EQ(seen.warnings[0], log(1) + ": is not the log that was here before (rotated): read "
                                       "from its beginning");
  EXPECT_TRUE(poll(watch, 4).warnings.empty());
}

TEST_F(WatchLogFiles, OtherLogsArePassedOver) {
  append(run() + "/train.log", "step 1 loss 2.5\n");
  append(run() + "/nccl.log", std::string(20'000, 'x'));
  Watch watch = open(request());
  EXPECT_EQ(poll(watch, 1).records, 0U);
  append(run() + "/train.log", line(0, 0, 0)); // still short: it may be an Inspector log
  EXPECT_EQ(poll(watch, 2).records, 1U);
  EXPECT_EQ(watch.state().logs.processes(), 1U);
}

/// Returns the messages of a watch while logs grow; `restart`: restarts it after each poll.
std::vector<std::string> story(const WatchRequest& request, bool restart,
                               const std::function<void(std::int64_t)>& minute,
                               const std::function<WatchPoll(Watch&, double, bool)>& poll) {
  Result<Watch> first = Watch::open(request);
  EXPECT_TRUE(first) << first.error().message();
  std::optional<Watch> watch(std::move(*first));
  std::vector<std::string> reported;
  for (std::int64_t m = 0; m < 6; ++m) {
    minute(m);
    const WatchPoll seen = poll(*watch, static_cast<double>(m) + 1, m == 5);
    for (const Alarm& alarm : seen.alarms)
      reported.push_back(alarm.sentence);
    for (const WatchedWindow& window : seen.windows)
      reported.push_back(fmt::format("{} {} {}", window.label, window.late_us, window.bus_gbps));
    reported.push_back(std::to_string(seen.records));
    if (restart) {
      Result<Watch> again = Watch::open(request);
      EXPECT_TRUE(again) << again.error().message();
      watch.emplace(std::move(*again));
    }
  }
  reported.push_back(watch_page(watch->state(), {"run"}, 0, 0));
  return reported;
}

TEST_F(WatchLogFiles, ARestartNeitherReadsNorTellsAgain) {
  const auto grow = [this](std::int64_t m) { minute(m, m >= 3 ? 200 : 0, m >= 3 ? 60 : 100); };
  const auto straight = story(request(folder_.path("one.state")), false, grow, poll);
  fs::remove_all(run());
  fs::create_directories(run());
  const auto restarted = story(request(folder_.path("two.state")), true, grow, poll);
  EXPECT_EQ(straight, restarted);
  const auto with = [&](const std::string& word) {
    return std::count_if(straight.begin(), straight.end(), [&](const std::string& s) {
      return s.find(word) != std::string::npos && s.find("<html") == std::string::npos;
    });
  };
  EXPECT_EQ(with("rank 3 starts "), 1);
  EXPECT_EQ(with("bandwidth falls"), 1);
  EXPECT_NE(straight.back().find("576 records of 4 logs read"), std::string::npos);
}

TEST_F(WatchLogFiles, AnotherWindowIsAnotherState) {
  WatchRequest asked = request(folder_.path("state"));
  open(asked);
  asked.window_s = 30;
  const Result<Watch> watch = Watch::open(asked);
  ASSERT_FALSE(watch);
  EXPECT_EQ(watch.error().what, "is the state of a watch with another --window: 60");
}

TEST_F(WatchLogFiles, LogsAndTracesOfOneFolder) {
  synth::Options o = test::small_sweep();
  o.ranks = 2;
  o.steps = 3;
  o.straggler = -1;
  ASSERT_TRUE(synth::generate(o, folder_.path("made"), 1, [](const std::string&) {}));
  fs::copy(test::config_folder(folder_.path("made")), run() + "/traces",
           fs::copy_options::recursive);
  minute(0);
  WatchRequest both = request();
  both.inputs.push_back(log(0)); // named twice: read once
  Watch watch = open(both);
  const WatchPoll seen = poll(watch, 1'000'000, true);
  EXPECT_EQ(seen.read, 2U);
  EXPECT_EQ(seen.records, 96U);
  EXPECT_EQ(seen.windows.size(), 2U);
  EXPECT_TRUE(seen.lost.empty());
}

TEST_F(WatchLogFiles, TheSamplesShowTheLateRank) {
  const fs::path golden = test::golden_dir() / "formats" / "inspector";
  if (!fs::is_directory(golden))
    GTEST_SKIP() << "the reference data is absent (RANKSCOPE_GOLDEN names its folder)";
  WatchRequest asked = request();
  asked.inputs = {golden.string()};
  Watch watch = open(asked);
  const WatchPoll seen = poll(watch, 1, true);
  EXPECT_EQ(seen.records, 32U);
  ASSERT_EQ(seen.windows.size(), 1U);
  EXPECT_EQ(seen.windows[0].latest_rank, 3);
  EXPECT_TRUE(seen.alarms.empty()); // eight collectives at the same time are one sample
}

} // namespace
} // namespace rankscope
