// The generator: equal bytes for equal options, valid Kineto JSON, and a ground truth that a second
// computation on the written files (not on the simulation) arrives at too.
#include "core/call_tree.h"
#include "os/text_sink.h"
#include "readers/reader.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>
#include <map>
#include <set>
#include <simdjson.h>
#include <tuple>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

using simdjson::dom::element;
using test::bytes_of;
using test::TempFolder;

std::map<std::string, std::string> files_below(const std::string& root) {
  std::map<std::string, std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.is_regular_file())
      out[fs::relative(entry.path(), root).string()] = bytes_of(entry.path().string());
  return out;
}

synth::Options small() {
  synth::Options o;
  o.threads = {256};
  o.channels = {28, 70};
  o.ranks = 3;
  o.layers = 3;
  o.steps = 2;
  return o;
}

synth::Summary make(const synth::Options& o, const std::string& out) {
  Result<synth::Summary> result = synth::generate(o, out, 2, nullptr);
  EXPECT_TRUE(result) << (result ? "" : result.error().message());
  return result ? *result : synth::Summary{};
}

struct Slice {
  std::string name, category;
  std::int64_t start = 0, end = 0; // ns in the file
  std::int64_t pid = 0, tid = 0, seq = -1;
  std::string group, collective;
};

/// "123.456" of the file's text as integer ns; a double would lose digits.
std::int64_t ns_of(std::string_view text) {
  const std::size_t dot = text.find('.');
  EXPECT_NE(dot, std::string_view::npos);
  EXPECT_EQ(text.size() - dot, 4U) << text;
  return std::stoll(std::string(text.substr(0, dot))) * 1000 +
         std::stoll(std::string(text.substr(dot + 1)));
}

/// The slices of a trace text, times by the decimal text that follows "ts" and "dur".
std::vector<Slice> slices_of(const std::string& text, std::map<std::string, std::uint64_t>& counts,
                             std::uint64_t& total) {
  simdjson::dom::parser parser;
  element root;
  EXPECT_EQ(parser.parse(text).get(root), simdjson::SUCCESS);
  std::vector<std::int64_t> ts;
  std::vector<std::int64_t> dur;
  const auto number_after = [&](const char* key, std::vector<std::int64_t>& out) {
    const std::string quoted = std::string("\"") + key + "\": ";
    for (std::size_t at = text.find(quoted); at != std::string::npos;
         at = text.find(quoted, at + 1)) {
      const std::size_t from = at + quoted.size();
      out.push_back(ns_of(std::string_view(text).substr(
          from, text.find_first_not_of("-0123456789.", from) - from)));
    }
  };
  number_after("ts", ts);
  number_after("dur", dur);
  std::vector<Slice> out;
  std::size_t t = 0;
  std::size_t d = 0;
  for (const element e : root["traceEvents"].get_array()) {
    ++total;
    const std::string ph(e["ph"].get_string().value());
    std::string_view category;
    if (e["cat"].get(category) == simdjson::SUCCESS)
      ++counts[ph + " " + std::string(category)];
    else
      ++counts[ph];
    const std::int64_t start = ts[t++];
    if (ph != "X")
      continue;
    Slice s;
    s.name = std::string(e["name"].get_string().value());
    s.category = std::string(category);
    s.start = start;
    s.end = start + dur[d++];
    if (e["pid"].get(s.pid) != simdjson::SUCCESS)
      continue; // the profiler's own span
    s.tid = e["tid"].get_int64().value();
    if (e["args"]["Seq"].get(s.seq) != simdjson::SUCCESS)
      s.seq = -1;
    std::string_view group;
    if (e["args"]["Process Group Name"].get(group) == simdjson::SUCCESS)
      s.group = std::string(group);
    if (e["args"]["Collective name"].get(group) == simdjson::SUCCESS)
      s.collective = std::string(group);
    out.push_back(std::move(s));
  }
  EXPECT_EQ(t, ts.size());
  EXPECT_EQ(d, dur.size());
  return out;
}

/// Time covered by any of `a` and none of `b`, by elementary intervals: quadratic and obvious.
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

bool is_gemm(const Slice& s) {
  return s.name.rfind("Cijk_", 0) == 0 || s.name.rfind("nvjet", 0) == 0;
}
bool is_comm(const Slice& s) {
  return s.name.rfind("nccl", 0) == 0;
}

TEST(Synth, EqualOptionsGiveEqualBytes) {
  TempFolder a;
  TempFolder b;
  TempFolder c;
  synth::Options o = small();
  o.python_events = 50;
  make(o, a.path());
  Result<synth::Summary> one_thread = synth::generate(o, b.path(), 1, nullptr);
  ASSERT_TRUE(one_thread);
  o.seed = 2;
  make(o, c.path());
  const auto first = files_below(a.path());
  EXPECT_EQ(first.size(), 7U); // 2 configurations x 3 ranks and the truth
  EXPECT_EQ(first, files_below(b.path()));
  EXPECT_NE(first, files_below(c.path()));
}

TEST(Synth, CompressedHoldsTheSameBytes) {
  TempFolder a;
  TempFolder b;
  synth::Options o = small();
  make(o, a.path());
  o.gz = true;
  make(o, b.path());
  const std::string name = "/256thread/nccl_28channels/torch_profiler/rank1/trace_step19.json";
  const std::string plain = bytes_of(a.path() + name);
  std::string packed = bytes_of(b.path() + name + ".gz");
  ASSERT_GT(packed.size(), 1000U);
  ASSERT_LT(packed.size(), plain.size() / 4);
  std::string unpacked(plain.size() + 64, '\0');
  inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  state.next_in = reinterpret_cast<std::uint8_t*>(packed.data());
  state.avail_in = static_cast<std::uint32_t>(packed.size());
  state.next_out = reinterpret_cast<std::uint8_t*>(unpacked.data());
  state.avail_out = static_cast<std::uint32_t>(unpacked.size());
  ASSERT_EQ(isal_inflate(&state), ISAL_DECOMP_OK);
  EXPECT_EQ(state.block_state, ISAL_BLOCK_FINISH);
  unpacked.resize(state.total_out);
  EXPECT_TRUE(unpacked == plain);
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
      EXPECT_LE(c["end_skew_ns"].get_int64().value(), 3000); // all leave together
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

TEST(Synth, GemmsUnderCollectivesTakeLongerWithMoreChannels) {
  // A call of base time b that spends v of its d ns beside collectives did d - v of its work alone
  // and v / (1 + s) under them: s = v / (b - (d - v)) - 1. The instances are the ones that
  // AgreesWithTheFiles checks against the traces.
  const auto slowdowns = [](std::int64_t channels) {
    TempFolder folder;
    synth::Options o = small();
    o.channels = {channels};
    o.noise = 0;
    o.ranks = 8;
    o.straggler = -1;
    make(o, folder.path());
    simdjson::dom::parser parser;
    element truth;
    EXPECT_EQ(parser.load(folder.path() + "/ground_truth.json").get(truth), simdjson::SUCCESS);
    std::vector<double> out;
    for (const element row : truth["configs"].at(0)["gemms"].get_array()) {
      const element min = row["min"].value();
      const element max = row["max"].value();
      const auto base = static_cast<double>(min["dur_ns"].get_int64().value());
      const auto slow = static_cast<double>(max["dur_ns"].get_int64().value());
      const auto beside = static_cast<double>(max["overlap_ns"].get_int64().value());
      if (min["overlap_ns"].get_int64().value() == 0 && beside > 20000)
        out.push_back(beside / (base - (slow - beside)) - 1.0);
    }
    return out;
  };
  for (const std::int64_t channels : {28, 70}) {
    const auto c = static_cast<double>(channels);
    const std::vector<double> seen = slowdowns(channels);
    EXPECT_GT(seen.size(), 7U);
    for (const double s : seen)
      EXPECT_NEAR(s, 1.4 * c / (304.0 - c), 0.002); // docs/synth.md
  }
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
        if (p.severity != Severity::kInfo) // notes: instants are not used
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

TEST(Synth, WindowsAndMissingRanks) {
  TempFolder folder;
  synth::Options o = small();
  o.channels = {28};
  o.steps = 3;
  o.missing_ranks = {1};
  o.shift_window = 0;
  o.fewer_steps = 2;
  o.cu_layout = true;
  make(o, folder.path());
  const std::string root = folder.path() + "/28cu_256threads/torch_profiler/";
  EXPECT_FALSE(fs::exists(root + "rank1"));
  const auto steps = [](const std::string& text) {
    std::vector<std::string> out;
    const std::string key = "\"cat\": \"user_annotation\", \"name\": \"ProfilerStep#";
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1))
      out.push_back(text.substr(at + key.size(), 2));
    return out;
  };
  EXPECT_EQ(steps(bytes_of(root + "rank0/trace.json")), (std::vector<std::string>{"18", "19"}));
  EXPECT_EQ(steps(bytes_of(root + "rank2/trace.json")), (std::vector<std::string>{"17", "18"}));
}

TEST(Synth, GemmScaleScalesGemmsOnly) {
  TempFolder a;
  TempFolder b;
  synth::Options o = small();
  o.channels = {28};
  o.ranks = 1; // no other rank to wait for
  o.noise = 0;
  o.straggler = -1;
  make(o, a.path());
  o.gemm_scale = 2;
  make(o, b.path());
  const std::string name = "/256thread/nccl_28channels/torch_profiler/rank0/trace_step19.json";
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t total = 0;
  const auto first = slices_of(bytes_of(a.path() + name), counts, total);
  const auto second = slices_of(bytes_of(b.path() + name), counts, total);
  ASSERT_EQ(first.size(), second.size());
  double gemm[2] = {0, 0};
  double other[2] = {0, 0};
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i].category != "kernel" || is_comm(first[i]))
      continue;
    double* sums = is_gemm(first[i]) ? gemm : other;
    sums[0] += static_cast<double>(first[i].end - first[i].start);
    sums[1] += static_cast<double>(second[i].end - second[i].start);
  }
  EXPECT_NEAR(gemm[1] / gemm[0], 2.0, 0.02);
  EXPECT_DOUBLE_EQ(other[1], other[0]);
}

/// Nanoseconds of the GPU work of one rank: GEMMs, other compute, collectives.
struct GpuTime {
  double gemm = 0, other = 0, comm = 0;
};
GpuTime gpu_time(const synth::Options& o, const std::string& config, int rank) {
  TempFolder folder;
  make(o, folder.path());
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t total = 0;
  GpuTime out;
  for (const Slice& s : slices_of(bytes_of(fmt::format("{}/{}/torch_profiler/rank{}/"
                                                       "trace_step19.json",
                                                       folder.path(), config, rank)),
                                  counts, total))
    if (s.category == "kernel")
      (is_comm(s)   ? out.comm
       : is_gemm(s) ? out.gemm
                    : out.other) += static_cast<double>(s.end - s.start);
  return out;
}

/// Two configurations without noise and with nothing slow in them.
synth::Options quiet() {
  synth::Options o = small();
  o.ranks = 4;
  o.noise = 0;
  o.straggler = -1;
  o.contention = 0;
  return o;
}

const char* const kFew = "256thread/nccl_28channels";
const char* const kMany = "256thread/nccl_70channels";

TEST(Synth, WithoutContentionGemmsTakeTheSameBesideCollectives) {
  synth::Options o = quiet();
  const double few = gpu_time(o, kFew, 1).gemm;
  EXPECT_NEAR(gpu_time(o, kMany, 1).gemm / few, 1, 1e-6);
  o.contention = 1;
  EXPECT_GT(gpu_time(o, kMany, 1).gemm / few, 1.02);
}

TEST(Synth, EqualConfigurationsHaveTheSameCollectives) {
  synth::Options o = quiet();
  o.contention = 1;
  const double apart = gpu_time(o, kFew, 0).comm / gpu_time(o, kMany, 0).comm;
  o.equal_configs = true;
  const double equal = gpu_time(o, kFew, 0).comm / gpu_time(o, kMany, 0).comm;
  EXPECT_GT(apart, 1.2);
  EXPECT_NEAR(equal, 1, 0.05); // waits and jitter are drawn for each
}

TEST(Synth, ASlowConfigurationIsSlowerByOneFactor) {
  synth::Options o = quiet();
  const GpuTime plain = gpu_time(o, kMany, 2);
  o.slow_configs = {{"256thread_70ch", 1.05}};
  const GpuTime slow = gpu_time(o, kMany, 2);
  EXPECT_NEAR(slow.gemm / plain.gemm, 1.05, 1e-4);
  EXPECT_NEAR(slow.other / plain.other, 1.05, 1e-4);
  const GpuTime same = gpu_time(o, kFew, 2);
  o.slow_configs.clear();
  EXPECT_DOUBLE_EQ(same.gemm, gpu_time(o, kFew, 2).gemm);
}

TEST(Synth, AThrottledRankComputesLongerAlone) {
  synth::Options o = quiet();
  const GpuTime plain = gpu_time(o, kFew, 2);
  const GpuTime others = gpu_time(o, kFew, 1);
  o.throttled = 2;
  o.throttle_factor = 1.1;
  const GpuTime slow = gpu_time(o, kFew, 2);
  EXPECT_NEAR(slow.gemm / plain.gemm, 1.1, 1e-4);
  EXPECT_NEAR(slow.other / plain.other, 1.1, 1e-4);
  EXPECT_NEAR(gpu_time(o, kFew, 1).gemm / others.gemm, 1, 1e-6);
  EXPECT_GT(gpu_time(o, kFew, 1).comm, 1.02 * others.comm) << "the others wait";
}

TEST(Synth, ASlowLinkSlowsTheGroupsThatUseIt) {
  const auto bandwidths = [](const synth::Options& o) {
    TempFolder folder;
    make(o, folder.path());
    simdjson::dom::parser parser;
    element truth;
    EXPECT_EQ(parser.load(folder.path() + "/ground_truth.json").get(truth), simdjson::SUCCESS);
    std::map<std::string, double> best; // by group
    for (const element c : truth["configs"].at(0)["collectives"].get_array())
      best[std::string(c["pg"].get_string().value())] = std::max(
          best[std::string(c["pg"].get_string().value())], c["busbw_gbps"].get_double().value());
    return best;
  };
  synth::Options o = quiet();
  o.channels = {28};
  o.process_groups = 2; // 0: all; 1: ranks 0 and 2, 2: 1 and 3; 3: 0 and 1, 4: 2 and 3
  const auto plain = bandwidths(o);
  o.slow_links = {{0, 1, 2}};
  const auto slow = bandwidths(o);
  EXPECT_NEAR(slow.at("3") / plain.at("3"), 0.5, 0.02);
  for (const char* group : {"1", "2", "4"})
    EXPECT_NEAR(slow.at(group) / plain.at(group), 1, 0.02) << group;
}

TEST(Synth, TheTruthNamesTheSwitchesThatAreOn) {
  const auto truth_of = [](const synth::Options& o) {
    TempFolder folder;
    make(o, folder.path());
    return bytes_of(folder.path() + "/ground_truth.json");
  };
  synth::Options o = small();
  for (const char* word : {"contention", "equal_", "slow_", "throttled", "gpu_factor"})
    EXPECT_EQ(truth_of(o).find(word), std::string::npos) << word;
  o.contention = 0;
  o.slow_configs = {{"256thread_28ch", 1.5}};
  o.throttled = 1;
  o.throttle_factor = 1.25;
  o.slow_links = {{0, 2, 3}};
  const std::string text = truth_of(o);
  simdjson::dom::parser parser;
  element truth;
  ASSERT_EQ(parser.parse(text).get(truth), simdjson::SUCCESS);
  EXPECT_EQ(truth["options"]["contention"].get_double().value(), 0);
  EXPECT_EQ(truth["options"]["throttled"]["factor"].get_double().value(), 1.25);
  EXPECT_EQ(truth["options"]["slow_configs"].at(0)["factor"].get_double().value(), 1.5);
  EXPECT_EQ(truth["options"]["slow_links"].at(0)["ranks"].at(1).get_int64().value(), 2);
  EXPECT_EQ(truth["configs"].at(0)["gpu_factor"].get_double().value(), 1.5);
  EXPECT_EQ(truth["configs"].at(0)["model_gemm_slowdown"].get_double().value(), 0);
}

TEST(Synth, AnotherSweepIsNotWrittenOverUnasked) {
  TempFolder folder;
  synth::Options o = small();
  make(o, folder.path());
  const auto before = files_below(folder.path());
  o.seed = 2;
  const Result<synth::Summary> again = synth::generate(o, folder.path(), 1, nullptr);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kUsage);
  EXPECT_EQ(files_below(folder.path()), before);
  o.force = true;
  EXPECT_TRUE(synth::generate(o, folder.path(), 1, nullptr));
  EXPECT_NE(files_below(folder.path()), before);
}

TEST(Synth, ImpossibleOptionsAreUsageErrors) {
  const auto fails = [](synth::Options o) {
    TempFolder folder;
    const Result<synth::Summary> result = synth::generate(o, folder.path() + "/x", 1, nullptr);
    return !result && result.error().code == ErrorCode::kUsage;
  };
  synth::Options o = small();
  o.threads = {0};
  EXPECT_TRUE(fails(o));
  o = small();
  o.straggler = 3;
  EXPECT_TRUE(fails(o));
  o = small();
  o.steps = 1;
  o.shift_window = 0;
  EXPECT_TRUE(fails(o));
  o = small();
  o.process_groups = 2; // three ranks
  EXPECT_TRUE(fails(o));
  o = small();
  o.slow_configs = {{"256thread_29ch", 2}}; // none of the sweep
  EXPECT_TRUE(fails(o));
  o = small();
  o.slow_links = {{0, 3, 2}}; // three ranks
  EXPECT_TRUE(fails(o));
  o = small();
  o.throttled = 3;
  EXPECT_TRUE(fails(o));
  EXPECT_FALSE(fails(small()));
}

TEST(TextSink, MicrosecondsHaveThreeDecimals) {
  TempFolder folder;
  Result<TextSink> sink = TextSink::create(folder.path() + "/t", false);
  ASSERT_TRUE(sink);
  for (const std::int64_t ns : {0LL, 7LL, 1050LL, -1001LL, 3743411223000001LL}) {
    sink->microseconds(ns);
    sink->character(' ');
  }
  sink->text(std::string(600000, 'x')); // larger than the buffer
  ASSERT_TRUE(sink->commit());
  const std::string text = bytes_of(folder.path() + "/t");
  EXPECT_EQ(text.substr(0, 42), "0.000 0.007 1.050 -1.001 3743411223000.001");
  EXPECT_EQ(text.size(), 43U + 600000U);
}

} // namespace
} // namespace rankscope
