// Tests counters of kernels and allocations in the formats of AMD's tools, and calls that cause
// several GPU operations.
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

/// Returns "kernel/counter" with the values of its launches, in order.
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
std::vector<Sample> memory_of(const Trace& t, std::string_view name = "GPU memory in use") {
  std::vector<Sample> out;
  for (std::size_t i = 0; i < t.counters.size(); ++i) {
    if (t.strings.view(t.counters.name[i]) != name)
      continue;
    EXPECT_EQ(t.strings.view(t.counters.unit[i]), "bytes");
    out.push_back({t.counters.ts_ns[i], t.tracks[t.counters.track[i]].pid, t.counters.value[i]});
  }
  return out;
}

/// Returns N from "..., N of WHAT..., ..." in the note about rows that were not read.
std::uint64_t not_read(const Trace& t, const std::string& what) {
  for (const Problem& p : t.diagnostics.problems()) {
    const std::size_t at = p.sentence.find(" of " + what);
    if (p.name == "rows_not_read" && at != std::string::npos)
      return std::stoull(p.sentence.substr(p.sentence.rfind(' ', at - 1) + 1));
  }
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
                      // two instances with one value each; events 6 and 7 are the gemm and RCCL
                      // kernels
                      "INSERT INTO rocpd_pmc_event_g1(event_id, pmc_id, value) VALUES (6, 1, 100), "
                      "(6, 1, 28), (6, 2, 0.75), (7, 1, 4), (NULL, 1, 9), (6, 3, 1), (8, 1, 7), "
                      "(6, 1, 'x');");
  const Trace t = must_read(path);
  EXPECT_EQ(counters_of(t), (std::map<std::string, std::vector<double>>{
                                {"Cijk_Ailk_Bljk_BBS_BH/SQ_WAVES", {128}},
                                {"Cijk_Ailk_Bljk_BBS_BH/MeanOccupancy", {0.75}},
                                {"ncclDevKernel_Generic_4/SQ_WAVES", {4}}}));
  // without an event, with an unknown counter, of a copy, not a number
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
                "(4242, NULL, 'FREE', 'REAL', 300, 310, 4096, 0), " // not in the order of time
                "(4242, 4, 'ALLOC', 'REAL', 200, 210, 12288, 50), "
                "(4242, 0, 'ALLOC', 'REAL', 220, 230, 16384, 7777), " // memory of the host
                "(4242, NULL, 'FREE', 'REAL', 400, 410, 99, 0), " // allocated before the recording
                "(4242, 4, 'ALLOC', 'SCRATCH', 500, 510, 7, 9), "
                "(4242, 4, 'ALLOC', 'REAL', 600, 'x', 7, 9);");
  const Trace t = must_read(path);
  EXPECT_EQ(memory_of(t),
            (std::vector<Sample>{{110, 1, 1000}, {130, 1, 1500}, {210, 1, 1550}, {300, 1, 550}}));
  EXPECT_EQ(memory_of(t, "GPU scratch memory in use"), (std::vector<Sample>{{510, 1, 9}}));
  const auto problems = t.diagnostics.problems();
  EXPECT_TRUE(std::any_of(problems.begin(), problems.end(), [](const Problem& p) {
    return p.name == "memory_released_only" && p.count == 1;
  }));
}

TEST_P(RocpdCounters, ScratchMemoryIsThatOfQueues) {
  const TempFolder folder;
  const std::string path = folder.path("s.db");
  test::run_sql(path, test::rocpd_session(GetParam(), "g1", "{}"));
  test::run_sql(path,
                "CREATE TABLE rocpd_memory_allocate_g1(id INTEGER PRIMARY KEY, pid, agent_id, "
                "queue_id, type TEXT, level TEXT, start, \"end\", address, size, event_id);"
                "INSERT INTO rocpd_memory_allocate_g1(pid, agent_id, queue_id, type, level, "
                "start, \"end\", size) VALUES "
                "(4242, 4, 1, 'ALLOC', 'SCRATCH', 100, 150, 1000), "
                "(4242, 4, 2, 'ALLOC', 'SCRATCH', 200, 250, 400), "
                "(4242, 4, 1, 'ALLOC', 'SCRATCH', 300, 350, 3000), " // replaces the first
                "(4242, 4, 1, 'FREE', 'SCRATCH', 400, 450, 0), "
                "(4242, 4, 2, 'RECLAIM', 'SCRATCH', 500, 550, NULL), "
                "(4242, 4, 2, 'FREE', 'SCRATCH', 600, 650, 0), " // it has no allocation
                "(4242, 4, 3, 'ALLOC', 'SCRATCH', 700, 750, NULL);");
  const Trace t = must_read(path);
  EXPECT_TRUE(memory_of(t).empty());
  EXPECT_EQ(memory_of(t, "GPU scratch memory in use"), (std::vector<Sample>{{150, 1, 1000},
                                                                            {250, 1, 1400},
                                                                            {350, 1, 400},
                                                                            {350, 1, 3400},
                                                                            {400, 1, 400},
                                                                            {500, 1, 0}}));
  EXPECT_EQ(not_read(t, "scratch memory without a size"), 1U);
}

TEST_P(RocpdCounters, PcSamplesAreCountedByKernel) {
  const TempFolder folder;
  const std::string path = folder.path("p.db");
  test::run_sql(path, test::rocpd_session(GetParam(), "g1", "{}"));
  test::run_sql(
      path,
      "UPDATE rocpd_kernel_dispatch_g1 SET dispatch_id = id;"
      "CREATE TABLE rocpd_gpu_pc_sample_g1(id INTEGER PRIMARY KEY, timestamp, pid, dispatch_id, "
      "code_object_offset, wave_issued, inst_type, stall_reason, wave_count, event_id);"
      "INSERT INTO rocpd_gpu_pc_sample_g1(pid, dispatch_id, wave_issued, stall_reason) VALUES "
      "(4242, 1, 1, 0), (4242, 1, 1, 0), (4242, 1, 0, 3), (4242, 1, 0, 99), "
      "(4242, 2, NULL, NULL), " // host trap: no stall reason
      "(4242, 77, 1, 0), (1, 1, 1, 0), (4242, 'x', 1, 0);");
  const Trace t = must_read(path);
  EXPECT_EQ(counters_of(t), (std::map<std::string, std::vector<double>>{
                                {"Cijk_Ailk_Bljk_BBS_BH/PC samples", {4}},
                                {"Cijk_Ailk_Bljk_BBS_BH/PC samples issued", {2}},
                                {"Cijk_Ailk_Bljk_BBS_BH/PC samples stalled: WAITCNT", {1}},
                                {"Cijk_Ailk_Bljk_BBS_BH/PC samples stalled: (another reason)", {1}},
                                {"ncclDevKernel_Generic_4/PC samples", {1}}}));
  EXPECT_EQ(not_read(t, "PC samples that belong to no kernel"), 3U);
}

TEST_P(RocpdCounters, TablesOfWhichNothingIsTakenAreNamed) {
  const TempFolder folder;
  const std::string path = folder.path("e.db");
  test::run_sql(path, test::rocpd_session(GetParam(), "g1", "{}"));
  test::run_sql(path, "CREATE TABLE rocpd_hip_event_g1(id INTEGER PRIMARY KEY);"
                      "INSERT INTO rocpd_hip_event_g1 VALUES (1), (2);");
  EXPECT_EQ(not_read(must_read(path), "records of and waits for stream events"), 2U);
}

TEST_P(RocpdCounters, ACallHasAllWorkThatItStarted) {
  const TempFolder folder;
  const std::string path = folder.path("w.db");
  test::run_sql(path, test::rocpd_session(GetParam(), "g1", "{}"));
  // a kernel that hipMemcpyAsync (stack 5) ran in addition to its copy
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

TEST(RocprofCsvCounters, ScratchMemoryAndPcSamplesOfASet) {
  const TempFolder folder;
  const std::string path = folder.write(
      "r_kernel_trace.csv",
      "\"Agent_Id\",\"Dispatch_Id\",\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\"\n"
      "\"Agent 4\",7,\"k\",110,190\n\"Agent 4\",8,\"k\",210,290\n");
  (void)folder.write(
      "r_scratch_memory_trace.csv",
      "\"Kind\",\"Operation\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Alloc_Flags\","
      "\"Start_Timestamp\",\"End_Timestamp\",\"Allocation_Size\"\n"
      "\"SCRATCH_MEMORY\",\"SCRATCH_MEMORY_ALLOC\",\"Agent 4\",1,113,0,10,20,4096\n"
      "\"SCRATCH_MEMORY\",\"SCRATCH_MEMORY_FREE\",\"Agent 4\",1,113,0,30,40,0\n");
  (void)folder.write(
      "r_pc_sampling_stochastic.csv",
      "\"Sample_Timestamp\",\"Exec_Mask\",\"Dispatch_Id\",\"Instruction\",\"Instruction_Comment\","
      "\"Correlation_Id\",\"Wave_Issued_Instruction\",\"Instruction_Type\",\"Stall_Reason\","
      "\"Wave_Count\"\n"
      "120,1,7,\"v_add_f32 v1, v2\",\"\",1,1,\"VALU\",\"NONE\",2\n"
      "125,1,7,\"s_waitcnt\",\"\",1,0,\"NO_INST\","
      "\"ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_WAITCNT\",2\n"
      "126,1,9,\"s_waitcnt\",\"\",1,0,\"NO_INST\",\"WAITCNT\",2\n");
  (void)folder.write("r_pc_sampling_host_trap.csv",
                     "\"Sample_Timestamp\",\"Exec_Mask\",\"Dispatch_Id\",\"Instruction\","
                     "\"Instruction_Comment\",\"Correlation_Id\"\n"
                     "220,1,8,\"v_add_f32 v1, v2\",\"\",2\n"
                     "221,1,8,\"v_add_f32 v1, v2\",\"\",2\n");
  const Trace t = must_read(path);
  EXPECT_EQ(memory_of(t, "GPU scratch memory in use"),
            (std::vector<Sample>{{20, 4, 4096}, {30, 4, 0}}));
  EXPECT_EQ(counters_of(t),
            (std::map<std::string, std::vector<double>>{{"k/PC samples", {2, 2}},
                                                        {"k/PC samples issued", {1}},
                                                        {"k/PC samples stalled: WAITCNT", {1}}}));
  EXPECT_EQ(not_read(t, "PC samples that belong to no kernel"), 1U);
}

/// Returns a document of rocprofv3 with counters of dispatches 1 and 2, followed by `records`.
std::string json_with_counters(const std::string& records) {
  return R"~({"rocprofiler-sdk-tool":[{"metadata":{"pid":9},
"agents":[{"id":{"handle":50},"type":2,"logical_node_type_id":1}],
"counters":[{"id":{"handle":3},"name":"SQ_WAVES"},{"id":{"handle":4},"name":"MeanOccupancy"}],
"strings":{"buffer_records":[{"kind":"NONE","operations":[]},{"kind":"MEMORY_ALLOCATION","operations":["NONE","MEMORY_ALLOCATION_ALLOCATE","MEMORY_ALLOCATION_VMEM_ALLOCATE","MEMORY_ALLOCATION_FREE"]},{"kind":"SCRATCH_MEMORY","operations":["NONE","SCRATCH_MEMORY_ALLOC","SCRATCH_MEMORY_FREE"]}]},
"kernel_symbols":[{"kernel_id":8,"formatted_kernel_name":"k"},{"kernel_id":9,"formatted_kernel_name":"l"}],
"callback_records":{"counter_collection":[
{"thread_id":9,"dispatch_data":{"start_timestamp":100,"end_timestamp":150,"correlation_id":{"internal":1},"dispatch_info":{"agent_id":{"handle":50},"queue_id":{"handle":5},"kernel_id":8,"dispatch_id":1}},"records":[{"counter_id":{"handle":3},"value":16.5},{"counter_id":{"handle":3},"value":3.5},{"counter_id":{"handle":4},"value":1}]},
{"dispatch_data":{"start_timestamp":200,"end_timestamp":290,"dispatch_info":{"agent_id":{"handle":50},"kernel_id":9,"dispatch_id":2}},"records":[{"counter_id":{"handle":3},"value":7},{"counter_id":{"handle":77},"value":7},{"counter_id":{"handle":3},"value":"x"}]},
{"dispatch_data":{},"records":[{"counter_id":{"handle":3},"value":1}]},{"records":5}]},
"buffer_records":{)~" +
         records + "}}]}";
}

constexpr const char* kDispatches =
    R"("kernel_dispatch":[{"kind":0,"correlation_id":{"internal":2},"start_timestamp":205,"end_timestamp":285,"dispatch_info":{"agent_id":{"handle":50},"kernel_id":9,"dispatch_id":2}},
{"kind":0,"correlation_id":{"internal":1},"start_timestamp":110,"end_timestamp":140,"dispatch_info":{"agent_id":{"handle":50},"kernel_id":8,"dispatch_id":1}}])";

TEST(RocprofJsonCounters, MeetTheirKernels) {
  const TempFolder folder;
  const Trace t = must_read(folder.write("r.json", json_with_counters(kDispatches)));
  ASSERT_EQ(t.events.size(), 2U);
  EXPECT_EQ(t.events.dur_ns[0], 80);
  EXPECT_EQ(counters_of(t),
            (std::map<std::string, std::vector<double>>{
                {"k/SQ_WAVES", {20}}, {"k/MeanOccupancy", {1}}, {"l/SQ_WAVES", {7}}}));
  // an unknown counter, not a number, a dispatch without an id
  EXPECT_EQ(not_read(t, "counters that belong to no kernel"), 3U);
}

TEST(RocprofJsonCounters, BringKernelsThatNobodyTraced) {
  const TempFolder folder;
  const Trace t = must_read(folder.write("r.json", json_with_counters(R"("kernel_dispatch":[])")));
  ASSERT_EQ(t.events.size(), 2U);
  EXPECT_EQ(t.name(0), "k");
  EXPECT_EQ(t.events.dur_ns[0], 50);
  EXPECT_EQ(t.events.device[0], 1);
  EXPECT_EQ(t.events.stream[0], 5) << "its queue";
  EXPECT_EQ(counters_of(t).at("l/SQ_WAVES"), std::vector<double>{7});
}

TEST(RocprofJsonCounters, MemoryScratchAndPcSamples) {
  const TempFolder folder;
  const Trace t =
      must_read(folder.write("r.json", json_with_counters(std::string(kDispatches) + R"~(,
"memory_allocation":[{"kind":1,"operation":1,"start_timestamp":10,"end_timestamp":11,"agent_id":{"handle":50},"address":"0x7f00","allocation_size":1024},
{"kind":1,"operation":3,"start_timestamp":20,"end_timestamp":21,"agent_id":{"handle":0},"address":"0x7f00","allocation_size":0},
{"kind":1,"operation":1,"start_timestamp":30,"end_timestamp":31,"agent_id":{"handle":50},"allocation_size":8}],
"scratch_memory":[{"kind":2,"operation":1,"start_timestamp":40,"end_timestamp":41,"agent_id":{"handle":50},"queue_id":{"handle":5},"allocation_size":64},
{"kind":2,"operation":2,"start_timestamp":50,"end_timestamp":51,"agent_id":{"handle":50},"queue_id":{"handle":5}}],
"hip_event":[{"kind":0,"operation":1,"start_timestamp":1,"end_timestamp":2}],
"pc_sample_stochastic":[{"inst_index":0,"record":{"dispatch_id":1,"wave_issued":1,"snapshot":{"stall_reason":"ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_NONE"}}},
{"inst_index":1,"record":{"dispatch_id":1,"wave_issued":false,"snapshot":{"stall_reason":"ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_BARRIER_WAIT"}}},
{"inst_index":1,"record":{"dispatch_id":3,"wave_issued":0}}],
"pc_sample_host_trap":[{"inst_index":0,"record":{"dispatch_id":2,"pc":{"code_object_id":1}}}])~")));
  EXPECT_EQ(memory_of(t), (std::vector<Sample>{{11, 1, 1024}, {20, 1, 0}}));
  EXPECT_EQ(not_read(t, "allocations without an address"), 1U);
  EXPECT_EQ(memory_of(t, "GPU scratch memory in use"),
            (std::vector<Sample>{{41, 1, 64}, {50, 1, 0}}));
  EXPECT_EQ(not_read(t, "hip_event"), 1U);
  const auto counters = counters_of(t);
  EXPECT_EQ(counters.at("k/PC samples"), std::vector<double>{2});
  EXPECT_EQ(counters.at("k/PC samples issued"), std::vector<double>{1});
  EXPECT_EQ(counters.at("k/PC samples stalled: BARRIER_WAIT"), std::vector<double>{1});
  EXPECT_EQ(counters.at("l/PC samples"), std::vector<double>{1});
  EXPECT_EQ(not_read(t, "PC samples that belong to no kernel"), 1U);
}

TEST(RocprofCsvCounters, ThePublishedSample) {
  const char* const golden = std::getenv("RANKSCOPE_GOLDEN");
  const std::string path = std::string(golden == nullptr ? "../shared/golden" : golden) +
                           "/formats/rocprofv3-csv/counter_collection.csv";
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << path << " is not there";
  // the other samples in that folder are from other runs
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
