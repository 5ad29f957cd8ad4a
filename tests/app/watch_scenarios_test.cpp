// Runs watch for a complete job, poll by poll, with a clock that the test advances: which alarm
// each kind of problem raises, and when. HA-D1, HA-D4 to HA-D8.
#include "app/watch_loop.h"

#include "small_sweep.h"
#include "temp_folder.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <unistd.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSecondNs = 1'000'000'000;
/// a full minute, later than the times of all files
constexpr std::int64_t kBeginS = 4'000'000'020;

/// An alarm, and the second of the job at which it was raised.
struct Raised {
  Alarm alarm;
  double at_s = 0;
};

/// Inspector logs of a job with two kinds of collectives, and one record of each kind per period
/// and rank.
struct LogJob {
  std::int64_t ranks = 16, period_s = 1, seconds = 660;
  double noise_us = 30;
  std::function<double(std::int64_t rank, double s)> late_us = [](auto, auto) { return 0.0; };
  std::function<double(int kind, double s)> gbps = [](auto, auto) { return 100.0; };
  std::function<bool(double s)> runs = [](auto) { return true; };
  std::vector<std::string> endings = {".log"}; ///< of the log names, alternating over the ranks
};

class Scenario {
public:
  explicit Scenario(LogJob job) : job_(std::move(job)) { fs::create_directories(run()); }

  [[nodiscard]] std::string run() const { return folder_.path("run"); }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }

  /// Polls every 5 s while the job writes.
  std::vector<Raised> watch(WatchRequest request = {}, WatchLoop loop = {}) {
    request.inputs = {run()};
    std::vector<Raised> out;
    std::int64_t now_s = 0;
    const WatchClock clock{[&] { return (kBeginS + now_s) * kSecondNs; },
                           [&](double) {
                             write(now_s, now_s + 5);
                             now_s += 5;
                             if (at_second)
                               at_second(now_s);
                             return now_s <= job_.seconds;
                           }};
    Session session;
    Result<Watch> opened = Watch::open(request);
    EXPECT_TRUE(opened) << opened.error().message();
    Watch watch = std::move(*opened);
    const Result<void> done = run_watch(session, watch, loop, clock,
                                        [&](const WatchPoll& poll, std::int64_t) -> Result<void> {
                                          for (const Alarm& alarm : poll.alarms)
                                            out.push_back({alarm, static_cast<double>(now_s)});
                                          records += poll.records;
                                          ended_s = static_cast<double>(now_s);
                                          return {};
                                        });
    EXPECT_TRUE(done) << done.error().message();
    page = watch_page(watch.state(), {"run"}, clock.now_ns(), 5);
    return out;
  }

  std::function<void(std::int64_t s)> at_second;
  std::string page;
  std::uint64_t records = 0;
  double ended_s = 0;

private:
  /// Writes the records of the ranks in an interval of seconds.
  void write(std::int64_t from_s, std::int64_t to_s) {
    std::normal_distribution<double> noise(0, 1);
    std::vector<std::string> text(static_cast<std::size_t>(job_.ranks));
    for (std::int64_t s = from_s; s < to_s; s += 1) {
      const auto at = static_cast<double>(s);
      if (s % job_.period_s != 0 || !job_.runs(at))
        continue;
      for (int kind = 0; kind < 2; ++kind) {
        std::vector<double> came(text.size());
        for (std::size_t r = 0; r < came.size(); ++r)
          came[r] = job_.noise_us * noise(random_) + job_.late_us(static_cast<std::int64_t>(r), at);
        const double latest = *std::max_element(came.begin(), came.end());
        const double gbps = job_.gbps(kind, at) * (1 + 0.02 * noise(random_));
        for (std::size_t r = 0; r < came.size(); ++r)
          text[r] += fmt::format(
              R"({{"header":{{"id":"0x7f","comm_name":"pg","rank":{},"n_ranks":{}}},"metadata":)"
              R"({{"inspector_output_format_version":"v4.0","dump_timestamp_us":{}}},"coll_perf":)"
              R"({{"coll":"{}","coll_sn":{},"coll_msg_size_bytes":4096,"coll_exec_time_us":{:.0f},)"
              R"("coll_timing_source":"kernel_gpu","coll_busbw_gbs":{:.3f}}}}})"
              "\n",
              r, job_.ranks, (kBeginS + s) * 1'000'000 + 1, kind == 0 ? "AllReduce" : "AllGather",
              s, 2000 + latest - came[r], gbps);
      }
    }
    for (std::size_t r = 0; r < text.size(); ++r)
      append(fmt::format("{}/node-pid{}{}", run(), r, job_.endings[r % job_.endings.size()]),
             text[r]);
  }

  /// Appends to a log; to a compressed log as a separate gzip member.
  static void append(const std::string& path, const std::string& text) {
    if (text.empty())
      return;
    if (!path.ends_with(".gz")) {
      std::ofstream(path, std::ios::binary | std::ios::app) << text;
      return;
    }
    std::ofstream(path + ".part", std::ios::binary) << text;
    ASSERT_EQ(std::system(fmt::format("gzip -c '{0}.part' >> '{0}'; rm '{0}.part'", path).c_str()),
              0);
  }

  test::TempFolder folder_;
  LogJob job_;
  std::mt19937_64 random_{7};
};

std::vector<std::string> said(const std::vector<Raised>& raised) {
  std::vector<std::string> out;
  for (const Raised& r : raised)
    out.push_back(fmt::format("{:.0f} s {} {}: {}", r.at_s, alarm_name(r.alarm.kind),
                              r.alarm.subject, r.alarm.sentence));
  return out;
}

/// Returns the seconds at which alarms of this kind and subject were raised.
std::vector<double> times_of(const std::vector<Raised>& raised, AlarmKind kind,
                             const std::string& subject) {
  std::vector<double> out;
  for (const Raised& r : raised)
    if (r.alarm.kind == kind && r.alarm.subject.starts_with(subject))
      out.push_back(r.at_s);
  return out;
}

#define EXPECT_ONCE_WITHIN(times, from, to)                                                        \
  ASSERT_EQ((times).size(), 1U);                                                                   \
  EXPECT_GE((times)[0], from);                                                                     \
  EXPECT_LE((times)[0], to)

TEST(WatchScenarios, AQuietJobHasNoAlarm) {
  Scenario quiet({});
  EXPECT_EQ(said(quiet.watch()), std::vector<std::string>{});
}

TEST(WatchScenarios, EachKindOfCollectiveHasItsReason) { // HA-D6
  LogJob job;
  job.gbps = [](int kind, double s) {
    return kind == 0 ? (s < 150 ? 100 : 75) : (s < 330 ? 100 : 70);
  };
  Scenario falls(job);
  const std::vector<Raised> raised = falls.watch();
  EXPECT_EQ(raised.size(), 2U) << fmt::format("{}", fmt::join(said(raised), "\n"));
  EXPECT_ONCE_WITHIN(times_of(raised, AlarmKind::kBandwidth, "AllReduce"), 180, 330);
  EXPECT_ONCE_WITHIN(times_of(raised, AlarmKind::kBandwidth, "AllGather"), 360, 510);
  // the page shows the bandwidth as a line, and marks both windows (HA-D12)
  const std::size_t chart = falls.page.find("bus bandwidth, weighted by transfer time (GB/s)");
  ASSERT_NE(chart, std::string::npos);
  const std::string_view svg =
      std::string_view(falls.page).substr(chart, falls.page.find("</svg>", chart) - chart);
  const auto count = [svg](std::string_view part) {
    int n = 0;
    for (std::size_t at = svg.find(part); at != std::string_view::npos; at = svg.find(part, at + 1))
      ++n;
    return n;
  };
  EXPECT_GE(count("<circle"), 9);
  EXPECT_EQ(count("bandwidth falls: "), 2);
  EXPECT_EQ(count("var(--bad)"), 2);
  EXPECT_EQ(falls.page.find("step (ms)</text>"), std::string::npos) << "logs have no steps";
}

TEST(WatchScenarios, AJobThatStandsStillAsAWholeIsSilent) { // HA-D5
  LogJob job;
  job.runs = [](double s) { return s < 200; };
  Scenario hangs(job);
  WatchRequest request;
  request.still_s = 60;
  const std::vector<Raised> raised = hangs.watch(request);
  ASSERT_EQ(raised.size(), 1U) << fmt::format("{}", fmt::join(said(raised), "\n"));
  EXPECT_EQ(raised[0].alarm.kind, AlarmKind::kSilent);
  EXPECT_GE(raised[0].at_s, 255);
  EXPECT_LE(raised[0].at_s, 270);
  EXPECT_EQ(raised[0].alarm.sentence,
            "nothing new from any of 16 logs for 60 s (the longest pause before was 5 s): the job "
            "hangs or has ended (use --ended-when to distinguish them)");
  EXPECT_NE(hangs.page.find("2096-10-02T07:11"), std::string::npos) << "the time of the alarm";
}

TEST(WatchScenarios, AJobThatHasEndedIsNotSilent) { // HA-D5
  LogJob job;
  job.runs = [](double s) { return s < 200; };
  Scenario ends(job);
  WatchRequest request;
  request.still_s = 60;
  WatchLoop loop;
  Result<JobEnd> end = JobEnd::parse(ends.path("done"));
  ASSERT_TRUE(end);
  loop.end = std::move(*end);
  ends.at_second = [&](std::int64_t s) {
    if (s == 230)
      std::ofstream(ends.path("done")) << "0\n";
  };
  EXPECT_EQ(said(ends.watch(request, loop)), std::vector<std::string>{});
  EXPECT_EQ(ends.ended_s, 230);
}

TEST(WatchScenarios, AJobThatGoesOnIsSilentOnceForEachPause) {
  LogJob job;
  job.seconds = 1500;
  job.period_s = 5;
  job.runs = [](double s) { return s < 200 || (s >= 400 && s < 600); };
  Scenario pauses(job);
  WatchRequest request;
  request.still_s = 60;
  const std::vector<Raised> raised = pauses.watch(request);
  const std::vector<double> times = times_of(raised, AlarmKind::kSilent, "all");
  ASSERT_EQ(times.size(), 2U) << fmt::format("{}", fmt::join(said(raised), "\n"));
  EXPECT_LE(times[0], 270);
  EXPECT_GE(times[1], 660);
  EXPECT_EQ(raised.size(), 2U);
}

TEST(WatchScenarios, BandwidthThatSinksSlowlyIsAnAlarm) { // HA-D7
  LogJob job;
  job.ranks = 2;
  job.period_s = 5;
  job.seconds = 3600;
  job.gbps = [](int, double s) { return 109 * (1 - 0.005 * s / 60); };
  Scenario sinks(job);
  const std::vector<Raised> raised = sinks.watch();
  const std::vector<double> times = times_of(raised, AlarmKind::kBandwidth, "");
  ASSERT_FALSE(times.empty());
  EXPECT_LE(times[0], 1920) << "10 % below the first windows at about 23 min";
  EXPECT_NE(raised[0].alarm.sentence.find("GB/s of the first 5 windows"), std::string::npos)
      << raised[0].alarm.sentence;
  EXPECT_LE(raised.size(), 2U) << "once for each kind";
}

TEST(WatchScenarios, EachStragglerHasItsReason) { // HA-D4
  LogJob job;
  job.late_us = [](std::int64_t rank, double s) {
    return rank == 7 && s >= 120 ? 300.0 : rank == 11 && s >= 240 ? 200.0 : 0.0;
  };
  Scenario two(job);
  const std::vector<Raised> raised = two.watch();
  EXPECT_EQ(raised.size(), 2U) << fmt::format("{}", fmt::join(said(raised), "\n"));
  EXPECT_ONCE_WITHIN(times_of(raised, AlarmKind::kStraggler, "7"), 180, 300);
  EXPECT_ONCE_WITHIN(times_of(raised, AlarmKind::kStraggler, "11"), 300, 420);
}

TEST(WatchScenarios, LatenessThatCostsNothingIsNoAlarmUnlessAsked) { // HA-D8
  LogJob job;
  job.seconds = 300;
  job.noise_us = 5;
  job.late_us = [](std::int64_t rank, double) { return rank == 4 || rank == 9 ? 40.0 : 0.0; };
  Scenario usual(job);
  EXPECT_EQ(said(usual.watch()), std::vector<std::string>{});
  Scenario asked(job);
  WatchRequest strict;
  strict.limits.least_late_us = 10;
  const std::vector<Raised> raised = asked.watch(strict);
  ASSERT_FALSE(raised.empty());
  EXPECT_EQ(raised[0].alarm.subject, "4, 9");
  EXPECT_NE(raised[0].alarm.sentence.find("this costs at most 0.0"), std::string::npos)
      << raised[0].alarm.sentence; // 2 collectives per second, 40 us each
}

// Constant differences between ranks are part of their spread: no rank is an outlier (HA-D8).
TEST(WatchScenarios, RanksThatDifferByTheirPlacesAreNoStragglers) {
  LogJob job;
  job.ranks = 64;
  job.seconds = 300;
  job.noise_us = 3;
  std::mt19937_64 random(3);
  std::normal_distribution<double> place(0, 30);
  std::vector<double> places;
  for (std::int64_t r = 0; r < job.ranks; ++r)
    places.push_back(place(random));
  job.late_us = [places](std::int64_t rank, double) {
    return places[static_cast<std::size_t>(rank)];
  };
  Scenario spread(job);
  WatchRequest strict;
  strict.limits.least_late_us = 10;
  EXPECT_EQ(said(spread.watch(strict)), std::vector<std::string>{});
}

TEST(WatchScenarios, LogsOfAllFourEndingsAreRead) {
  LogJob job;
  job.ranks = 4;
  job.seconds = 200;
  job.endings = {".log", ".log.gz", ".jsonl", ".jsonl.gz"};
  job.late_us = [](std::int64_t rank, double) { return rank == 1 ? 400.0 : 0.0; };
  Scenario packed(job);
  const std::vector<Raised> raised = packed.watch();
  EXPECT_EQ(packed.records, 4U * 2U * 200U);
  EXPECT_EQ(times_of(raised, AlarmKind::kStraggler, "1").size(), 1U);
  EXPECT_NE(packed.page.find("1600 records of 4 logs read, 3 windows judged"), std::string::npos)
      << packed.page.substr(0, 4000);
  EXPECT_NE(packed.page.find("<meta http-equiv=\"refresh\" content=\"5\">"), std::string::npos);
}

// ---- traces ------------------------------------------------------------------------------------

/// A job of 16 ranks that writes a window of traces every 20 s.
class TraceScenario {
public:
  explicit TraceScenario(std::int64_t steps) { options_.steps = steps; }

  /// Writes one window.
  void window(int number, std::int64_t straggler) {
    synth::Options o = options_;
    o.seed = static_cast<std::uint64_t>(number);
    o.straggler = straggler;
    o.straggler_us = 400;
    const std::string made = folder_.path("made");
    ASSERT_TRUE(synth::generate(o, made, 2, [](const std::string&) {}));
    for (std::int64_t r = 0; r < o.ranks; ++r) {
      const std::string to = fmt::format("{}/rank{}", run(), r);
      fs::create_directories(to);
      for (const auto& entry : fs::directory_iterator(
               fmt::format("{}/torch_profiler/rank{}", test::config_folder(made), r)))
        fs::rename(entry.path(), fmt::format("{}/t{}.json", to, number));
    }
    fs::remove_all(made);
  }
  [[nodiscard]] std::string run() const { return folder_.path("run"); }

private:
  test::TempFolder folder_;
  synth::Options options_ = [] {
    synth::Options o = test::small_sweep();
    o.ranks = 16;
    return o;
  }();
};

std::vector<Alarm> alarms_at(Watch& watch, std::int64_t second) {
  Session session;
  session.threads = 2;
  Result<WatchPoll> out = watch.poll(session, (kBeginS + second) * kSecondNs);
  EXPECT_TRUE(out) << out.error().message();
  return out ? out->alarms : std::vector<Alarm>{};
}

TEST(WatchScenarios, AStragglerInWindowsOfThreeStepsIsNamed) { // HA-D1
  TraceScenario job(3);
  WatchRequest request;
  request.inputs = {job.run()};
  Result<Watch> opened = Watch::open(request);
  ASSERT_TRUE(opened);
  Watch watch = std::move(*opened);
  for (int w = 1; w <= 3; ++w) {
    job.window(w, -1);
    EXPECT_TRUE(alarms_at(watch, w * 20).empty());
  }
  std::vector<Alarm> raised;
  for (int w = 4; w <= 6; ++w) {
    job.window(w, 5);
    for (const Alarm& alarm : alarms_at(watch, w * 20))
      raised.push_back(alarm);
  }
  ASSERT_EQ(raised.size(), 1U);
  EXPECT_EQ(raised[0].kind, AlarmKind::kStraggler);
  EXPECT_EQ(raised[0].subject, "5");
  EXPECT_LE(raised[0].window, 5U);
  // 0.4 ms per step were injected; the lateness of all collectives together is several times longer
  EXPECT_NE(raised[0].sentence.find("; the others wait 0.4"), std::string::npos)
      << raised[0].sentence;
}

TEST(WatchScenarios, TracesThatStopAtAllRanksAreSilent) { // HA-D5
  TraceScenario job(2);
  WatchRequest request;
  request.inputs = {job.run()};
  request.still_s = 60;
  Result<Watch> opened = Watch::open(request);
  ASSERT_TRUE(opened);
  Watch watch = std::move(*opened);
  for (int w = 1; w <= 3; ++w) {
    job.window(w, -1);
    EXPECT_TRUE(alarms_at(watch, w * 20).empty());
  }
  EXPECT_TRUE(alarms_at(watch, 115).empty());
  const std::vector<Alarm> raised = alarms_at(watch, 125);
  ASSERT_EQ(raised.size(), 1U);
  EXPECT_EQ(raised[0].kind, AlarmKind::kSilent);
  EXPECT_NE(raised[0].sentence.find("16 ranks for 65 s"), std::string::npos) << raised[0].sentence;
  EXPECT_TRUE(alarms_at(watch, 900).empty());
}

TEST(WatchScenarios, TheEndOfAJobIsAFileAProcessOrAJob) {
  const test::TempFolder t;
  for (const char* bad : {"", "file:", "pid:x", "pid:0", "job:"})
    EXPECT_FALSE(JobEnd::parse(bad)) << bad;
  Result<JobEnd> self = JobEnd::parse(fmt::format("pid:{}", ::getpid()));
  ASSERT_TRUE(self);
  EXPECT_FALSE(self->reached(1));
  Result<JobEnd> gone = JobEnd::parse("pid:999999999");
  ASSERT_TRUE(gone);
  EXPECT_TRUE(gone->reached(1));
  // a fake squeue, which prints nothing for a job that has left the queue
  const std::string tool = t.write("squeue", "#!/bin/sh\ncat \"$0.out\"\n");
  fs::permissions(tool, fs::perms::owner_all);
  t.write("squeue.out", "RUNNING\n");
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (t.path() + ":" + path).c_str(), 1);
  Result<JobEnd> job = JobEnd::parse("job:4711");
  ASSERT_TRUE(job);
  EXPECT_FALSE(job->reached(kSecondNs));
  t.write("squeue.out", "");
  EXPECT_FALSE(job->reached(2 * kSecondNs)) << "asked once a minute";
  EXPECT_TRUE(job->reached(62 * kSecondNs));
  ::setenv("PATH", path.c_str(), 1);
}

} // namespace
} // namespace rankscope
