// Tests watch with folders to which traces are added: which files it reads, when it judges, which
// alarms it raises, and that a restart has no effect. The tests set the time.
#include "app/watch.h"

#include "engine/loader.h"
#include "sanitized.h"
#include "small_sweep.h"
#include "temp_folder.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kWatchSecond = 1'000'000'000;
/// Later than the times of all files of a test.
constexpr std::int64_t kStart = 4'000'000'000 * kWatchSecond;

/// A job whose windows are runs of generated sweeps.
class Job {
public:
  explicit Job(std::int64_t ranks = 4) : ranks_(ranks) {}

  synth::Options options(std::uint64_t seed) const {
    synth::Options o = test::small_sweep();
    o.ranks = ranks_;
    o.steps = 5;
    o.seed = seed;
    o.straggler = -1;
    return o;
  }
  /// Writes the traces of all ranks for one more window; ranks in `absent` write no trace.
  void write(const synth::Options& o, const std::vector<std::int64_t>& absent = {}) {
    const std::string made = folder_.path("made" + std::to_string(++windows_));
    EXPECT_TRUE(synth::generate(o, made, 2, [](const std::string&) {}));
    for (std::int64_t r = 0; r < ranks_; ++r) {
      if (std::find(absent.begin(), absent.end(), r) != absent.end())
        continue;
      const std::string to = run() + "/rank" + std::to_string(r);
      fs::create_directories(to);
      fs::rename(test::config_folder(made) + "/torch_profiler/rank" + std::to_string(r) +
                     "/trace_step19.json",
                 to + "/trace_window" + std::to_string(windows_) + ".json");
    }
    fs::remove_all(made);
  }
  [[nodiscard]] std::string run() const { return folder_.path("run"); }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }
  [[nodiscard]] WatchRequest request(const std::string& state = "") const {
    WatchRequest out;
    out.inputs = {run()};
    out.state = state;
    return out;
  }

private:
  test::TempFolder folder_;
  std::int64_t ranks_;
  int windows_ = 0;
};

Watch open(const WatchRequest& request) {
  Result<Watch> watch = Watch::open(request);
  EXPECT_TRUE(watch) << watch.error().message();
  return std::move(*watch);
}

WatchPoll poll(Watch& watch, std::int64_t second, bool last = false) {
  Session session;
  session.threads = 2;
  Result<WatchPoll> out = watch.poll(session, kStart + second * kWatchSecond, last);
  EXPECT_TRUE(out) << out.error().message();
  return out ? std::move(*out) : WatchPoll{};
}

std::vector<std::string> sentences(const std::vector<Alarm>& alarms) {
  std::vector<std::string> out;
  for (const Alarm& a : alarms)
    out.push_back(a.sentence);
  return out;
}

TEST(Watch, ReadsEachTraceOnceAndJudgesWholeWindows) {
  Job job;
  Watch watch = open(job.request());
  EXPECT_EQ(poll(watch, 0).read, 0U); // the folder does not exist yet
  job.write(job.options(1));
  const WatchPoll first = poll(watch, 10);
  EXPECT_EQ(first.read, 4U);
  ASSERT_EQ(first.windows.size(), 1U);
  EXPECT_EQ(first.windows[0].ranks, 4U);
  EXPECT_EQ(first.windows[0].known_ranks, 4U);
  EXPECT_GT(first.windows[0].step_ms, 0);
  EXPECT_GT(first.windows[0].bus_gbps, 0);
  EXPECT_EQ(poll(watch, 20).read, 0U);
  job.write(job.options(2), {3});
  const WatchPoll second = poll(watch, 30);
  EXPECT_EQ(second.read, 3U);
  EXPECT_TRUE(second.windows.empty()); // rank 3 has not written yet
  const WatchPoll last = poll(watch, 40, true);
  ASSERT_EQ(last.windows.size(), 1U);
  EXPECT_EQ(last.windows[0].ranks, 3U);
}

TEST(Watch, WaitsForAFileThatGrows) {
  Job job(2);
  job.write(job.options(1));
  const std::string path = job.run() + "/rank1/trace_window1.json";
  const std::string bytes = test::bytes_of(path);
  fs::resize_file(path, bytes.size() / 2);
  WatchRequest request = job.request();
  request.settled_s = 1e12; // complete only if the size is unchanged
  Watch watch = open(request);
  EXPECT_EQ(poll(watch, 0).waiting.size(), 2U);
  std::FILE* const file = std::fopen(path.c_str(), "ab");
  std::fwrite(bytes.data() + bytes.size() / 2, 1, bytes.size() - bytes.size() / 2, file);
  std::fclose(file);
  const WatchPoll grew = poll(watch, 10);
  EXPECT_EQ(grew.read, 1U);
  EXPECT_EQ(grew.waiting.size(), 1U);
  const WatchPoll done = poll(watch, 20);
  EXPECT_EQ(done.read, 1U);
  EXPECT_EQ(done.windows.size(), 1U);
  EXPECT_TRUE(done.lost.empty());
}

TEST(Watch, QuietJobsHaveNoAlarmAndAStragglerIsTold) {
  int alarmed = 0; // windows of jobs without changes that have an alarm
  int reported = 0;
  // under sanitizers each job takes seconds; one of the two jobs may be judged wrongly
  constexpr int kJobs = test::kSanitized ? 2 : 20;
  for (int seed = 1; seed <= kJobs; ++seed) {
    Job job;
    Watch watch = open(job.request());
    for (std::uint64_t w = 0; w < 3; ++w) {
      job.write(job.options(static_cast<std::uint64_t>(seed) * 10 + w));
      const WatchPoll seen = poll(watch, static_cast<std::int64_t>(w) * 10);
      EXPECT_EQ(seen.windows.size(), 1U);
      alarmed += seen.alarms.empty() ? 0 : 1;
    }
    synth::Options slow = job.options(static_cast<std::uint64_t>(seed) * 10 + 3);
    slow.straggler = seed % 4;
    slow.straggler_us = 4000;
    job.write(slow);
    const WatchPoll seen = poll(watch, 40);
    reported += std::any_of(seen.alarms.begin(), seen.alarms.end(), [&](const Alarm& a) {
      return a.kind == AlarmKind::kStraggler && a.subject == std::to_string(seed % 4);
    });
  }
  EXPECT_LE(alarmed, 1);
  EXPECT_GE(reported, kJobs - 1);
}

TEST(Watch, BandwidthThatFallsIsTold) {
  Job job;
  Watch watch = open(job.request());
  for (std::uint64_t w = 1; w <= 3; ++w) {
    job.write(job.options(w));
    EXPECT_TRUE(poll(watch, static_cast<std::int64_t>(w) * 10).alarms.empty());
  }
  synth::Options slow = job.options(9);
  slow.slow_links = {{0, 1, 1.6}};
  job.write(slow);
  const WatchPoll seen = poll(watch, 50);
  ASSERT_EQ(seen.alarms.size(), 1U);
  EXPECT_EQ(seen.alarms[0].kind, AlarmKind::kBandwidth);
  EXPECT_NE(seen.alarms[0].sentence.find("bandwidth falls"), std::string::npos);
  EXPECT_EQ(seen.alarms[0].label, seen.windows[0].label);
  // the page marks only that window
  const std::string page = watch_page(watch.state(), {job.run()}, 60 * kWatchSecond, 0);
  const std::string mark = ": " + seen.alarms[0].sentence + "</title>";
  const std::size_t at = page.find(mark);
  ASSERT_NE(at, std::string::npos) << page;
  EXPECT_EQ(page.find(mark, at + 1), std::string::npos); // all windows have the same steps
}

TEST(Watch, ARankThatWritesNoMoreIsToldOnce) {
  Job job;
  Watch watch = open(job.request());
  job.write(job.options(1));
  EXPECT_TRUE(poll(watch, 0).alarms.empty());
  job.write(job.options(2), {2});
  EXPECT_TRUE(poll(watch, 100).alarms.empty());
  EXPECT_TRUE(poll(watch, 399).alarms.empty()); // less than 300 s after the other ranks
  const WatchPoll alarmed = poll(watch, 400);
  ASSERT_EQ(alarmed.alarms.size(), 1U);
  EXPECT_EQ(alarmed.alarms[0].kind, AlarmKind::kHang);
  EXPECT_EQ(alarmed.alarms[0].subject, "2");
  EXPECT_EQ(alarmed.alarms[0].sentence,
            "hang suspected: no new data from rank 2: most of the 4 ranks continued 300 s ago");
  EXPECT_TRUE(poll(watch, 900).alarms.empty());
}

// A rank that died when it opened its trace: an empty file does not show that the rank is alive.
TEST(Watch, AnEmptyTraceThatStaysSoHidesNoHang) {
  Job job;
  Watch watch = open(job.request());
  job.write(job.options(1));
  EXPECT_TRUE(poll(watch, 0).alarms.empty());
  job.write(job.options(2), {2});
  std::ofstream empty(job.run() + "/rank2/trace_window2.json");
  EXPECT_EQ(poll(watch, 100).waiting.size(), 1U); // it may still be written
  EXPECT_TRUE(poll(watch, 399).waiting.empty());
  const WatchPoll alarmed = poll(watch, 400);
  ASSERT_EQ(alarmed.alarms.size(), 1U);
  EXPECT_EQ(alarmed.alarms[0].subject, "2");
}

// A file system that is unmounted during a poll: files that were read are not read again.
TEST(Watch, AFolderThatIsAwayForALookIsNotReadAgain) {
  Job job;
  Watch watch = open(job.request());
  job.write(job.options(1));
  EXPECT_EQ(poll(watch, 0).read, 4U);
  fs::rename(job.run(), job.path("away"));
  EXPECT_EQ(poll(watch, 10).read, 0U);
  fs::rename(job.path("away"), job.run());
  EXPECT_EQ(poll(watch, 20).read, 0U);
}

TEST(Watch, AJobThatEndsIsNoHang) {
  Job job;
  Watch watch = open(job.request());
  job.write(job.options(1));
  poll(watch, 0);
  EXPECT_TRUE(poll(watch, 100'000).alarms.empty());
}

/// A job whose windows have different steps, and whose traces may arrive late.
class SteppedJob {
public:
  /// Writes the traces of the next window, without the number of ranks in the files.
  void write(const std::vector<std::int64_t>& ranks) {
    job_.write(job_.options(static_cast<std::uint64_t>(++windows_)));
    for (std::int64_t r = 0; r < 4; ++r) {
      const std::string name =
          "rank" + std::to_string(r) + "/trace_window" + std::to_string(windows_) + ".json";
      std::string text = test::bytes_of(job_.run() + "/" + name);
      for (int step = 19; step >= 15; --step)
        replace(text, "ProfilerStep#" + std::to_string(step),
                "ProfilerStep#" + std::to_string(100 * windows_ + step));
      replace(text, "world_size", "xorld_size");
      fs::remove(job_.run() + "/" + name);
      fs::create_directories(fs::path(later(name)).parent_path());
      std::ofstream(later(name), std::ios::binary) << text;
      if (std::find(ranks.begin(), ranks.end(), r) != ranks.end())
        come(r, windows_);
    }
  }
  /// Adds a trace that was held back.
  void come(std::int64_t rank, int window) {
    const std::string name =
        "rank" + std::to_string(rank) + "/trace_window" + std::to_string(window) + ".json";
    fs::rename(later(name), job_.run() + "/" + name);
  }
  [[nodiscard]] WatchRequest request() const { return job_.request(); }

private:
  static void replace(std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  }
  [[nodiscard]] std::string later(const std::string& name) const {
    return job_.path("later/" + name);
  }

  Job job_;
  int windows_ = 0;
};

std::vector<std::string> lines_of(const WatchPoll& seen) {
  std::vector<std::string> out;
  for (const WatchedWindow& w : seen.windows)
    out.push_back(fmt::format("{}: {} of {}", w.label, w.ranks, w.known_ranks));
  out.insert(out.end(), seen.warnings.begin(), seen.warnings.end());
  return out;
}

TEST(Watch, TheFirstLookKnowsAllRanksThatAreThere) {
  SteppedJob job;
  job.write({0, 1, 2, 3});
  job.write({0, 1, 2, 3});
  Watch watch = open(job.request());
  EXPECT_EQ(lines_of(poll(watch, 0)),
            (std::vector<std::string>{"steps 115-119: 4 of 4", "steps 215-219: 4 of 4"}));
}

// A node that writes late: a trace that arrives after its window was judged is reported and left
// out. The rank takes part in the windows that are still open.
TEST(Watch, ARankThatCatchesUpIsInTheWindowsThatAreOpen) {
  SteppedJob job;
  Watch watch = open(job.request());
  job.write({0, 1, 2, 3});
  EXPECT_EQ(lines_of(poll(watch, 0)), std::vector<std::string>{"steps 115-119: 4 of 4"});
  for (int w = 2; w <= 6; ++w)
    job.write({0, 1, 2});
  // five windows are open: the oldest is judged
  EXPECT_EQ(lines_of(poll(watch, 100)), std::vector<std::string>{"steps 215-219: 3 of 4"});
  job.come(3, 2);
  EXPECT_EQ(lines_of(poll(watch, 110)),
            std::vector<std::string>{
                "steps 215-219 of rank 3: left out, because this window was already judged"});
  for (int w = 3; w <= 6; ++w)
    job.come(3, w);
  EXPECT_EQ(lines_of(poll(watch, 120)),
            (std::vector<std::string>{"steps 315-319: 4 of 4", "steps 415-419: 4 of 4",
                                      "steps 515-519: 4 of 4", "steps 615-619: 4 of 4"}));
  EXPECT_TRUE(watch.state().alarms.empty());
}

// The rank still writes, so it does not hang, even if it is always late.
TEST(Watch, ARankThatIsAlwaysLateIsNoHang) {
  SteppedJob job;
  Watch watch = open(job.request());
  job.write({0, 1, 2, 3});
  poll(watch, 0);
  for (int w = 2; w <= 12; ++w) {
    job.write({0, 1, 2});
    if (w > 6)
      job.come(3, w - 5);
    for (const Alarm& alarm : poll(watch, w * 60).alarms)
      EXPECT_NE(alarm.kind, AlarmKind::kHang) << w << " " << alarm.sentence;
  }
}

/// Returns the messages of a watch over these windows; `restart`: restarts it after each poll.
std::pair<std::vector<std::string>, std::size_t> story(bool restart) {
  Job job;
  const WatchRequest request = job.request(job.path("watch.state"));
  std::optional<Watch> watch = open(request);
  std::vector<std::string> reported;
  std::size_t read = 0;
  for (std::uint64_t w = 1; w <= 5; ++w) {
    synth::Options o = job.options(w);
    o.straggler = w >= 3 ? 1 : -1;
    o.straggler_us = 4000;
    job.write(o, w == 4 ? std::vector<std::int64_t>{3} : std::vector<std::int64_t>{});
    for (int part = 0; part < 2; ++part) {
      const WatchPoll seen =
          poll(*watch, static_cast<std::int64_t>(w) * 100 + part * 50, w == 5 && part == 1);
      read += seen.read;
      for (const std::string& sentence : sentences(seen.alarms))
        reported.push_back(sentence);
      for (const WatchedWindow& window : seen.windows)
        reported.push_back(window.label + " of " + std::to_string(window.ranks));
      if (restart)
        watch = open(request);
    }
  }
  reported.push_back(watch_page(watch->state(), {"run"}, 0, 0));
  return {reported, read};
}

TEST(Watch, ARestartNeitherReadsNorTellsAgain) {
  const auto straight = story(false);
  const auto restarted = story(true);
  EXPECT_EQ(straight.second, 19U);
  EXPECT_EQ(restarted, straight);
  EXPECT_EQ(std::count_if(straight.first.begin(), straight.first.end(),
                          [](const std::string& s) {
                            return s.find("rank 1 starts") != std::string::npos &&
                                   s.find("<html") == std::string::npos;
                          }),
            1);
}

TEST(Watch, AStateThatIsCutOrOfOthersIsRefused) {
  Job job(2);
  job.write(job.options(1));
  const std::string path = job.path("watch.state");
  {
    Watch watch = open(job.request(path));
    poll(watch, 0);
  }
  const std::string bytes = test::bytes_of(path);
  for (std::size_t n = 0; n < bytes.size(); n += 1 + bytes.size() / 60) {
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    std::fwrite(bytes.data(), 1, n, file);
    std::fclose(file);
    const Result<Watch> watch = Watch::open(job.request(path));
    ASSERT_FALSE(watch) << n;
    EXPECT_EQ(watch.error().code, ErrorCode::kUnreadable);
    EXPECT_EQ(watch.error().where, path);
  }
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fclose(file);
  EXPECT_TRUE(Watch::open(job.request(path)));
  WatchRequest other = job.request(path);
  other.inputs = {job.path("elsewhere")};
  EXPECT_FALSE(Watch::open(other));
}

TEST(Watch, ACollectiveThatSomeDidNotEnterIsToldWhereTheStepIsWhole) {
  Job job;
  job.write(job.options(1));
  const auto gaps_without = [&](std::int64_t step) {
    std::vector<WatchedRank> ranks;
    for (int r = 0; r < 4; ++r) {
      LoadOptions options;
      options.threads = 1;
      Result<LoadedTrace> trace =
          load_trace(job.run() + "/rank" + std::to_string(r) + "/trace_window1.json", options);
      EXPECT_TRUE(trace);
      WatchedRank rank;
      rank.collectives = extract_collectives(*trace);
      rank.collectives.rank = r;
      for (std::int64_t s = 15; s < 20; ++s)
        rank.steps.push_back(s);
      if (r == 2)
        std::erase_if(rank.collectives.rows,
                      [step](const Collective& c) { return c.step == step; });
      ranks.push_back(std::move(rank));
    }
    return watch_window(std::move(ranks), "steps").gaps;
  };
  EXPECT_TRUE(gaps_without(99).empty());
  EXPECT_TRUE(gaps_without(15).empty()); // the trace may start within that step
  EXPECT_TRUE(gaps_without(19).empty());
  const std::vector<WatchedGap> gaps = gaps_without(17);
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_EQ(gaps[0].absent, std::vector<std::int64_t>{2});
  EXPECT_EQ(gaps[0].entered, (std::vector<std::int64_t>{0, 1, 3}));
  EXPECT_EQ(gaps[0].where, "in step 17");
  EXPECT_GT(gaps[0].collectives, 1);
}

} // namespace
} // namespace rankscope
