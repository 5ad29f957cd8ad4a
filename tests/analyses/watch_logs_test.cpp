// Tests watch with the Inspector logs of a job: hand-calculated lateness and bandwidth, jobs
// without effects and without alarms, effects that raise alarms, ranks that stop or do not take
// part, restarts, and limits.
#include "analyses/watch/watch_logs.h"

#include "analyses/watch/watch_state.h"
#include "cost.h"
#include "sanitized.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace rankscope {
namespace {

// start of a window, which has six slots of 10 s
constexpr std::int64_t kStartUs = 1'770'000'000'000'000 / 60'000'000 * 60'000'000;
constexpr std::int64_t kWindowUs = 60'000'000;
constexpr std::int64_t kStillNs = 300'000'000'000;

InspectorRecord record(std::int64_t rank, std::uint64_t number, std::uint32_t exec_us,
                       std::int64_t at_us, std::int64_t ranks, double gbps = 100) {
  InspectorRecord out;
  out.header = {"0x7f", "default_pg", rank, ranks, kStartUs + at_us};
  out.what = "AllReduce";
  out.number = number;
  out.bytes = 1024;
  out.exec_us = exec_us;
  out.bus_gbps = gbps;
  return out;
}

/// A job in which the arrival times of the ranks are random, and so are the times of the
/// collectives.
struct WatchLogsJob {
  std::int64_t ranks = 4, windows = 6;
  std::int64_t from_window = 99; ///< first window with the effects
  double late_us = 0;            ///< lateness of rank 3
  double fall = 0;               ///< relative drop of the bandwidth
  std::uint64_t seed = 1;
};

std::vector<InspectorRecord> records_of(const WatchLogsJob& job) {
  std::mt19937_64 random(job.seed);
  std::normal_distribution<double> noise(0, 1);
  std::vector<InspectorRecord> out;
  std::uint64_t number = 0;
  for (std::int64_t w = 0; w < job.windows; ++w)
    for (std::int64_t i = 0; i < 24; ++i, ++number) {
      const bool changed = w >= job.from_window;
      const double gbps = (100 + 5 * noise(random)) * (changed ? 1 - job.fall : 1);
      std::vector<double> came(static_cast<std::size_t>(job.ranks));
      for (double& at : came)
        at = 30 * noise(random);
      if (changed)
        came[3] += job.late_us;
      const double latest = *std::max_element(came.begin(), came.end());
      for (std::int64_t r = 0; r < job.ranks; ++r)
        out.push_back(
            record(r, number,
                   static_cast<std::uint32_t>(1000 + latest - came[static_cast<std::size_t>(r)]),
                   w * kWindowUs + i * kWindowUs / 24 + r, job.ranks, gbps));
    }
  return out;
}

struct WatchOutput {
  std::vector<Alarm> alarms;
  std::vector<WatchedWindow> windows;
};

/// Passes the records in this order and advances the watch after each record; `last`: ends the last
/// window.
WatchOutput watch(LogWatch& logs, const std::vector<InspectorRecord>& records, bool last = true) {
  WatchOutput out;
  for (const InspectorRecord& r : records) {
    logs.take(logs.process("node-pid" + std::to_string(r.header.rank)), r);
    logs.advance(r.header.written_us * 1000, LogWatch::Read::kAll, out.alarms, out.windows);
  }
  if (last)
    logs.advance(kStartUs * 1000, LogWatch::Read::kLast, out.alarms, out.windows);
  return out;
}

WatchOutput watch(const WatchLogsJob& job) {
  LogWatch logs;
  return watch(logs, records_of(job));
}

bool has(const WatchOutput& watched, AlarmKind kind) {
  return std::any_of(watched.alarms.begin(), watched.alarms.end(),
                     [kind](const Alarm& a) { return a.kind == kind; });
}

TEST(WatchLogs, LatenessAndBandwidthByHand) {
  LogWatch logs;
  std::vector<InspectorRecord> records;
  for (std::uint64_t n = 0; n < 2; ++n) {
    // waited for rank 2; lateness (100 + 40) / 2 - 100 = -30
    records.push_back(record(0, n, 100, 5, 3, 10));
    records.push_back(record(1, n, 100, 6, 3, 10));
    records.push_back(record(2, n, 40, 7, 3, 25)); // lateness (100 + 100) / 2 - 40 = 60
  }
  const WatchOutput watched = watch(logs, records);
  ASSERT_EQ(watched.windows.size(), 1U);
  const WatchedWindow& w = watched.windows[0];
  EXPECT_EQ(w.ranks, 3U);
  EXPECT_EQ(w.known_ranks, 3U);
  EXPECT_EQ(w.latest_rank, 2);
  EXPECT_DOUBLE_EQ(w.late_us, 60);
  EXPECT_DOUBLE_EQ(w.bus_gbps, 25); // of the rank that waited least
  EXPECT_FALSE(w.exposed_percent);
  EXPECT_TRUE(w.label.starts_with("logs of ")) << w.label;
  EXPECT_EQ(logs.records(), 6U);
  EXPECT_EQ(logs.incomplete(), 0U);
}

TEST(WatchLogs, QuietJobsHaveNoAlarmAndEffectsAreTold) {
  constexpr int kJobs = test::kSanitized ? 5 : 40;
  int quiet = 0;
  int late = 0;
  int fell = 0;
  for (int seed = 1; seed <= kJobs; ++seed) {
    WatchLogsJob job;
    job.seed = static_cast<std::uint64_t>(seed);
    quiet += watch(job).alarms.empty() ? 1 : 0;
    job.from_window = 3;
    job.late_us = 250; // with four ranks, the spread of the ranks matters too
    late += has(watch(job), AlarmKind::kStraggler) ? 1 : 0;
    job.late_us = 0;
    job.fall = 0.3;
    fell += has(watch(job), AlarmKind::kBandwidth) ? 1 : 0;
  }
  EXPECT_GE(quiet, kJobs - 1 - kJobs / 10);
  EXPECT_GE(late, kJobs - 1);
  EXPECT_GE(fell, kJobs - 1);
}

TEST(WatchLogs, TheOrderOfLogsDoesNotMatter) {
  WatchLogsJob job;
  job.from_window = 3;
  job.late_us = 150;
  std::vector<InspectorRecord> records = records_of(job);
  const auto said = [](const WatchOutput& watched) {
    std::vector<std::string> out;
    for (const Alarm& a : watched.alarms)
      out.push_back(a.sentence);
    for (const WatchedWindow& w : watched.windows)
      out.push_back(w.label + " " + std::to_string(w.late_us) + " " + std::to_string(w.bus_gbps));
    return out;
  };
  LogWatch straight;
  const auto want = said(watch(straight, records));
  ASSERT_EQ(want.size(), 7U);
  // each log is read completely, one log after the other, and the windows are judged at the end
  std::stable_sort(records.begin(), records.end(),
                   [](const auto& a, const auto& b) { return a.header.rank < b.header.rank; });
  LogWatch single;
  WatchOutput watched;
  for (std::int64_t r = 0; r < job.ranks; ++r)
    single.process("node-pid" + std::to_string(r));
  for (const InspectorRecord& r : records)
    single.take(single.process("node-pid" + std::to_string(r.header.rank)), r);
  single.advance(kStartUs * 1000, LogWatch::Read::kLast, watched.alarms, watched.windows);
  EXPECT_EQ(said(watched), want);
}

TEST(WatchLogs, ALogThatStandsStillIsToldOnce) {
  WatchLogsJob job;
  job.windows = 3;
  std::vector<InspectorRecord> records = records_of(job);
  std::erase_if(records, [](const InspectorRecord& r) {
    return r.header.rank == 2 && r.header.written_us >= kStartUs + 2 * kWindowUs;
  });
  LogWatch logs;
  const WatchOutput watched = watch(logs, records, false);
  EXPECT_TRUE(watched.alarms.empty());
  std::vector<Alarm> alarms;
  // the other ranks continue into the third window
  const std::int64_t went_on = (kStartUs + 2 * kWindowUs) * 1000;
  logs.judge_still(went_on + kStillNs - 1'000'000'000, kStillNs, alarms);
  EXPECT_TRUE(alarms.empty());
  logs.judge_still(went_on + kStillNs + 1'000'000'000, kStillNs, alarms);
  ASSERT_EQ(alarms.size(), 1U);
  EXPECT_EQ(alarms[0].kind, AlarmKind::kHang);
  EXPECT_EQ(alarms[0].subject, "2");
  EXPECT_EQ(alarms[0].sentence,
            "hang suspected: no new data from rank 2: most of the 4 logs continued 300 s ago");
  logs.judge_still(went_on + 4 * kStillNs, kStillNs, alarms);
  EXPECT_EQ(alarms.size(), 1U);
}

TEST(WatchLogs, ARankThatDoesNotTakePartIsTold) {
  WatchLogsJob job;
  std::vector<InspectorRecord> records = records_of(job);
  // from the third window on, rank 1 uses another communicator, in which it is alone
  for (InspectorRecord& r : records)
    if (r.header.rank == 1 && r.number >= 48) {
      r.header.comm = "0x99";
      r.header.rank = 0;
      r.header.n_ranks = 1;
    }
  LogWatch logs;
  WatchOutput watched;
  for (std::size_t i = 0; i < records.size(); ++i) {
    logs.take(logs.process("node-pid" + std::to_string(i % 4)), records[i]);
    logs.advance(kStartUs * 1000, LogWatch::Read::kAll, watched.alarms, watched.windows);
  }
  ASSERT_EQ(watched.alarms.size(), 1U) << watched.alarms.back().sentence;
  EXPECT_EQ(watched.alarms[0].kind, AlarmKind::kCollective);
  EXPECT_EQ(watched.alarms[0].subject, "default_pg 0x7f");
  EXPECT_NE(watched.alarms[0].sentence.find(
                "ranks 0, 2, 3 entered AllReduce of group default_pg 0x7f as number 48, rank 1 did "
                "not"),
            std::string::npos)
      << watched.alarms[0].sentence;
}

TEST(WatchLogs, RecordsThatTheInspectorLostAreNoAlarm) {
  WatchLogsJob job;
  std::vector<InspectorRecord> records = records_of(job);
  std::erase_if(records, [](const InspectorRecord& r) {
    return r.header.rank == 1 && r.number >= 30 && r.number < 80; // its ring buffer was full
  });
  LogWatch logs;
  const WatchOutput watched = watch(logs, records);
  EXPECT_TRUE(watched.alarms.empty()) << watched.alarms[0].sentence;
  EXPECT_EQ(logs.incomplete(), 50U);
  EXPECT_EQ(watched.windows.size(), 6U);
}

TEST(WatchLogs, ARecordTwiceCountsOnceAndACommunicatorMayBeginAnew) {
  LogWatch logs;
  std::vector<InspectorRecord> records;
  for (std::uint64_t n = 0; n < 20; ++n)
    for (std::int64_t r = 0; r < 2; ++r)
      records.push_back(record(r, n, 100, static_cast<std::int64_t>(n), 2));
  for (std::uint64_t n = 15; n < 20; ++n) // the same records again
    records.push_back(record(0, n, 100, 30, 2));
  for (std::uint64_t n = 0; n < 3; ++n) // a new communicator with the same hash
    for (std::int64_t r = 0; r < 2; ++r)
      records.push_back(record(r, n, 100, 2 * kWindowUs, 2));
  const WatchOutput watched = watch(logs, records);
  EXPECT_EQ(watched.windows.size(), 2U);
  EXPECT_EQ(logs.incomplete(), 0U);
  EXPECT_DOUBLE_EQ(watched.windows[1].bus_gbps, 100);
}

TEST(WatchLogs, ARestartGoesOnWithTheSameBytes) {
  WatchLogsJob job;
  job.from_window = 3;
  job.late_us = 150;
  WatchState straight;
  WatchState carried;
  std::vector<InspectorRecord> records = records_of(job);
  // two windows of each log at a time, so that many collectives wait for the other ranks
  std::stable_sort(records.begin(), records.end(), [](const auto& a, const auto& b) {
    return std::pair(a.number / 48, a.header.rank) < std::pair(b.number / 48, b.header.rank);
  });
  for (const InspectorRecord& r : records) {
    for (WatchState* state : {&straight, &carried}) {
      state->logs.take(state->logs.process("p" + std::to_string(r.header.rank)), r);
      std::vector<Alarm> alarms;
      std::vector<WatchedWindow> windows;
      state->logs.advance(r.header.written_us * 1000, LogWatch::Read::kAll, alarms, windows);
    }
    if (r.number % 8 != 5)
      continue;
    const std::string bytes = encode_watch_state("run", carried);
    EXPECT_TRUE(bytes == encode_watch_state("run", straight)) << r.number;
    Result<WatchStateFile> back = decode_watch_state(bytes);
    ASSERT_TRUE(back) << back.error().message();
    carried = std::move(back->state);
  }
  EXPECT_EQ(carried.logs.incomplete(), 0U);
}

TEST(WatchLogs, WhatItKeepsDoesNotGrowWithTime) {
  WatchLogsJob job;
  job.windows = test::kSanitized ? 60 : 200;
  LogWatch logs;
  std::size_t early = 0;
  std::vector<Alarm> alarms;
  std::vector<WatchedWindow> windows;
  WatchState state;
  for (const InspectorRecord& r : records_of(job)) {
    state.logs.take(state.logs.process("p" + std::to_string(r.header.rank)), r);
    state.logs.advance(r.header.written_us * 1000, LogWatch::Read::kAll, alarms, windows);
    if (r.number == 24 * 20)
      early = encode_watch_state("run", state).size();
  }
  EXPECT_EQ(windows.size(), static_cast<std::size_t>(job.windows) - 1);
  // the state stores at most 64 windows that most ranks have reached, and their times
  EXPECT_LT(encode_watch_state("run", state).size(), early + 64 * 16);
}

TEST(WatchLogs, CollectivesOfHugeCommunicatorsDoNotFillTheMemory) {
  LogWatch logs;
  const std::uint32_t process = logs.process("p");
  for (std::uint64_t n = 0; n < 8; ++n) // each collective waits for a million ranks
    logs.take(process, record(0, n, 1, 1, kMostInspectorRanks));
  EXPECT_GE(logs.incomplete(), 2U);
  EXPECT_EQ(logs.problem(), "");
}

TEST(WatchLogs, AStateThatDoesNotFitTogetherIsRefused) {
  WatchState state;
  state.logs.take(state.logs.process("p"), record(0, 1, 1, 1, 2));
  state.log_files["a.log"].process = 1; // only process 0 exists
  EXPECT_FALSE(decode_watch_state(encode_watch_state("run", state)));
  state.log_files["a.log"].process = 0;
  EXPECT_TRUE(decode_watch_state(encode_watch_state("run", state)));
  state.world = -1;
  EXPECT_FALSE(decode_watch_state(encode_watch_state("run", state)));
}

// Regression test: for each new communicator, the ranks of all others were counted and all waiting
// collectives were searched.
TEST(WatchLogs, TimeGrowsAsTheNumberOfCommunicators) {
  test::expect_near_linear(test::kSanitized ? 500 : 2'500, [](std::size_t n) {
    LogWatch watch;
    const std::uint32_t process = watch.process("node-pid0");
    for (std::size_t c = 0; c < n; ++c) {
      InspectorRecord first = record(0, 1, 1000, static_cast<std::int64_t>(c), 2);
      first.header.comm = "0x" + std::to_string(c);
      watch.take(process, first);
    }
    ASSERT_EQ(watch.records(), n);
  });
}

TEST(WatchLogs, ACommunicatorWithOtherRanksIsAnother) {
  LogWatch watch;
  const std::uint32_t process = watch.process("node-pid0");
  for (const std::int64_t ranks : {2, 2, 3}) { // the first two are dropped while they wait
    static std::uint64_t number = 0;
    watch.take(process, record(0, ++number, 1000, 0, ranks));
  }
  EXPECT_EQ(watch.incomplete(), 2U);
  WatchState state;
  state.logs = watch;
  const std::string bytes = encode_watch_state("x", state);
  const auto back = decode_watch_state(bytes);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(encode_watch_state("x", back->state), bytes);
}

} // namespace
} // namespace rankscope
