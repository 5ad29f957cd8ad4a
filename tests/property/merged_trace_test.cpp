// Tests the merged trace by reading it: generated ranks, handmade overlaps and names, and recorded
// traces.
#include "core/steps.h"
#include "merge_checker.h"
#include "readers/reader.h"
#include "sanitized.h"
#include "synth/synth.h"
#include "temp_folder.h"
#include "test_paths.h"
#include "writers/merged_trace.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

using test::bytes_of;
using test::check_merged;
using test::Merged;
using test::MergedSlice;
using test::TempFolder;

struct Input {
  std::string path;
  std::int64_t rank = 0;
  std::int64_t offset_ns = 0;
};

MergeSummary merge(const std::vector<Input>& inputs, const MergeOptions& options,
                   const std::string& out, Diagnostics* diag = nullptr) {
  Diagnostics local;
  Diagnostics& d = diag != nullptr ? *diag : local;
  Result<MergedTraceWriter> writer = MergedTraceWriter::create(out, options);
  EXPECT_TRUE(writer);
  for (const Input& input : inputs) {
    Result<Trace> trace = read_trace(input.path);
    EXPECT_TRUE(trace) << (trace ? "" : trace.error().message());
    if (trace)
      writer->add(*trace, input.rank, ClockLine{input.offset_ns}, d);
  }
  Result<MergeSummary> summary = writer->finish();
  EXPECT_TRUE(summary);
  return summary ? *summary : MergeSummary{};
}

struct Sweep {
  TempFolder folder;
  std::vector<Input> inputs;
  std::string truth;
};

void generate(Sweep& sweep, synth::Options o) {
  o.threads = {256};
  o.channels = {42};
  ASSERT_TRUE(synth::generate(o, sweep.folder.path(), 2, nullptr));
  for (std::int64_t r = 0; r < o.ranks; ++r)
    sweep.inputs.push_back({sweep.folder.path() + "/256thread/nccl_42channels/torch_profiler/rank" +
                                std::to_string(r) + "/trace_step19.json",
                            r, 0});
  sweep.truth = bytes_of(sweep.folder.path() + "/ground_truth.json");
}

TEST(MergedTrace, EightRanksKeepTheirEvents) {
  Sweep sweep;
  synth::Options o;
  o.layers = 2;
  o.steps = 2;
  o.distinct_base = true;
  generate(sweep, o);
  const std::string out = sweep.folder.path() + "/merged.json";
  const MergeSummary summary = merge(sweep.inputs, {}, out);
  const std::string text = bytes_of(out);
  EXPECT_EQ(summary.bytes, text.size());
  const Merged merged = check_merged(text);
  ASSERT_EQ(merged.counts.size(), 8U);
  simdjson::dom::parser parser;
  simdjson::dom::element truth;
  ASSERT_EQ(parser.parse(sweep.truth).get(truth), simdjson::SUCCESS);
  std::uint64_t launched = 0;
  for (const auto rank : truth["configs"].at(0)["ranks"].get_array()) {
    const std::int64_t r = rank["rank"].get_int64().value();
    for (const char* category : {"kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime",
                                 "user_annotation", "gpu_user_annotation"}) {
      const std::uint64_t expected =
          rank["events_by_category"][std::string("X ") + category].get_uint64().value();
      EXPECT_EQ(merged.counts.at(r).at(category), expected) << r << " " << category;
    }
    EXPECT_EQ(merged.counts.at(r).count("cpu_op"), 0U);
    launched += rank["events_by_category"]["s ac2g"].get_uint64().value();
    EXPECT_TRUE(merged.process_names.count(1000 * r));
    EXPECT_TRUE(merged.process_names.count(1000 * r + 500));
  }
  EXPECT_EQ(merged.arrows.at("ac2g"), launched);
  EXPECT_EQ(merged.arrows.count("fwdbwd"), 0U);
  std::set<std::string> names;
  for (const auto& [key, name] : merged.thread_names)
    names.insert(name);
  EXPECT_TRUE(names.count("stream 0"));
  EXPECT_TRUE(names.count("stream 4"));
  // absolute times are correct for different time bases: the ends of a collective on all ranks are
  // within 3 us
  std::map<std::int64_t, std::vector<std::int64_t>> ends;
  for (const MergedSlice& s : merged.slices)
    if (s.category == "kernel" && s.name.find("nccl") != std::string::npos)
      ends[s.rank].push_back(s.end_ns + merged.base_time_ns);
  for (auto& [rank, list] : ends) {
    std::sort(list.begin(), list.end());
    ASSERT_EQ(list.size(), ends.at(0).size());
    for (std::size_t i = 0; i < list.size(); ++i)
      EXPECT_NEAR(static_cast<double>(list[i] - ends.at(0)[i]), 0, 3000);
  }
}

// docs/merge.md lists which events are retained and which are left out.
TEST(MergedTrace, WhatThePageSaysIsKeptAndLeftOut) {
  const TempFolder folder;
  std::string text = R"({"schemaVersion":1,"baseTimeNanoseconds":0,"traceEvents":[)";
  std::int64_t ts = 0;
  for (const char* category :
       {"kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "user_annotation", "cpu_op",
        "cuda_runtime", "cuda_driver", "python_function", "overhead", "cuda_sync", "cuda_event",
        "mtia_runtime", "mtia_ccp_events", "cuda_profiler_range", "Trace", "hpu_op"})
    text +=
        R"({"ph":"X","cat":")" + std::string(category) + R"(","name":"n","pid":0,"tid":7,"ts":)" +
        std::to_string(ts += 10) +
        R"(,"dur":5,"args":{"device":0,"stream":7,"Collective name":"allreduce","Group size":2,)"
        R"("In split size":"[1, 2]","Out split size":"[3, 4]"}},)";
  text += R"({"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":0,"tid":7,"ts":1}]})";
  const std::string in = folder.write("t.json", text);
  for (const bool cpu_ops : {false, true}) {
    MergeOptions options;
    options.cpu_ops = cpu_ops;
    const std::string out = folder.path("merged.json");
    merge({{in, 0, 0}}, options, out);
    const std::string text_out = bytes_of(out);
    const Merged merged = check_merged(text_out);
    std::set<std::string> categories;
    for (const auto& [category, count] : merged.counts.at(0))
      categories.insert(category);
    std::set<std::string> documented{
        "kernel",       "gpu_memcpy",  "gpu_memset",         "user_annotation",
        "cuda_runtime", "cuda_driver", "gpu_user_annotation"};
    if (cpu_ops)
      documented.insert("cpu_op");
    EXPECT_EQ(categories, documented);
    EXPECT_NE(text_out.find("Collective name\":"), std::string::npos);
    EXPECT_EQ(text_out.find("split size"), std::string::npos);
  }
}

TEST(MergedTrace, OffsetsAreTakenOut) {
  Sweep sweep;
  synth::Options o;
  o.layers = 1;
  o.steps = 1;
  o.ranks = 2;
  o.clock_offset_us = 5000;
  generate(sweep, o);
  simdjson::dom::parser parser;
  simdjson::dom::element truth;
  ASSERT_EQ(parser.parse(sweep.truth).get(truth), simdjson::SUCCESS);
  for (Input& input : sweep.inputs)
    input.offset_ns = truth["configs"]
                          .at(0)["ranks"]
                          .at(static_cast<std::size_t>(input.rank))["clock_offset_ns"]
                          .get_int64()
                          .value();
  const std::string out = sweep.folder.path() + "/merged.json";
  merge(sweep.inputs, {}, out);
  const Merged merged = check_merged(bytes_of(out));
  const auto first = truth["configs"].at(0)["collectives"].at(0);
  for (std::size_t r = 0; r < 2; ++r) {
    const std::int64_t start = first["start_ns"].at(r).get_int64().value() + 1767189312000000000;
    EXPECT_TRUE(std::any_of(merged.slices.begin(), merged.slices.end(), [&](const MergedSlice& s) {
      return s.rank == static_cast<std::int64_t>(r) && s.category == "kernel" &&
             s.start_ns + merged.base_time_ns == start;
    })) << r;
  }
}

TEST(MergedTrace, CpuOpsBringForwardBackwardArrows) {
  Sweep sweep;
  synth::Options o;
  o.layers = 2;
  o.steps = 1;
  o.ranks = 2;
  generate(sweep, o);
  const std::string out = sweep.folder.path() + "/merged.json.gz";
  MergeOptions options;
  options.cpu_ops = true;
  merge(sweep.inputs, options, out);
  const std::string packed = bytes_of(out);
  ASSERT_EQ(packed.substr(0, 2), "\x1f\x8b");
  options.gzip = false;
  merge(sweep.inputs, options, sweep.folder.path() + "/merged.json");
  const Merged merged = check_merged(bytes_of(sweep.folder.path() + "/merged.json"));
  simdjson::dom::parser parser;
  simdjson::dom::element truth;
  ASSERT_EQ(parser.parse(sweep.truth).get(truth), simdjson::SUCCESS);
  std::uint64_t pairs = 0;
  for (const auto rank : truth["configs"].at(0)["ranks"].get_array()) {
    const auto counts = rank["events_by_category"];
    EXPECT_EQ(merged.counts.at(rank["rank"].get_int64().value()).at("cpu_op"),
              counts["X cpu_op"].get_uint64().value());
    EXPECT_EQ(counts["s fwdbwd"].get_uint64().value(), counts["f fwdbwd"].get_uint64().value());
    pairs += counts["f fwdbwd"].get_uint64().value();
  }
  EXPECT_EQ(merged.arrows.at("fwdbwd"), pairs);
}

TEST(MergedTrace, StepsAndTimeWindows) {
  Sweep sweep;
  synth::Options o;
  o.layers = 1;
  o.steps = 3;
  o.ranks = 2;
  generate(sweep, o);
  const std::string out = sweep.folder.path() + "/merged.json";
  merge(sweep.inputs, {}, out);
  const Merged all = check_merged(bytes_of(out));
  MergeOptions options;
  options.steps = std::pair<std::int64_t, std::int64_t>{18, 18};
  merge(sweep.inputs, options, out);
  const Merged single = check_merged(bytes_of(out));
  for (const std::int64_t rank : {0, 1})
    for (const char* category : {"kernel", "cuda_runtime", "gpu_memcpy", "gpu_user_annotation"})
      EXPECT_EQ(single.counts.at(rank).at(category) * 3, all.counts.at(rank).at(category))
          << category;
  options.steps.reset();
  std::int64_t zero = INT64_MAX;
  for (const MergedSlice& s : all.slices)
    if (s.rank == 0)
      zero = std::min(zero, s.start_ns);
  options.from_ms = 5;
  options.to_ms = 22.5;
  merge(sweep.inputs, options, out);
  const Merged part = check_merged(bytes_of(out));
  const auto expected = std::count_if(all.slices.begin(), all.slices.end(), [&](const auto& s) {
    return s.start_ns >= zero + 5000000 && s.start_ns < zero + 22500000;
  });
  EXPECT_EQ(part.slices.size(), static_cast<std::size_t>(expected));
  EXPECT_GT(expected, 20);
  options.from_ms = 1e7;
  options.to_ms = 2e7;
  Diagnostics diag;
  merge(sweep.inputs, options, out, &diag);
  EXPECT_TRUE(diag.data_lost());
  EXPECT_TRUE(check_merged(bytes_of(out)).slices.empty());
}

/// Writes a handmade trace with unusual content: names with quotes, overlapping kernels, a flow
/// without a partner.
std::string unusual_trace(const std::string& folder) {
  const std::string path = folder + "/odd.json";
  std::ofstream(path) << R"({"schemaVersion": 1, "deviceProperties": [{"id": 2, "name": "G\"PU"}],
"baseTimeNanoseconds": 1000000000000000000,
"traceEvents": [
{"ph":"X","cat":"kernel","name":"a \"quoted\" name\\x","pid":2,"tid":0,"ts":100.000,"dur":50.000,
 "args":{"device":2,"stream":0,"correlation":7,"grid":[1,1,1],"block":[64,1,1]}},
{"ph":"X","cat":"kernel","name":"runs over","pid":2,"tid":0,"ts":140.000,"dur":20.000,
 "args":{"device":2,"stream":0,"correlation":7}},
{"ph":"X","cat":"kernel","name":"third lane","pid":2,"tid":0,"ts":145.000,"dur":40.001,
 "args":{"device":2,"stream":0,"correlation":8}},
{"ph":"X","cat":"kernel","name":"stream two","pid":2,"tid":2,"ts":100.000,"dur":1.000,
 "args":{"device":2,"stream":2,"correlation":99}},
{"ph":"X","cat":"gpu_user_annotation","name":"cuts","pid":2,"tid":0,"ts":120.000,"dur":500.000,"args":{}},
{"ph":"X","cat":"cuda_runtime","name":"hipGraphLaunch","pid":2,"tid":2,"ts":10.000,"dur":5.000,
 "args":{"correlation":7}},
{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":2,"tid":2,"ts":20.000,"dur":5.000,
 "args":{"correlation":8}},
{"ph":"s","id":7,"pid":2,"tid":2,"ts":10.000,"cat":"ac2g","name":"ac2g"},
{"ph":"f","id":55,"pid":2,"tid":2,"ts":20.000,"cat":"ac2g","name":"ac2g","bp":"e"},
{"ph":"M","name":"thread_name","ts":0,"pid":2,"tid":0,"args":{"name":"stream 0 "}}
]})";
  return path;
}

TEST(MergedTrace, OddTracesComeOutWell) {
  TempFolder folder;
  const std::string path = unusual_trace(folder.path());
  const std::string out = folder.path() + "/merged.json";
  const MergeSummary summary = merge({{path, 0, 0}, {path, 3, 0}}, {}, out);
  const Merged merged = check_merged(bytes_of(out));
  ASSERT_EQ(merged.counts.size(), 2U);
  EXPECT_EQ(merged.counts.at(3).at("kernel"), 4U);
  EXPECT_EQ(merged.counts.at(3).at("cuda_runtime"), 2U);
  EXPECT_EQ(merged.arrows.at("ac2g"), 6U); // per rank: two from the graph, one from the launch
  EXPECT_EQ(summary.ranks.at(1).overflow, 3U);
  std::map<std::string, std::string> track; // by name: thread name, of rank 3
  for (const MergedSlice& s : merged.slices)
    if (s.rank == 3)
      track[s.name.substr(5)] = merged.thread_names.at({s.pid, s.tid});
  EXPECT_EQ(track.at("a \"quoted\" name\\x"), "stream 0");
  EXPECT_EQ(track.at("runs over"), "stream 0 (2)");
  EXPECT_EQ(track.at("third lane"), "stream 0 (3)");
  EXPECT_EQ(track.at("cuts"), "stream 0 (2)"); // the annotation before it opens the lane
  EXPECT_EQ(track.at("stream two"), "stream 2");
  // the host process has the pid of the device, but must be separate
  for (const MergedSlice& s : merged.slices)
    EXPECT_EQ(s.pid % 1000, s.category == "cuda_runtime" ? 500 : 0);
}

TEST(MergedTrace, RandomOverlapsNestAndKeepEverySlice) {
  std::mt19937 random(7); // fixed seed, so that failures can be reproduced
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < 40; ++round) {
    TempFolder folder;
    const std::string path = folder.path() + "/r.json";
    std::ofstream file(path);
    file << "{\"baseTimeNanoseconds\": 5000000000000, \"traceEvents\": [";
    const int count = 1 + below(200);
    for (int i = 0; i < count; ++i) {
      const bool host = below(3) == 0;
      const char* gpu[] = {"kernel", "gpu_memcpy", "gpu_user_annotation", "kernel"};
      file << (i > 0 ? "," : "") << "{\"ph\":\"X\",\"cat\":\""
           << (host ? "cuda_runtime" : gpu[below(4)]) << "\",\"name\":\"n" << i
           << "\",\"pid\":" << (host ? 77 : below(2)) << ",\"tid\":" << below(3)
           << ",\"ts\":" << below(300) << ".00" << below(3) << ",\"dur\":" << below(60) << ".00"
           << below(3) << ",\"args\":{\"correlation\":" << below(50) << "}}";
    }
    file << "]}";
    file.close();
    const std::string out = folder.path() + "/merged.json";
    merge({{path, 0, 0}, {path, 5, -123}}, {}, out);
    const Merged merged = check_merged(bytes_of(out));
    EXPECT_EQ(merged.slices.size(), 2U * static_cast<std::size_t>(count));
    if (::testing::Test::HasFailure())
      FAIL() << "round " << round;
  }
}

/// Perfetto stores thread ids in 32 bits: with more than about 4,300 lanes, ids were not unique
/// there.
TEST(MergedTrace, ThreadIdsOfThousandsOfLanesFit32Bits) {
  constexpr int kLanes = 4'500; // kernels that partly overlap, so that none nests
  TempFolder folder;
  const std::string path = folder.path() + "/r.json";
  std::ofstream file(path);
  file << "{\"baseTimeNanoseconds\": 5000000000000, \"traceEvents\": [";
  for (int i = 0; i < kLanes; ++i)
    file << (i > 0 ? "," : "")
         << "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":" << i
         << ",\"dur\":9000,\"args\":{\"stream\":7}}";
  file << "]}";
  file.close();
  const std::string out = folder.path() + "/merged.json";
  merge({{path, 0, 0}}, {}, out);
  const Merged merged = check_merged(bytes_of(out));
  std::set<std::int64_t> tids;
  for (const MergedSlice& s : merged.slices) {
    tids.insert(s.tid);
    EXPECT_GT(s.tid, 0);
    EXPECT_LE(s.tid, std::int64_t{UINT32_MAX});
  }
  EXPECT_EQ(tids.size(), std::size_t{kLanes});
}

TEST(MergedTrace, RealTraces) {
  const std::string golden = test::golden_dir().string();
  const std::vector<std::string> names = {"hta/sampled_rank-0.json.gz",
                                          "hta/sampled_rank-1.json.gz",
                                          "mi300/resnet_act_checkpoint.json.gz",
                                          "mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
                                          "h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
                                          "hta/ns_resolution.json.gz"};
  int merged_files = 0;
  for (const std::string& name : names) {
    // more files would use no other threads and no other code paths
    if (merged_files == (test::kThreadSanitized ? 2 : test::kAddressSanitized ? 3 : 100))
      break;
    const std::string path = golden + "/" + name;
    if (!fs::exists(path))
      continue;
    SCOPED_TRACE(name);
    TempFolder folder;
    const std::string out = folder.path() + "/merged.json";
    MergeOptions options;
    options.cpu_ops = true;
    merge({{path, 0, 0}, {path, 1, 0}}, options, out);
    const Merged merged = check_merged(bytes_of(out));
    Result<Trace> trace = read_trace(path);
    ASSERT_TRUE(trace);
    std::map<std::string, std::uint64_t> expected;
    for (EventId e = 0; e < trace->events.size(); ++e)
      ++expected[std::string(category_name(trace->events.category[e]))];
    for (const char* dropped :
         {"python_function", "overhead", "cuda_sync", "cuda_event", "cpu_instant_event", "other"})
      expected.erase(dropped);
    for (const std::int64_t rank : {0, 1})
      EXPECT_EQ(merged.counts.at(rank), expected);
    ++merged_files;
  }
  if (merged_files == 0)
    GTEST_SKIP() << "no golden traces at " << golden;
}

TEST(MergedTrace, StepTexts) {
  EXPECT_EQ(parse_steps("19")->first, 19);
  EXPECT_EQ(parse_steps("17:19")->second, 19);
  for (const char* bad : {"", "x", "3:2", "-1", "1:", ":2", "1:2:3"})
    EXPECT_FALSE(parse_steps(bad)) << bad;
}

} // namespace
} // namespace rankscope
