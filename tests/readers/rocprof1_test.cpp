// HA-B6: files of rocprof (v1), results.json and results.csv.
#include "readers/reader.h"
#include "temp_folder.h"
#include "test_paths.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

/// Returns a file as bin/sqlitedb.py of rocprof writes it.
std::string results_json() {
  return test::bytes_of(
      (test::source_dir() / "tests/fuzz/corpus/rocprof_json/rocprof1_results.json").string());
}

TEST(Rocprof1Json, CallsKernelsCopiesAndTheirLinks) {
  const test::TempFolder folder;
  const auto trace = read_trace(folder.write("results.json", results_json()));
  ASSERT_TRUE(trace) << trace.error().message();
  EXPECT_EQ(trace->sources.front().reader, "rocprof-json");
  ASSERT_EQ(trace->events.size(), 3U);
  const auto find = [&](std::string_view name) {
    for (EventId e = 0; e < trace->events.size(); ++e)
      if (trace->name(e).starts_with(name))
        return e;
    ADD_FAILURE() << name;
    return EventId{0};
  };
  const EventId call = find("hipLaunchKernel"), kernel = find("Cijk_"), copy = find("Memcpy HtoD");
  EXPECT_EQ(trace->events.category[call], Category::kRuntime);
  EXPECT_EQ(trace->events.category[kernel], Category::kKernel);
  EXPECT_EQ(trace->events.category[copy], Category::kGpuMemcpy);
  EXPECT_EQ(trace->events.ts_ns[kernel] - trace->events.ts_ns[call], 1201478090000 - 1201478076289);
  EXPECT_EQ(trace->events.dur_ns[kernel], 100'000);
  EXPECT_EQ(trace->events.device[kernel], 0);
  EXPECT_EQ(trace->events.correlation[call], 7);
  EXPECT_EQ(trace->events.correlation[kernel], 7);
  EXPECT_EQ(trace->clock().domain, ClockDomain::kUnknown);
}

TEST(Rocprof1Json, ATornFileKeepsWhatIsBefore) {
  const test::TempFolder folder;
  const std::string text = results_json();
  const auto trace =
      read_trace(folder.write("results.json", text.substr(0, text.find("CopyHostToDevice"))));
  ASSERT_TRUE(trace) << trace.error().message();
  EXPECT_EQ(trace->events.size(), 2U);
  EXPECT_TRUE(trace->diagnostics.data_lost());
}

TEST(Rocprof1Json, OtherChromeTracesAreNotTaken) {
  const test::TempFolder folder;
  const auto trace = read_trace(folder.write(
      "t.json",
      R"({"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,
      "args":{"device":0,"stream":7}}]})"));
  ASSERT_TRUE(trace) << trace.error().message();
  EXPECT_EQ(trace->sources.front().reader, "kineto-json");
}

TEST(Rocprof1Csv, KernelsAndCounters) {
  const test::TempFolder folder;
  const std::string path = folder.write(
      "results.csv",
      "\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\",\"pid\",\"tid\",\"grd\",\"wgr\","
      "\"BeginNs\","
      "\"EndNs\",\"DurationNs\",\"Wavefronts\"\n"
      "0,\"vector_add(float*, float*) [clone .kd]\",1,3,77,78,1024,256,1000,3000,2000,16\n"
      "1,\"gemm.kd\",1,3,77,78,2048,256,4000,9000,5000,32\n");
  EXPECT_TRUE(is_trace_file(path, readers()));
  const auto trace = read_trace(path);
  ASSERT_TRUE(trace) << trace.error().message();
  ASSERT_EQ(trace->events.size(), 2U);
  EXPECT_EQ(trace->name(1), "gemm");
  EXPECT_EQ(trace->events.category[1], Category::kKernel);
  EXPECT_EQ(trace->events.dur_ns[1], 5000);
  EXPECT_EQ(trace->events.device[1], 1);
  EXPECT_EQ(trace->events.stream[1], 3);
  EXPECT_FALSE(is_trace_file(folder.write("x/results.csv", "a,b\n1,2\n"), readers()));
}

} // namespace
} // namespace rankscope
