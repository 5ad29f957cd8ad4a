// Tests extreme times with every analysis and writer: times that do not fit are dropped and
// counted, the others give no negative length, sum or share, and nothing overflows (checked by the
// sanitizers).
#include "analyses/analysis.h"
#include "core/loaded_trace.h"
#include "engine/loader.h"
#include "temp_folder.h"
#include "writers/merged_trace.h"
#include "writers/writer.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <optional>
#include <random>

namespace rankscope {
namespace {

struct Time {
  const char* text; ///< text in the file
  std::optional<std::int64_t> ns;
};

constexpr std::int64_t kMost = kMaxTimeNs; // 2305843009213693951

/// Hand-calculated conversions from microseconds to nanoseconds.
const Time kTimes[] = {
    {"0", 0},
    {"-0", 0},
    {"1", 1000},
    {"-1", -1000},
    {"0.001", 1},
    {"1e-400", 0},
    {"12e3", 12'000'000},
    {"\"5\"", 5000},
    {"4503599627370.496", 4'503'599'627'370'496}, // 2^52 ns
    {"9007199254740.993", 9'007'199'254'740'993}, // 2^53 + 1 ns: not a double
    {"9007199254740993", std::nullopt},           // 2^53 + 1 us: beyond the limit
    {"2305843009213693.951", kMost},
    {"-2305843009213693.951", -kMost},
    // not a valid time, but a valid length after a negative start
    {"2305843009213693.952", kMost + 1},
    {"-2305843009213693.952", -kMost - 1},
    {"9223372036854775807", std::nullopt},
    {"-9223372036854775808", std::nullopt},
    {"18446744073709551616", std::nullopt},
    {"1e400", std::nullopt},
    {"-1e400", std::nullopt},
    {"NaN", std::nullopt},
    {"Infinity", std::nullopt},
    {"null", std::nullopt},
    {"\"soon\"", std::nullopt},
    {"\"\"", std::nullopt},
    {"[1]", std::nullopt},
};

bool kept(const Time& ts, const Time& dur) {
  return ts.ns && dur.ns && *ts.ns >= -kMost && *ts.ns <= kMost && *dur.ns >= 0 &&
         *dur.ns <= kMost - *ts.ns;
}

struct Extreme {
  std::string text;
  std::uint64_t kept = 0, dropped = 0;
};

/// Returns a trace of operators with launches and kernels at random times of the list; one of them
/// is always valid.
Extreme extreme_trace(unsigned seed) {
  std::mt19937 random(seed);
  Extreme out;
  std::string events;
  const auto add = [&](const char* category, const char* name, const Time& ts, const Time& dur,
                       const std::string& args, int pid) {
    events += fmt::format(
        R"({}{{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":1,"ts":{},"dur":{},"args":{{{}}}}})",
        events.empty() ? "" : ",\n", category, name, pid, ts.text, dur.text, args);
    ++(kept(ts, dur) ? out.kept : out.dropped);
  };
  const auto any = [&]() -> const Time& {
    return kTimes[std::uniform_int_distribution<std::size_t>(0, std::size(kTimes) - 1)(random)];
  };
  // one valid event of each kind, then random ones
  const Time usual = {"1", 1000};
  for (int id = 1; id <= 30; ++id) {
    const bool good = id == 1;
    const auto time = [&]() -> const Time& { return good ? usual : any(); };
    const std::string correlation = fmt::format(R"("correlation":{})", id);
    add("user_annotation", fmt::format("ProfilerStep#{}", id).c_str(), time(), time(), "", 1);
    add("cpu_op", "aten::mm", time(), time(),
        R"("Input Dims":[[8,16],[16,4]],"Input type":["float","float"],"Concrete Inputs":["",""])",
        1);
    add("cuda_runtime", "hipLaunchKernel", time(), time(), correlation, 1);
    add("kernel", id % 3 == 0 ? "ncclDevKernel_Generic" : "Cijk_Ailk_Bljk_SB_MT64x64x16", time(),
        time(), correlation + R"(,"device":0,"stream":7,"Collective name":"allreduce")", 0);
    add("gpu_memcpy", "Memcpy HtoD", time(), time(),
        correlation + R"(,"device":0,"stream":8,"bytes":4096)", 0);
  }
  out.text = R"({"schemaVersion":1,"traceEvents":[)" + events + "]}";
  return out;
}

bool is_length(const Column& column) {
  const bool time = column.unit == Unit::kNs || column.unit == Unit::kUs ||
                    column.unit == Unit::kMs || column.unit == Unit::kSeconds;
  // times on the time axis, which may be negative
  const bool place = column.name.find("start") != std::string::npos ||
                     column.name.find("first") != std::string::npos ||
                     column.name.find("ts") != std::string::npos;
  return (time && !place) || column.unit == Unit::kPercent || column.unit == Unit::kCount;
}

void expect_no_negative_length(const Report& report, const std::string& what) {
  for (const Table& table : report.tables)
    for (std::size_t c = 0; c < table.cols(); ++c) {
      if (!is_length(table.columns()[c]))
        continue;
      for (std::size_t r = 0; r < table.rows(); ++r) {
        const double value = table.at(r, c).number();
        EXPECT_TRUE(std::isnan(value) || value >= 0)
            << what << ": " << table.name() << " row " << r << " " << table.columns()[c].name
            << " = " << value;
      }
    }
}

std::vector<ReportOptions> all_options() {
  std::vector<ReportOptions> out(4);
  ReportOptions& all = out[1];
  all.micro_idle_us = 5;
  all.detect_recompute = true;
  all.include_overlap_info = true;
  all.include_first_occurrence_time = true;
  all.include_call_stack = true;
  all.enable_pseudo_ops = true;
  all.group_by_num_kernels = true;
  all.clip_overruns = true;
  all.gpu_arch = "MI300X";
  out[2].per_step = true;
  out[3].compat_tracelens = true;
  out[3].include_unlinked_kernels = false;
  return out;
}

TEST(ExtremeTimes, WhatDoesNotFitIsCountedAndNothingIsNegative) {
  const test::TempFolder folder;
  std::uint64_t dropped = 0;
  for (unsigned seed = 1; seed <= 25; ++seed) {
    const Extreme extreme = extreme_trace(seed);
    LoadOptions load;
    load.keep_python = true;
    const Result<LoadedTrace> loaded = load_trace(folder.write("t.json", extreme.text), load);
    ASSERT_TRUE(loaded) << loaded.error().message();
    EXPECT_EQ(loaded->trace.events.size(), extreme.kept) << "seed " << seed;
    const auto& problems = loaded->trace.diagnostics.problems();
    const auto bad = std::find_if(problems.begin(), problems.end(),
                                  [](const Problem& p) { return p.name == "event_bad_time"; });
    ASSERT_NE(bad, problems.end());
    EXPECT_EQ(bad->count, extreme.dropped) << "seed " << seed;
    EXPECT_TRUE(loaded->trace.diagnostics.data_lost()); // exit code 4
    dropped += extreme.dropped;
    for (const ReportOptions& options : all_options()) {
      const Result<Report> report = build_report(*loaded, options);
      ASSERT_TRUE(report) << report.error().message();
      expect_no_negative_length(*report, fmt::format("seed {}", seed));
      for (const Writer* writer : writers())
        EXPECT_TRUE(writer->write(*report, folder.path(std::string("r") + writer->name)))
            << writer->name;
    }
    Diagnostics diagnostics;
    // another name each time, because files that were read are never overwritten
    const std::string merged_path = folder.path(fmt::format("m{}.json", seed));
    MergeOptions merge;
    merge.cpu_ops = true;
    Result<MergedTraceWriter> merged = MergedTraceWriter::create(merged_path, merge);
    ASSERT_TRUE(merged);
    merged->add(loaded->trace, 0, {}, diagnostics);
    ASSERT_TRUE(merged->finish());
    // the written file is a valid trace with the same slices
    const Result<Trace> again = read_trace(merged_path);
    ASSERT_TRUE(again) << again.error().message();
  }
  EXPECT_GT(dropped, 1000U);
}

} // namespace
} // namespace rankscope
