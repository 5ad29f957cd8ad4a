// Tests the alarms of watch with jobs of random windows and known effects: a job without changes
// has no alarm, and a change raises one alarm, once.
#include "analyses/watch/watch_judge.h"

#include "analyses/watch/watch_part.h"
#include "sanitized.h"

#include <gtest/gtest.h>
#include <random>

namespace rankscope {
namespace {

struct Job {
  std::size_t ranks = 8, steps = 6, windows = 30, kinds = 4;
  std::size_t from_window = 0; ///< first window with the effects (1-based); 0: no effects
  double late_us = 0;          ///< lateness of rank 3
  double fall = 0;             ///< relative drop of the bandwidth, for all kinds
};

WatchWindow window_of(const Job& job, std::size_t number, std::mt19937_64& random) {
  const bool changed = job.from_window > 0 && number >= job.from_window;
  std::normal_distribution<double> noise(0, 1);
  WatchWindow out;
  out.label = "window " + std::to_string(number);
  out.ranks = job.ranks;
  for (std::size_t r = 0; r < job.ranks; ++r) {
    WatchedLateness row{static_cast<std::int64_t>(r), {}};
    for (std::size_t s = 0; s < job.steps; ++s)
      row.late_us.push_back(40 * noise(random) + (changed && r == 3 ? job.late_us : 0));
    out.lateness.push_back(std::move(row));
  }
  for (std::size_t k = 0; k < job.kinds; ++k) {
    WatchedBandwidth row{"kind " + std::to_string(k), {}};
    for (std::size_t s = 0; s < job.steps; ++s)
      row.gbps.push_back((200 + 12 * noise(random)) * (changed ? 1 - job.fall : 1));
    out.bandwidths.push_back(std::move(row));
  }
  return out;
}

std::vector<Alarm> alarms_of(const Job& job, std::uint64_t seed, WatchLimits limits = {}) {
  std::mt19937_64 random(seed);
  WatchJudge judge(limits);
  std::vector<Alarm> out;
  for (std::size_t w = 1; w <= job.windows; ++w)
    for (Alarm& alarm : judge.judge(window_of(job, w, random)))
      out.push_back(std::move(alarm));
  return out;
}

/// Sanitizers make each job ten times slower, so fewer jobs are run. What happens in 5 % of jobs
/// happens in more than 4 of 20 with a probability of 0.3 %. What happens in 95 % of jobs happens
/// in fewer than 16 of 20 with the same probability.
constexpr int kJobs = test::kSanitized ? 20 : 200;
constexpr int kFew = test::kSanitized ? 4 : 10;
constexpr int kMost = test::kSanitized ? 16 : 190;

/// Returns the number of jobs, out of kJobs, for which `seen` returns true.
template <class Seen> int jobs_with(const Job& job, WatchLimits limits, const Seen& seen) {
  int out = 0;
  for (std::uint64_t seed = 1; seed <= kJobs; ++seed)
    out += seen(alarms_of(job, seed, limits)) ? 1 : 0;
  return out;
}

bool has(const std::vector<Alarm>& alarms, AlarmKind kind, const std::string& subject = "") {
  return std::any_of(alarms.begin(), alarms.end(), [&](const Alarm& a) {
    return a.kind == kind && (subject.empty() || a.subject == subject);
  });
}

TEST(WatchJudge, AQuietJobRaisesNoAlarm) {
  // with limits of 0, small effects are not ignored: only the intervals prevent alarms
  const WatchLimits strict{0, 0};
  for (const std::size_t ranks : {2U, 8U, 64U}) {
    Job quiet;
    quiet.ranks = ranks;
    const int with = jobs_with(quiet, strict, [](const auto& alarms) { return !alarms.empty(); });
    EXPECT_LE(with, kFew) << ranks << " ranks"; // 5 %
  }
}

TEST(WatchJudge, AStragglerThatAppearsIsTold) {
  Job job;
  job.from_window = 12;
  job.late_us = 200;
  EXPECT_GE(jobs_with(job, {}, [](const auto& a) { return has(a, AlarmKind::kStraggler, "3"); }),
            kMost);
  job.from_window = 1; // from the first window, in a job of one window
  job.windows = 1;
  job.late_us = 400;
  EXPECT_GE(jobs_with(job, {}, [](const auto& a) { return has(a, AlarmKind::kStraggler, "3"); }),
            kMost);
}

// A rank whose log starts in this window has one sample or no sample.
TEST(WatchJudge, ARankWithFewSamplesHidesNoStraggler) {
  std::mt19937_64 random(5);
  for (const std::size_t samples : {0U, 1U}) {
    WatchJudge judge;
    Job job;
    job.from_window = 1;
    job.late_us = 400;
    WatchWindow window = window_of(job, 1, random);
    window.lateness[6].late_us.resize(samples);
    EXPECT_TRUE(has(judge.judge(window), AlarmKind::kStraggler, "3")) << samples;
  }
}

// A late rank delays the step only if the others wait for it without other work.
TEST(WatchJudge, LatenessHiddenByOtherWorkIsNoAlarmUnlessAsked) {
  std::mt19937_64 random(5);
  Job job;
  job.from_window = 1;
  job.late_us = 400;
  WatchWindow window = window_of(job, 1, random);
  window.step_ms = 100;
  for (WatchedLateness& row : window.lateness)
    row.waits_ms = 0;
  const auto judged = [&window](WatchLimits limits) { return WatchJudge(limits).judge(window); };
  window.lateness[3].waits_ms = 0.4; // less than 0.5 % of the step
  EXPECT_TRUE(judged({}).empty());
  WatchLimits asked;
  asked.least_late_us = 100;
  EXPECT_TRUE(has(judged(asked), AlarmKind::kStraggler, "3"));
  window.lateness[3].waits_ms = 0.96;
  const std::vector<Alarm> alarms = judged({});
  ASSERT_TRUE(has(alarms, AlarmKind::kStraggler, "3"));
  EXPECT_NE(alarms[0].sentence.find("; the others wait 0.96 ms per step for it (0.96 %), not "
                                    "hidden by other work (6 steps of 8 ranks)"),
            std::string::npos)
      << alarms[0].sentence;
}

TEST(WatchJudge, BandwidthThatFallsIsTold) {
  Job job;
  job.from_window = 9;
  job.fall = 0.25;
  EXPECT_GE(jobs_with(job, {}, [](const auto& a) { return has(a, AlarmKind::kBandwidth); }), kMost);
  job.fall = 0.04; // less than the limit of the alarm
  EXPECT_LE(jobs_with(job, {}, [](const auto& a) { return has(a, AlarmKind::kBandwidth); }), kFew);
}

TEST(WatchJudge, AnAlarmIsToldOnceWhileItsReasonLasts) {
  Job job;
  job.from_window = 5;
  job.late_us = 500;
  job.fall = 0.4;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<Alarm> alarms = alarms_of(job, seed);
    ASSERT_EQ(alarms.size(), 2U) << seed;
    EXPECT_EQ(alarms[0].kind, AlarmKind::kStraggler);
    EXPECT_LE(alarms[0].window, 7U);
    EXPECT_EQ(alarms[1].kind, AlarmKind::kBandwidth);
  }
}

TEST(WatchJudge, ARestartJudgesOnWithTheSameBytes) {
  Job job;
  job.from_window = 9;
  job.late_us = 300;
  job.fall = 0.3;
  std::mt19937_64 random(7);
  WatchJudge straight;
  WatchJudge carried;
  for (std::size_t w = 1; w <= job.windows; ++w) {
    const WatchWindow window = window_of(job, w, random);
    const auto a = straight.judge(window);
    const auto b = carried.judge(window);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      EXPECT_EQ(a[i].sentence, b[i].sentence);
    const std::string bytes = encode_part("judge", 1, carried);
    EXPECT_EQ(bytes, encode_part("judge", 1, straight));
    Result<WatchJudge> read = decode_part<WatchJudge>("judge", 1, bytes);
    ASSERT_TRUE(read) << read.error().message();
    carried = std::move(*read);
  }
}

TEST(WatchJudge, WhatItKeepsDoesNotGrowWithWindows) {
  Job job;
  std::mt19937_64 random(3);
  WatchJudge judge;
  std::size_t after_ten = 0;
  for (std::size_t w = 1; w <= 400; ++w) {
    (void)judge.judge(window_of(job, w, random));
    if (w == 10)
      after_ten = encode_part("judge", 1, judge).size();
  }
  EXPECT_LT(encode_part("judge", 1, judge).size(), after_ten + 64);
}

TEST(WatchJudge, RanksThatStandStillAreToldOnceEach) {
  WatchJudge judge;
  EXPECT_FALSE(judge.judge_still({}, ""));
  const auto first = judge.judge_still({5, 6, 7}, "the others went on");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->sentence, "hang suspected: no new data from ranks 5-7: the others went on");
  EXPECT_FALSE(judge.judge_still({5, 6, 7}, ""));
  const auto more = judge.judge_still({2, 5, 6, 7}, "x");
  ASSERT_TRUE(more);
  EXPECT_EQ(more->subject, "2");
  EXPECT_FALSE(judge.judge_still({5}, "")); // the other ranks continue
  EXPECT_TRUE(judge.judge_still({5, 7}, ""));
}

} // namespace
} // namespace rankscope
