// Compares the ground truth of a generated sweep with a second calculation from the written files
// (not from the simulation), and checks that the files are valid Kineto JSON.
#include "core/call_tree.h"
#include "readers/reader.h"
#include "synth_slices.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <tuple>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

using simdjson::dom::element;
using test::bytes_of;
using test::is_comm;
using test::is_gemm;
using test::make;
using test::Slice;
using test::slices_of;
using test::small;
using test::TempFolder;

/// Returns the time that is covered by `a` and not by `b`, over elementary intervals: a simple,
/// quadratic method.
std::int64_t covered(const std::vector<Slice>& a, const std::vector<Slice>& b) {
  std::set<std::int64_t> cuts;
  for (const auto* list : {&a, &b})
    for (const Slice& s : *list) {
      cuts.insert(s.start);
      cuts.insert(s.end);
    }
  const auto inside = [](const std::vector<Slice>& list, std::int64_t at) {
    return std::any_of(list.begin(), list.end(),
                       [at](const Slice& s) { return s.start <= at && at < s.end; });
  };
  std::int64_t total = 0;
  for (auto it = cuts.begin(); it != cuts.end() && std::next(it) != cuts.end(); ++it)
    if (inside(a, *it) && !inside(b, *it))
      total += *std::next(it) - *it;
  return total;
}

class SynthTruth : public ::testing::TestWithParam<bool> {};

TEST_P(SynthTruth, AgreesWithTheFiles) {
  TempFolder folder;
  synth::Options o = small();
  o.nvidia = GetParam();
  o.ranks = 4;
  o.process_groups = GetParam() ? 2 : 1;
  o.clock_offset_us = 400;
  o.distinct_base = true;
  o.python_events = 200;
  o.straggler = 2;
  o.straggler_us = 1500;
  make(o, folder.path());
  simdjson::dom::parser parser;
  element truth;
  ASSERT_EQ(parser.load(folder.path() + "/ground_truth.json").get(truth), simdjson::SUCCESS);
  int ranks_seen = 0;
  int overlapped = 0;
  for (const element config : truth["configs"].get_array()) {
    std::map<std::int64_t, std::vector<Slice>> files;
    std::map<std::int64_t, std::int64_t> to_true; // file time to true time
    std::int64_t slowest = -1;
    for (const element rank : config["ranks"].get_array()) {
      ++ranks_seen;
      const std::int64_t r = rank["rank"].get_int64().value();
      const std::string text =
          bytes_of(folder.path() + "/" + std::string(rank["file"].get_string().value()));
      EXPECT_EQ(text.size(), rank["bytes"].get_uint64().value());
      std::map<std::string, std::uint64_t> counts;
      std::uint64_t total = 0;
      std::vector<Slice>& slices = files[r] = slices_of(text, counts, total);
      EXPECT_EQ(total, rank["events"].get_uint64().value());
      std::map<std::string, std::uint64_t> expected;
      for (const auto field : rank["events_by_category"].get_object())
        expected[std::string(field.key)] = field.value.get_uint64().value();
      EXPECT_EQ(counts, expected);
      EXPECT_EQ(counts["X python_function"], 200U);
      std::vector<Slice> comm, compute, copy, all;
      for (const Slice& s : slices) {
        if (s.category != "kernel" && s.category != "gpu_memcpy" && s.category != "gpu_memset")
          continue;
        all.push_back(s);
        (s.category == "gpu_memcpy" ? copy : is_comm(s) ? comm : compute).push_back(s);
        if (is_gemm(s))
          slowest = std::max(slowest, s.end - s.start);
      }
      std::int64_t first = INT64_MAX;
      std::int64_t last = 0;
      for (const Slice& s : all) {
        first = std::min(first, s.start);
        last = std::max(last, s.end);
      }
      EXPECT_EQ(first, rank["first_gpu_ts_ns"].get_int64().value());
      EXPECT_EQ(last - first, rank["total_time_ns"].get_int64().value());
      EXPECT_EQ(covered(comm, compute), rank["exposed_comm_ns"].get_int64().value());
      EXPECT_EQ(covered(compute, {}), rank["computation_ns"].get_int64().value());
      EXPECT_EQ(covered(comm, {}), rank["communication_ns"].get_int64().value());
      EXPECT_EQ(covered(all, {}), rank["busy_ns"].get_int64().value());
      std::vector<Slice> other = compute;
      other.insert(other.end(), comm.begin(), comm.end());
      EXPECT_EQ(covered(copy, other), rank["exposed_memcpy_ns"].get_int64().value());
      to_true[r] = rank["base_time_ns"].get_int64().value() - 1767189312000000000 -
                   rank["clock_offset_ns"].get_int64().value();
    }
    EXPECT_EQ(slowest, config["slowest_gemm"]["instance"]["dur_ns"].get_int64().value());
    for (const element row : config["gemms"].get_array()) {
      for (const char* which : {"min", "max"}) {
        const element i = row[which].value();
        const std::int64_t r = i["rank"].get_int64().value();
        const std::int64_t start = i["ts_ns"].get_int64().value();
        const std::int64_t end = start + i["dur_ns"].get_int64().value();
        const auto& slices = files[r];
        const auto it = std::find_if(slices.begin(), slices.end(), [&](const Slice& s) {
          return s.category == "kernel" && s.start == start && s.end == end;
        });
        ASSERT_NE(it, slices.end()) << which << " of rank " << r << " at " << start;
        EXPECT_EQ(it->name, row["kernel"].get_string().value());
        std::vector<Slice> parts;
        for (const Slice& s : slices)
          if (is_comm(s) && s.category == "kernel" && s.start < end && s.end > start) {
            parts.push_back(s);
            parts.back().start = std::max(s.start, start);
            parts.back().end = std::min(s.end, end);
          }
        EXPECT_EQ(covered(parts, {}), i["overlap_ns"].get_int64().value());
        EXPECT_EQ(parts.size(), i["overlapping_collectives"].get_array().size());
        overlapped += parts.empty() ? 0 : 1;
      }
    }
    std::size_t collectives = 0;
    std::map<std::int64_t, int> last;
    for (const element c : config["collectives"].get_array()) {
      const std::int64_t seq = c["seq"].get_int64().value();
      const std::string group(c["pg"].get_string().value());
      std::size_t i = 0;
      for (const element rank : c["ranks"].get_array()) {
        const std::int64_t r = rank.get_int64().value();
        const auto& slices = files[r];
        const auto it = std::find_if(slices.begin(), slices.end(), [&](const Slice& s) {
          return s.category == "kernel" && s.seq == seq && s.group == group;
        });
        ASSERT_NE(it, slices.end());
        EXPECT_EQ(it->collective, c["name"].get_string().value());
        EXPECT_EQ(it->start + to_true[r], c["start_ns"].at(i).get_int64().value());
        EXPECT_EQ(it->end + to_true[r], c["end_ns"].at(i).get_int64().value());
        ++i;
        ++collectives;
      }
      EXPECT_LE(c["end_skew_ns"].get_int64().value(), 3000); // all ranks leave together
      ++last[c["last_rank"].get_int64().value()];
    }
    std::size_t in_files = 0;
    for (const auto& [r, slices] : files)
      for (const Slice& s : slices)
        in_files += is_comm(s) && s.category == "kernel" ? 1 : 0;
    EXPECT_EQ(collectives, in_files);
    EXPECT_EQ(config["straggler"]["rank"].get_int64().value(), 2);
    const auto most = std::max_element(
        last.begin(), last.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    EXPECT_EQ(most->first, 2) << "the slow rank arrives last most often";
  }
  EXPECT_EQ(ranks_seen, 8);
  EXPECT_GT(overlapped, 10);
}
INSTANTIATE_TEST_SUITE_P(Vendors, SynthTruth, ::testing::Bool());

TEST(Synth, SlicesNestOnEveryTrack) {
  TempFolder folder;
  synth::Options o = small();
  o.channels = {42};
  o.ranks = 1;
  o.python_events = 3000;
  make(o, folder.path());
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t total = 0;
  auto slices = slices_of(
      bytes_of(folder.path() + "/256thread/nccl_42channels/torch_profiler/rank0/trace_step19.json"),
      counts, total);
  std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return std::tuple(a.pid, a.tid, a.start, -a.end) < std::tuple(b.pid, b.tid, b.start, -b.end);
  });
  std::vector<const Slice*> open;
  std::size_t deepest = 0;
  for (const Slice& s : slices) {
    while (!open.empty() &&
           (open.back()->pid != s.pid || open.back()->tid != s.tid || open.back()->end <= s.start))
      open.pop_back();
    if (!open.empty()) {
      ASSERT_LE(s.end, open.back()->end) << s.name << " crosses " << open.back()->name;
    }
    open.push_back(&s);
    deepest = std::max(deepest, open.size());
  }
  EXPECT_GT(deepest, 6U);
}

TEST(Synth, TheReaderTakesEveryEventAndLinksEveryKernel) {
  for (const bool nvidia : {false, true}) {
    TempFolder folder;
    synth::Options o = small();
    o.nvidia = nvidia;
    o.channels = {28};
    o.gz = nvidia;
    o.python_events = 77;
    make(o, folder.path());
    simdjson::dom::parser parser;
    element truth;
    ASSERT_EQ(parser.load(folder.path() + "/ground_truth.json").get(truth), simdjson::SUCCESS);
    for (const element rank : truth["configs"].at(0)["ranks"].get_array()) {
      ReadOptions options;
      options.keep_python = true;
      const Result<Trace> trace =
          read_trace(folder.path() + "/" + std::string(rank["file"].get_string().value()), options);
      ASSERT_TRUE(trace) << trace.error().message();
      for (const Problem& p : trace->diagnostics.problems())
        if (p.severity != Severity::kInfo) // notes: instant events are not used
          ADD_FAILURE() << p.name << ": " << p.where << ": " << p.sentence;
      EXPECT_EQ(trace->events_in_file, rank["events"].get_uint64().value());
      EXPECT_EQ(trace->header.rank, rank["rank"].get_int64().value());
      EXPECT_EQ(trace->header.world_size, 3);
      std::map<std::string, std::uint64_t> counts;
      for (EventId e = 0; e < trace->events.size(); ++e)
        ++counts[std::string(category_name(trace->events.category[e]))];
      for (const char* category : {"cpu_op", "kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime",
                                   "python_function", "user_annotation", "gpu_user_annotation"})
        EXPECT_EQ(counts[category],
                  rank["events_by_category"][std::string("X ") + category].get_uint64().value())
            << category;
      const CallTree tree = CallTree::build(*trace);
      EXPECT_EQ(tree.gpu_event_count(),
                counts["kernel"] + counts["gpu_memcpy"] + counts["gpu_memset"]);
      EXPECT_EQ(tree.linked_count(), tree.gpu_event_count());
    }
  }
}

} // namespace
} // namespace rankscope
