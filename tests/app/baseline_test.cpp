// Tests saved baselines: what is stored, what is rejected, and the order in which a history reads
// them.
#include "app/baseline.h"
#include "app/baseline_history.h"
#include "app/baseline_part.h"
#include "app/compare.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

synth::Options options_of(std::uint64_t seed) {
  synth::Options o;
  o.threads = {256};
  o.channels = {28};
  o.ranks = 2;
  o.layers = 2;
  o.steps = 4;
  o.seed = seed;
  o.straggler = -1;
  return o;
}

std::string make_run(const test::TempFolder& folder, const std::string& name, std::uint64_t seed) {
  EXPECT_TRUE(synth::generate(options_of(seed), folder.path(name), 1, nullptr));
  return folder.path(name) + "/256thread/nccl_28channels";
}

class Baseline : public ::testing::Test {
protected:
  Baseline() : run_(make_run(folder_, "run", 1)), file_(folder_.path("base.rsb")) {
    Session session;
    BaselineSaveRequest request;
    request.folder = run_;
    request.output = file_;
    auto saved = save_baseline(session, request);
    EXPECT_TRUE(saved) << (saved ? "" : saved.error().message());
    if (saved)
      saved_ = std::move(saved->baseline);
  }

  test::TempFolder folder_;
  std::string run_, file_;
  SavedBaseline saved_;
};

// Baselines of 0.2.0 do not have the idle time between steps, only its sum. It is spread evenly, so
// that the mean is the same.
TEST_F(Baseline, TheIdleTimeBetweenStepsOfAnOlderVersionIsSpreadEvenly) {
  SavedBaseline old = saved_;
  std::map<std::int64_t, double> between;
  for (auto& [rank, timeline] : old.run.ranks) {
    auto& totals = timeline.step_ns[TimeKind::kTotal];
    totals = timeline.step_ns[TimeKind::kBusy]; // as if no GPU was idle within a step
    std::int64_t left = timeline.kinds[TimeKind::kTotal].time_ns;
    for (const auto& [step, ns] : totals) {
      timeline.step_ns[TimeKind::kIdle][step] = 0;
      left -= ns;
    }
    between[rank] = static_cast<double>(left) / static_cast<double>(totals.size() - 1);
  }
  double all = 0;
  for (const auto& [rank, ns] : between)
    all += ns;
  const auto read = baseline_of(encode_part(kBaselineKind, 2, OldBaseline{old}));
  ASSERT_TRUE(read) << read.error().message();
  for (const auto& [rank, timeline] : read->run.ranks)
    for (const TimeKind kind : {TimeKind::kTotal, TimeKind::kIdle})
      for (const auto& [step, ns] : timeline.step_ns.at(kind))
        EXPECT_NEAR(static_cast<double>(ns),
                    static_cast<double>(old.run.ranks[rank].step_ns[kind][step]) + between[rank],
                    1);
  for (std::size_t s = 0; s < old.run.work.steps.size(); ++s)
    EXPECT_NEAR(static_cast<double>(read->run.work.total_ns[s] - old.run.work.total_ns[s]), all, 2);
}

TEST_F(Baseline, EstimatedWaitsOfOlderVersionsAreUnknown) {
  ASSERT_TRUE(saved_.run.work.waits_known);
  const auto read = baseline_of(encode_part(kBaselineKind, 3, OldBaseline{saved_}));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_FALSE(read->run.work.waits_known);
  for (const auto& [key, work] : read->run.work.work)
    EXPECT_TRUE(work.wait_ns.empty());
}

TEST_F(Baseline, HoldsTheRunInAFewKilobytes) {
  EXPECT_TRUE(is_baseline(file_));
  EXPECT_FALSE(is_baseline(run_));
  EXPECT_FALSE(is_baseline(folder_.path("absent")));
  const auto loaded = load_baseline(file_);
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ(baseline_bytes(*loaded), baseline_bytes(saved_));
  EXPECT_EQ(loaded->made_by, "rankscope " RANKSCOPE_VERSION);
  EXPECT_EQ(loaded->source, run_);
  EXPECT_TRUE(loaded->complete);
  EXPECT_EQ(loaded->run.label, "");
  EXPECT_EQ(loaded->run.ranks.size(), 2U);
  EXPECT_EQ(loaded->run.work.steps.size(),
            3U); // of four; before the first one, idle time is unknown
  EXPECT_FALSE(loaded->run.collectives.samples.empty());
  EXPECT_LT(std::filesystem::file_size(file_), 100'000U);
}

TEST_F(Baseline, ALabelIsTheNameInComparisonsAndHistories) {
  Session session;
  BaselineSaveRequest request;
  request.folder = run_;
  request.output = folder_.path("labelled.rsb");
  request.label = "before the change";
  ASSERT_TRUE(save_baseline(session, request));
  const auto labels = labels_for({request.output, file_, run_}, {});
  ASSERT_TRUE(labels) << labels.error().message();
  EXPECT_EQ(*labels, (std::vector<std::string>{"before the change", "base", "nccl_28channels"}));
  EXPECT_EQ(labels_for({request.output, file_}, {{}, "given", {}})->front(), "given");
  HistoryRequest history;
  history.inputs = {file_, request.output};
  const auto out = baseline_history(session, history);
  ASSERT_TRUE(out) << out.error().message();
  EXPECT_EQ(out->history.runs, (std::vector<std::string>{"base", "before the change"}));
}

// Before version 5, a baseline without a given label had the name of its folder.
TEST_F(Baseline, AnOlderBaselineHasNoLabel) {
  SavedBaseline old = saved_;
  old.run.label = "nccl_28channels";
  const auto read = baseline_of(encode_part(kBaselineKind, 4, OldBaseline{old}));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->run.label, "");
}

TEST_F(Baseline, ComparesAsTheRunItself) {
  const std::string other = make_run(folder_, "other", 2);
  const auto compared = [&](const std::string& base) {
    Session session;
    CompareRequest request;
    request.folders = {base, other};
    request.labels = {"base", "other"};
    request.write_reports = false;
    auto out = load_comparison(session, request);
    EXPECT_TRUE(out) << (out ? "" : out.error().message());
    return std::move(*out);
  };
  const Comparison a = compared(run_);
  const Comparison b = compared(file_);
  ASSERT_EQ(a.dashboard.rows.size(), b.dashboard.rows.size());
  for (std::size_t i = 0; i < a.dashboard.rows.size(); ++i) {
    const DashboardCell& x = *a.dashboard.rows[i].tests[0];
    const DashboardCell& y = *b.dashboard.rows[i].tests[0];
    EXPECT_EQ(a.dashboard.rows[i].metric, b.dashboard.rows[i].metric);
    EXPECT_EQ(x.value, y.value);
    EXPECT_EQ(x.judgement.low, y.judgement.low);
    EXPECT_EQ(x.judgement.verdict, y.judgement.verdict);
  }
  ASSERT_EQ(a.changes[0].work.rows.size(), b.changes[0].work.rows.size());
  for (std::size_t i = 0; i < a.changes[0].work.rows.size(); ++i) {
    EXPECT_EQ(a.changes[0].work.rows[i].name, b.changes[0].work.rows[i].name);
    EXPECT_EQ(a.changes[0].work.rows[i].low_ms, b.changes[0].work.rows[i].low_ms);
  }
}

TEST_F(Baseline, WhatIsBrokenOrOfAnotherVersionIsNamed) {
  const std::string bytes = test::bytes_of(file_);
  for (std::size_t cut = 0; cut < bytes.size(); cut += 97)
    EXPECT_FALSE(baseline_of(std::string_view(bytes).substr(0, cut))) << cut;
  std::string flipped = bytes;
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 1);
  const auto damaged = load_baseline(folder_.write("damaged.rsb", flipped));
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::kUnreadable);
  EXPECT_NE(damaged.error().message().find("damaged.rsb: byte "), std::string::npos)
      << damaged.error().message();
  const auto newer = load_baseline(
      folder_.write("newer.rsb", encode_part(kBaselineKind, kBaselineVersion + 1, saved_)));
  ASSERT_FALSE(newer);
  EXPECT_NE(newer.error().message().find("of version 6, expected 5"), std::string::npos)
      << newer.error().message();
  EXPECT_NE(newer.error().message().find("baseline save"), std::string::npos);
  const auto other = load_baseline(folder_.write("other.rsb", encode_part("state", 1, saved_)));
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message().find("expected 'baseline'"), std::string::npos);
  EXPECT_FALSE(baseline_of(baseline_bytes({}))); // a baseline needs a rank
}

TEST(BaselineFiles, AreReadInTheOrderOfTheirNumbers) {
  const test::TempFolder folder;
  for (const char* name :
       {"build-10.rsb.gz", "build-9.rsb", "build-100.rsb.zst", "build-09b.rsb", "a.txt", "b.gz"})
    folder.write(name, "");
  const auto files = baseline_files({folder.path("x.rsb"), folder.path()});
  ASSERT_TRUE(files);
  std::vector<std::string> names;
  for (const std::string& file : *files)
    names.push_back(std::filesystem::path(file).filename().string());
  EXPECT_EQ(names, (std::vector<std::string>{"x.rsb", "build-9.rsb", "build-09b.rsb",
                                             "build-10.rsb.gz", "build-100.rsb.zst"}));
  const test::TempFolder empty;
  EXPECT_EQ(baseline_files({empty.path()}).error().code, ErrorCode::kUnreadable);
}

TEST(BaselineNames, LeaveTheEndingOut) {
  EXPECT_EQ(folder_names({"/a/base.rsb", "/b/new"}), (std::vector<std::string>{"base", "new"}));
  EXPECT_EQ(folder_names({"/a/x.rsb.gz", "/b/y.rsb.zst"}), (std::vector<std::string>{"x", "y"}));
}

} // namespace
} // namespace rankscope
