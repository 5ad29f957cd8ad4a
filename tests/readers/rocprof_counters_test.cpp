// Counters of kernels and allocations in what AMD's tools write, and calls with several pieces of
// work.
#include "core/call_tree.h"
#include "readers/reader.h"
#include "rocprof_files.h"
#include "temp_folder.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>

namespace rankscope {
namespace {

using test::RocpdSchema;
using test::TempFolder;

Trace must_read(const std::string& path) {
  Result<Trace> t = read_trace(path);
  EXPECT_TRUE(t) << t.error().message();
  return std::move(*t);
}

/// "kernel/counter" to the values of its launches, in their order.
std::map<std::string, std::vector<double>> counters_of(const Trace& t) {
  std::map<std::string, std::vector<double>> out;
  for (const KernelCounter& c : t.kernel_counters)
    out[std::string(t.name(c.event)) + "/" + std::string(t.strings.view(c.name))].push_back(
        c.value);
  return out;
}

struct Sample {
  std::int64_t at_ns, device;
  double bytes;
  bool operator==(const Sample&) const = default;
};
std::vector<Sample> memory_of(const Trace& t) {
  std::vector<Sample> out;
  for (std::size_t i = 0; i < t.counters.size(); ++i) {
    EXPECT_EQ(t.strings.view(t.counters.name[i]), "GPU memory in use");
    EXPECT_EQ(t.strings.view(t.counters.unit[i]), "bytes");
    out.push_back({t.counters.ts_ns[i], t.tracks[t.counters.track[i]].pid, t.counters.value[i]});
  }
  return out;
}

std::uint64_t not_read(const Trace& t, std::string_view what) {
  for (const Problem& p : t.diagnostics.problems())
    if (p.name == "rows_not_read" && p.sentence.find(what) != std::string::npos)
      return p.count;
  return 0;
}

class RocpdCounters : public testing::TestWithParam<RocpdSchema> {};

TEST_P(RocpdCounters, AreSummedOverInstances) {
  const TempFolder folder;
  const std::string path = folder.path("c.db");
  test::run_sql(path, test::rocpd_session(GetParam(), "g1", "{}"));
  test::run_sql(path, "CREATE TABLE rocpd_info_pmc_g1(id INTEGER PRIMARY KEY, name TEXT, "
                      "expression TEXT);"
                      "CREATE TABLE rocpd_pmc_event_g1(id INTEGER PRIMARY KEY, event_id, pmc_id, "
                      "value);"
                      "INSERT INTO rocpd_info_pmc_g1 VALUES (1, 'SQ_WAVES', ''), (2, "
                      "'MeanOccupancy', 'reduce(SQ_LEVEL_WAVES,sum)');"
                      // two instances, one value each; events 6 and 7 are the gemm and RCCL kernels
                      "INSERT INTO rocpd_pmc_event_g1(event_id, pmc_id, value) VALUES (6, 1, 100), "
                      "(6, 1, 28), (6, 2, 0.75), (7, 1, 4), (NULL, 1, 9), (6, 3, 1), (8, 1, 7), "
                      "(6, 1, 'x');");
  const Trace t = must_read(path);
  EXPECT_EQ(counters_of(t), (std::map<std::string, std::vector<double>>{
                                {"Cijk_Ailk_Bljk_BBS_BH/SQ_WAVES", {128}},
                                {"Cijk_Ailk_Bljk_BBS_BH/MeanOccupancy", {0.75}},
                                {"ncclDevKernel_Generic_4/SQ_WAVES", {4}}}));
  // without an event, with an unknown counter, of a copy, no number
  EXPECT_EQ(not_read(t, "counters"), 4U);
}

TEST_P(RocpdCounters, AllocationsBecomeMemoryInUse) {
  const TempFolder folder;
  const std::string path = folder.path("m.db");
  test::run_sql(path, test::rocpd_session(GetParam(), "g1", "{}"));
  test::run_sql(path,
                "CREATE TABLE rocpd_memory_allocate_g1(id INTEGER PRIMARY KEY, pid, agent_id, "
                "type TEXT, level TEXT, start, \"end\", address, size, event_id);"
                "INSERT INTO rocpd_memory_allocate_g1(pid, agent_id, type, level, start, \"end\", "
                "address, size) VALUES "
                "(4242, 4, 'ALLOC', 'REAL', 100, 110, 4096, 1000), "
                "(4242, 4, 'ALLOC', 'VIRTUAL', 120, 130, 8192, 500), "
                "(4242, NULL, 'FREE', 'REAL', 300, 310, 4096, 0), " // out of the order of time
                "(4242, 4, 'ALLOC', 'REAL', 200, 210, 12288, 50), "
                "(4242, 0, 'ALLOC', 'REAL', 220, 230, 16384, 7777), " // the host's
                "(4242, NULL, 'FREE', 'REAL', 400, 410, 99, 0), "     // from before
                "(4242, 4, 'ALLOC', 'SCRATCH', 500, 510, 7, 9), "
                "(4242, 4, 'ALLOC', 'REAL', 600, 'x', 7, 9);");
  const Trace t = must_read(path);
  EXPECT_EQ(memory_of(t),
            (std::vector<Sample>{{110, 1, 1000}, {130, 1, 1500}, {210, 1, 1550}, {300, 1, 550}}));
  EXPECT_EQ(not_read(t, "scratch"), 1U);
  const auto problems = t.diagnostics.problems();
  EXPECT_TRUE(std::any_of(problems.begin(), problems.end(), [](const Problem& p) {
    return p.name == "memory_released_only" && p.count == 1;
  }));
}

TEST_P(RocpdCounters, TablesOfWhichNothingIsTakenAreNamed) {
  const TempFolder folder;
  const std::string path = folder.path("e.db");
  test::run_sql(path, test::rocpd_session(GetParam(), "g1", "{}"));
  test::run_sql(path, "CREATE TABLE rocpd_hip_event_g1(id INTEGER PRIMARY KEY);"
                      "INSERT INTO rocpd_hip_event_g1 VALUES (1), (2);");
  EXPECT_EQ(not_read(must_read(path), "records and waits of events"), 2U);
}

TEST_P(RocpdCounters, ACallHasAllWorkThatItStarted) {
  const TempFolder folder;
  const std::string path = folder.path("w.db");
  test::run_sql(path, test::rocpd_session(GetParam(), "g1", "{}"));
  // a kernel that hipMemcpyAsync (stack 5) ran beside its copy
  const bool tracks = GetParam() == RocpdSchema::k400Timestamps || GetParam() == RocpdSchema::k410;
  const std::string place = tracks ? "track_id" : "pid, tid, agent_id, stream_id";
  const bool stamps = GetParam() == RocpdSchema::k400Timestamps;
  test::run_sql(path, std::string("INSERT INTO rocpd_event_g1 VALUES (20, 10, 5, 5, 0, '{}');") +
                          (stamps ? "INSERT INTO rocpd_timestamp_g1 VALUES (901, 5900, 0, 1), "
                                    "(902, 5950, 1, 1);"
                                  : "") +
                          "INSERT INTO rocpd_kernel_dispatch_g1(" + place + ", " +
                          (stamps ? "start_id, end_id" : "start, \"end\"") +
                          ", kernel_id, event_id) VALUES (" + (tracks ? "2" : "4242, 9, 4, 1") +
                          (stamps ? ", 901, 902" : ", 5900, 5950") + ", 8, 20);");
  const Trace t = must_read(path);
  const CallTree tree = CallTree::build(t);
  std::map<std::string, int> launched;
  for (EventId e = 0; e < t.events.size(); ++e)
    if (t.gpu(e) && tree.linked(e))
      ++launched[std::string(t.name(tree.parent(e)))];
  EXPECT_EQ(launched, (std::map<std::string, int>{{"hipLaunchKernel", 1},
                                                  {"hipExtLaunchKernel", 1},
                                                  {"hipMemcpyAsync", 2},
                                                  {"hipGraphLaunch", 2}}));
}

INSTANTIATE_TEST_SUITE_P(All, RocpdCounters,
                         testing::Values(RocpdSchema::k300, RocpdSchema::k302,
                                         RocpdSchema::k400Timestamps, RocpdSchema::k410));

const char* const kCounterHead =
    "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Counter_Name\","
    "\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n";

TEST(RocprofCsvCounters, MeetTheirKernelsOrBringThem) {
  const TempFolder folder;
  const std::string counters = folder.write(
      "r_counter_collection.csv", std::string(kCounterHead) +
                                      "1,7,\"Agent 4\",1,\"k\",\"SQ_WAVES\",16.5,100,200\n"
                                      "1,7,\"Agent 4\",1,\"k\",\"SQ_WAVES\",3.5,100,200\n"
                                      "2,8,\"Agent 4\",1,\"k\",\"SQ_WAVES\",2,300,400\n"
                                      "2,8,\"Agent 4\",1,\"k\",\"SQ_WAVES\",nan,300,400\n");
  const Trace alone = must_read(counters);
  EXPECT_EQ(alone.events.size(), 2U);
  EXPECT_EQ(alone.events.dur_ns[0], 100);
  EXPECT_EQ(alone.events.device[0], 4);
  EXPECT_EQ(counters_of(alone),
            (std::map<std::string, std::vector<double>>{{"k/SQ_WAVES", {20, 2}}}));
  EXPECT_EQ(not_read(alone, "counters"), 1U);

  const std::string kernels = folder.write(
      "r_kernel_trace.csv",
      "\"Agent_Id\",\"Dispatch_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\","
      "\"End_Timestamp\"\n\"Agent 4\",8,\"k\",2,310,390\n\"Agent 4\",7,\"k\",1,110,190\n");
  const Trace both = must_read(kernels);
  EXPECT_EQ(both.events.size(), 2U);
  EXPECT_EQ(both.events.dur_ns[0], 80);
  EXPECT_EQ(counters_of(both),
            (std::map<std::string, std::vector<double>>{{"k/SQ_WAVES", {2, 20}}}));
}

TEST(RocprofCsvCounters, AllocationsBecomeMemoryInUse) {
  const TempFolder folder;
  (void)folder.write("r_kernel_trace.csv",
                     "\"Agent_Id\",\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\"\n"
                     "\"Agent 4\",\"k\",110,190\n");
  (void)folder.write(
      "r_agent_info.csv",
      "\"Node_Id\",\"Agent_Type\",\"Logical_Node_Type_Id\"\n0,\"CPU\",0\n4,\"GPU\",1\n");
  const std::string path = folder.write(
      "r_memory_allocation_trace.csv",
      "\"Kind\",\"Operation\",\"Agent_Id\",\"Allocation_Size\",\"Address\",\"Correlation_Id\","
      "\"Start_Timestamp\",\"End_Timestamp\"\n"
      "\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_ALLOCATE\",\"Agent 0\",64,\"0x10\",1,10,11\n"
      "\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_ALLOCATE\",\"Agent 4\",1024,\"0x7f00\",1,12,13\n"
      "\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_FREE\",\"\",0,\"0x10\",2,14,15\n"
      "\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_FREE\",\"\",0,\"0x7f00\",2,16,17\n"
      "\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_FREE\",\"\",0,\"\",2,16,17\n");
  const Trace t = must_read(path);
  EXPECT_EQ(memory_of(t), (std::vector<Sample>{{13, 1, 1024}, {16, 1, 0}}));
  EXPECT_EQ(not_read(t, "allocations without an address"), 1U);
}

TEST(RocprofCsvCounters, ThePublishedSample) {
  const char* const golden = std::getenv("RANKSCOPE_GOLDEN");
  const std::string path = std::string(golden == nullptr ? "../shared/golden" : golden) +
                           "/formats/rocprofv3-csv/counter_collection.csv";
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << path << " is not there";
  // the other samples beside it are of other runs
  const TempFolder folder;
  const Trace t = must_read(folder.write("counter_collection.csv", test::bytes_of(path)));
  EXPECT_EQ(t.events.size(), 4U);
  EXPECT_EQ(t.events.dur_ns[0], 3200098838483232 - 3200098838431081);
  EXPECT_EQ(counters_of(t).at("subtract_kernel(float*, float const*, float const*, int, int)/"
                              "SQ_WAVES"),
            std::vector<double>{16384});
}

} // namespace
} // namespace rankscope
