// Tests clock alignment in analyze and merge for each alignment option: clocks with an offset,
// clocks with a drift, and ranks whose collectives do not allow an alignment.
#include "app/analyze.h"
#include "app/merge.h"
#include "merge_checker.h"
#include "readers/reports/report_tables.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <charconv>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>
#include <string_view>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

constexpr const char* kConfig = "/256thread/nccl_28channels";

synth::Options options(std::uint64_t seed = 1) {
  synth::Options o;
  o.threads = {256};
  o.channels = {28};
  o.ranks = 3;
  o.layers = 2;
  o.steps = 4;
  o.seed = seed;
  return o;
}

std::string trace_of(const std::string& sweep, int rank) {
  return sweep + kConfig + "/torch_profiler/rank" + std::to_string(rank) + "/trace_step19.json";
}

struct Analyzed {
  /// by rank, from the sheet `clocks`; empty if the sheet does not exist
  std::vector<std::string> used;
  std::vector<double> offset_us;
  std::vector<double> drift_ns;
  std::vector<std::string> notes; ///< findings of the report and console messages about clocks
  test::Merged merged;
};

/// `name`: folder of the outputs. Each call needs another name, because outputs are read here, and
/// files that were read are not overwritten.
Analyzed analyzed(const test::TempFolder& folder, std::optional<AlignMode> align,
                  const std::string& name = "out") {
  AnalyzeRequest request;
  request.folder = folder.path("s");
  request.layout = OutputLayout(folder.path(name));
  request.merged_folder = folder.path(name + "_merged");
  request.report = sweep_report_options();
  request.plots = false;
  request.align = align;
  Session session;
  const Result<AnalyzedSweep> sweep = analyze_sweep(session, request);
  EXPECT_TRUE(sweep) << (sweep ? "" : sweep.error().message());
  Analyzed out;
  const Result<Report> report =
      read_report_tables(folder.path(name) + "/256thread/collective_reports/collective_28ch.xlsx");
  EXPECT_TRUE(report);
  if (const Table* clocks = report->find("clocks"))
    for (std::size_t r = 0; r < clocks->rows(); ++r) {
      out.used.emplace_back(clocks->at(r, "used").text);
      out.offset_us.push_back(clocks->at(r, "offset to rank 0's clock (\u00b5s)").number());
      out.drift_ns.push_back(clocks->at(r, "drift (ns/s)").number());
    }
  for (const Table& table : report->tables)
    for (std::size_t r = 0; r < table.rows(); ++r)
      for (std::size_t c = 0; c < table.columns().size(); ++c)
        if (table.at(r, c).text.find("is not aligned") != std::string::npos)
          out.notes.emplace_back(table.at(r, c).text);
  for (const Problem& p : session.diagnostics.problems())
    if (p.sentence.find("is not aligned") != std::string::npos)
      out.notes.push_back(p.sentence);
  out.merged =
      test::check_merged(test::bytes_of(request.merged_folder + "/256thread_28ch_merged.json"));
  return out;
}

/// Returns the largest difference between the ends of a collective on different ranks in a merged
/// trace.
std::int64_t apart_ns(const test::Merged& merged) {
  std::map<std::int64_t, std::vector<std::int64_t>> ends;
  for (const test::MergedSlice& s : merged.slices)
    if (s.category == "kernel" && s.name.find("nccl") != std::string::npos)
      ends[s.rank].push_back(s.end_ns);
  std::int64_t most = 0;
  for (auto& [rank, list] : ends) {
    std::sort(list.begin(), list.end());
    EXPECT_EQ(list.size(), ends[0].size()) << rank;
    for (std::size_t i = 0; i < std::min(list.size(), ends[0].size()); ++i)
      most = std::max(most, std::abs(list[i] - ends[0][i]));
  }
  EXPECT_EQ(ends.size(), 3U);
  return most;
}

TEST(ClockAlignmentOfARun, AnalyzeAlignsAsAsked) {
  const test::TempFolder folder;
  synth::Options o = options();
  o.clock_offset_us = 5000;
  ASSERT_TRUE(synth::generate(o, folder.path("s"), 1, nullptr));
  simdjson::dom::parser parser;
  simdjson::dom::element truth;
  ASSERT_EQ(parser.load(folder.path("s") + "/ground_truth.json").get(truth), simdjson::SUCCESS);
  std::vector<double> injected_us;
  for (const auto rank : truth["configs"].at(0)["ranks"].get_array())
    injected_us.push_back(static_cast<double>(rank["clock_offset_ns"].get_int64().value()) / 1e3);

  const Analyzed by_collectives = analyzed(folder, AlignMode::kCollectives);
  ASSERT_EQ(by_collectives.used,
            (std::vector<std::string>{"reference", "collectives", "collectives"}));
  for (std::size_t r = 0; r < 3; ++r)
    EXPECT_NEAR(by_collectives.offset_us[r], injected_us[r] - injected_us[0], 3);
  // in generated traces, ranks leave a collective within 3 us
  EXPECT_LE(apart_ns(by_collectives.merged), 6000);
  EXPECT_TRUE(by_collectives.notes.empty());

  // by default, reports align by collectives, and the merged trace uses the time base
  const Analyzed by_default = analyzed(folder, std::nullopt, "default");
  EXPECT_EQ(by_default.used, by_collectives.used);
  EXPECT_GT(apart_ns(by_default.merged), 100'000);

  const Analyzed by_base = analyzed(folder, AlignMode::kBase, "base");
  EXPECT_TRUE(by_base.used.empty()); // without alignment, the sheet does not exist
  EXPECT_GT(apart_ns(by_base.merged), 100'000);
}

/// Returns the trace with moved event times; `map` maps a time in ns.
template <class Map> std::string moved(std::string_view text, Map map) {
  constexpr std::string_view kStart = "\"ts\": ";
  constexpr std::string_view kLength = "\"dur\": ";
  const auto number = [&text](std::size_t at, std::size_t& end) {
    end = text.find_first_not_of("-0123456789.", at);
    std::string digits(text.substr(at, end - at));
    const std::size_t point = digits.find('.');
    EXPECT_EQ(digits.size() - point, 4U) << digits;
    digits.erase(point, 1);
    std::int64_t ns = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), ns);
    return ns;
  };
  const auto us = [](std::int64_t ns) {
    std::string digits = std::to_string(ns);
    EXPECT_GT(digits.size(), 0U);
    if (digits.size() < 4)
      digits.insert(0, 4 - digits.size(), '0');
    return digits.insert(digits.size() - 3, ".");
  };
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = text.find(kStart); at != std::string_view::npos;
       at = text.find(kStart, from)) {
    std::size_t end = 0;
    const std::int64_t start_ns = number(at + kStart.size(), end);
    out.append(text.substr(from, at + kStart.size() - from)).append(us(map(start_ns)));
    from = end;
    const std::size_t length = text.find(kLength, end);
    if (length != std::string_view::npos && length < text.find(kStart, end)) {
      std::size_t behind = 0;
      const std::int64_t length_ns = number(length + kLength.size(), behind);
      out.append(text.substr(from, length + kLength.size() - from))
          .append(us(std::max<std::int64_t>(0, map(start_ns + length_ns) - map(start_ns))));
      from = behind;
    }
  }
  return out.append(text.substr(from));
}

/// Replaces the trace file by the moved trace.
template <class Map> void move_times(const std::string& path, Map map) {
  const std::string text = moved(test::bytes_of(path), map);
  std::ofstream(path, std::ios::binary) << text;
}

// The times of rank 1 jump by up to 2.4 ms between milliseconds, so no offset fits.
TEST(ClockAlignmentOfARun, AFitThatIsTooPoorFallsBackAndSaysSo) {
  const test::TempFolder folder;
  ASSERT_TRUE(synth::generate(options(), folder.path("s"), 1, nullptr));
  move_times(trace_of(folder.path("s"), 1),
             [](std::int64_t ns) { return ns + ns / 1'000'000 * 7919 % 3 * 1'200'000; });
  const Analyzed fallen = analyzed(folder, AlignMode::kCollectives);
  ASSERT_EQ(fallen.used.size(), 3U);
  EXPECT_EQ(fallen.used[1], "time base: the residual is too large");
  EXPECT_EQ(fallen.used[2], "collectives");
  const std::set<std::string> notes = [&] { // without the numbers
    std::set<std::string> out;
    for (const std::string& note : fallen.notes)
      if (const std::size_t at = note.find("rank 1: its clock is not aligned");
          at != std::string::npos)
        out.insert(note.substr(at, 72));
    return out;
  }();
  EXPECT_EQ(notes.size(), 1U);
  EXPECT_GE(fallen.notes.size(), 3U) << "findings, collectives of the pass, merged trace";
  EXPECT_EQ(std::count(fallen.notes.begin(), fallen.notes.end(),
                       "The clock of rank 1 is not aligned; the time base of its trace is used"),
            1); // the headline of the finding
}

// The clock of rank 1 gains 800 us per second and that of rank 2 loses 500 us per second. Over the
// steps of the trace, an offset cannot correct this.
TEST(ClockAlignmentOfARun, MergedTracesFollowADrift) {
  const test::TempFolder folder;
  synth::Options o = options();
  o.steps = 12;
  o.clock_offset_us = 5000;
  ASSERT_TRUE(synth::generate(o, folder.path("s"), 1, nullptr));
  for (const auto& [rank, ppm] : {std::pair{1, 800}, std::pair{2, -500}}) {
    const std::int64_t gain = ppm;
    move_times(trace_of(folder.path("s"), rank),
               [gain](std::int64_t ns) { return ns + ns / 1000 * gain / 1000; });
  }
  const Analyzed drifting = analyzed(folder, AlignMode::kCollectives);
  ASSERT_EQ(drifting.used.size(), 3U);
  EXPECT_EQ(drifting.used[1], "collectives");
  EXPECT_NEAR(drifting.drift_ns[1], 800e3, 20e3);
  EXPECT_NEAR(drifting.drift_ns[2], -500e3, 20e3);
  EXPECT_LE(apart_ns(drifting.merged), 8000); // check_merged() also checks nesting and flows
  const Analyzed by_base = analyzed(folder, AlignMode::kBase, "base");
  EXPECT_EQ(by_base.merged.slices.size(), drifting.merged.slices.size());
}

} // namespace
} // namespace rankscope
