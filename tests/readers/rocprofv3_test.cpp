// Tests CSV tables and JSON of rocprofv3: sets of tables, columns of old and new versions, several
// processes, and damaged files.
#include "core/call_tree.h"
#include "os/byte_source.h"
#include "readers/discovery.h"
#include "readers/reader.h"
#include "readers/rocprof/csv_lines.h"
#include "temp_folder.h"

#include <gtest/gtest.h>
#include <map>

namespace rankscope {
namespace {

using test::TempFolder;

constexpr const char* kNewKernels =
    R"~("Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"
"KERNEL_DISPATCH","Agent 4",1,3,900,1,10,"void add<float>(float*, ""x"", int)",2,3000,4000,0,0,8,0,16,64,1,1,1024,2,1
"KERNEL_DISPATCH","Agent 4",1,5,900,2,11,"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)",4,3500,5500,0,0,8,0,16,256,1,1,256,1,1
)~";
constexpr const char* kOldKernels =
    R"~("Kind","Agent_Id","Queue_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","Private_Segment_Size","Group_Segment_Size","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z"
"KERNEL_DISPATCH",4,7,10,"k",2,3000,4000,0,0,64,1,1,1024,2,1
)~";
constexpr const char* kApiHeader =
    R"("Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp"
)";

std::string hip_rows() {
  return std::string(kApiHeader) +
         "\"HIP_RUNTIME_API_EXT\",\"hipLaunchKernel\",100,900,2,2000,2100\n"
         "\"HIP_RUNTIME_API_EXT\",\"hipExtLaunchKernel\",100,900,4,2300,2400\n"
         "\"HIP_RUNTIME_API_EXT\",\"hipMemcpyAsync\",100,900,5,2700,2750\n";
}

Trace must_read_rocprofv3(const std::string& path) {
  Result<Trace> t = read_trace(path);
  if (!t) {
    ADD_FAILURE() << t.error().message();
    return {};
  }
  return std::move(*t);
}

TEST(RocprofCsv, TablesBesideEachOtherAreOneProcess) {
  const TempFolder folder;
  const std::string path = folder.write("77_kernel_trace.csv", kNewKernels);
  folder.write("77_hip_api_trace.csv", hip_rows());
  folder.write("77_rccl_api_trace.csv",
               std::string(kApiHeader) + "\"RCCL_API\",\"ncclAllReduce\",100,900,3,2200,2600\n");
  folder.write("77_marker_api_trace.csv",
               std::string(kApiHeader) +
                   "\"MARKER_CORE_API\",\"here\",100,900,8,2900,2900\n"
                   "\"MARKER_CORE_RANGE_API\",\"iteration 12\",100,900,1,1000,9000\n");
  folder.write(
      "77_memory_copy_trace.csv",
      R"~("Kind","Direction","Stream_Id","Source_Agent_Id","Destination_Agent_Id","Correlation_Id","Start_Timestamp","End_Timestamp"
"MEMORY_COPY","MEMORY_COPY_HOST_TO_DEVICE",3,"Agent 0","Agent 4",5,6000,6100
)~");
  folder.write("77_agent_info.csv",
               "\"Node_Id\",\"Logical_Node_Id\",\"Logical_Node_Type_Id\",\"Agent_Type\",\"Cu_"
               "Count\",\"Wave_Front_Size\",\"Name\",\"Product_Name\"\n0,0,0,\"CPU\",64,0,"
               "\"EPYC\",\"EPYC\"\n4,4,1,\"GPU\",304,64,\"gfx942\",\"AMD Instinct MI300X\"\n");
  folder.write("78_hip_api_trace.csv", hip_rows()); // from another process
  const Trace t = must_read_rocprofv3(path);
  ASSERT_EQ(t.events.size(), 10U); // including ProfilerStep#12
  const CallTree tree = CallTree::build(t);
  EXPECT_EQ(tree.linked_count(), 3U);
  int seen = 0;
  for (EventId i = 0; i < t.events.size(); ++i) {
    if (t.name(i) == "void add<float>(float*, \"x\", int)") {
      ++seen;
      EXPECT_EQ(t.events.stream[i], 3);
      EXPECT_EQ(t.events.device[i], 1); // from the table of agents
      EXPECT_EQ(t.strings.view(t.gpu_arg(i)->grid), "[16, 2, 1]");
    } else if (t.name(i).starts_with("ncclDevKernel")) {
      ++seen;
      ASSERT_NE(t.collective_of(i), nullptr); // its launch is inside ncclAllReduce
      EXPECT_EQ(t.strings.view(t.collective_of(i)->collective_name), "allreduce");
    } else if (t.events.category[i] == Category::kGpuMemcpy) {
      ++seen;
      EXPECT_EQ(t.events.device[i], 1);
      EXPECT_EQ(t.gpu_arg(i), nullptr); // the tables do not contain bytes
    } else if (t.name(i) == "ProfilerStep#12") {
      ++seen;
    }
  }
  EXPECT_EQ(seen, 4);
  ASSERT_EQ(t.header.devices.size(), 1U);
  EXPECT_EQ(t.header.devices[0].name, "AMD Instinct MI300X");
  EXPECT_EQ(t.header.devices[0].multiprocessors, 304);
  // found once, by its kernel table; any table of the set can be named
  Diagnostics diagnostics;
  const auto plan = discover_run({folder.path()}, {}, diagnostics);
  ASSERT_TRUE(plan) << plan.error().message();
  ASSERT_EQ(plan->ranks.size(), 1U);
  EXPECT_EQ(plan->ranks[0].path, path);
  EXPECT_EQ(must_read_rocprofv3(folder.path("77_hip_api_trace.csv")).events.size(), 10U);
}

TEST(RocprofCsv, ColumnsOfOldVersionsAndOfAnyOrder) {
  const TempFolder folder;
  const Trace t = must_read_rocprofv3(folder.write("kernel_trace.csv", kOldKernels));
  ASSERT_EQ(t.events.size(), 1U);
  EXPECT_EQ(t.events.stream[0], 7); // without streams in old versions, the queue is used
  EXPECT_EQ(t.events.device[0], 4);
  const Trace mixed = must_read_rocprofv3(folder.write(
      "renamed.csv", "End_Timestamp,Kernel_Name,Start_Timestamp\r\n20,k,10\r\n30,k,21"));
  ASSERT_EQ(mixed.events.size(), 2U);
  EXPECT_EQ(mixed.events.dur_ns[1], 9);
}

TEST(RocprofCsv, GuidsAreProcesses) {
  const TempFolder folder;
  const std::string path = folder.write(
      "out_kernel_trace.csv", "\"Guid\",\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\"\n"
                              "\"b\",\"k\",10,20\n\"a\",\"k\",11,20\n\"b\",\"k\",30,40\n");
  EXPECT_EQ(inspect_file(path, readers()).ranks, (std::vector<std::int64_t>{0, 1}));
  std::map<std::int64_t, std::size_t> events;
  ASSERT_TRUE(read_traces(path, {}, [&events](Trace t) -> Result<void> {
    events[t.header.rank.value_or(-1)] = t.events.size();
    return {};
  }));
  EXPECT_EQ(events, (std::map<std::int64_t, std::size_t>{{0, 1}, {1, 2}}));
}

TEST(RocprofCsv, BadRowsAreCounted) {
  const TempFolder folder;
  const Trace t = must_read_rocprofv3(folder.write(
      "kernel_trace.csv",
      "\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\"\n\"k\",10,20\n\"k\",10,9\n\"k\",x,20\n"
      "\"k\",10,99999999999999999999\n\n\"k\",30,40\n\"cut"));
  EXPECT_EQ(t.events.size(), 2U);
  std::map<std::string, std::uint64_t> counts;
  for (const Problem& p : t.diagnostics.problems())
    counts[p.name] = p.count;
  EXPECT_EQ(counts,
            (std::map<std::string, std::uint64_t>{{"event_bad_time", 3}, {"row_malformed", 1}}));
}

// HA-E3: a damaged row consumed all following rows, without a warning.
TEST(RocprofCsv, ATornRowCostsItself) {
  const TempFolder folder;
  const std::string head = "\"Kind\",\"Agent_Id\",\"Kernel_Name\",\"Start_Timestamp\","
                           "\"End_Timestamp\"\n";
  const std::string row = "\"KERNEL_DISPATCH\",\"Agent 4\",\"void k(float*, int)\",10,20\n";
  for (const char* torn :
       {"\"KERNEL_DISPATCH\",\"Age\n", "\"KERNEL_DISPATCH\",\"Agent 4\",\"void k(fl\n",
        "\"KERNEL_DIS\"KERNEL_DISPATCH\",\"Agent 4\",\"k\",1,10,20\n"}) {
    std::string text = head;
    for (int i = 0; i < 10; ++i)
      text += row;
    text += torn;
    for (int i = 0; i < 989; ++i)
      text += row;
    const Trace t = must_read_rocprofv3(folder.write("kernel_trace.csv", text));
    EXPECT_EQ(t.events.size(), 999U) << torn;
    ASSERT_EQ(t.diagnostics.problems().size(), 1U) << torn;
    const Problem problem = t.diagnostics.problems().front();
    EXPECT_EQ(problem.name, "row_malformed");
    EXPECT_EQ(problem.count, 1U);
    EXPECT_NE(problem.where.find("line 12"), std::string::npos) << problem.where;
    EXPECT_TRUE(t.diagnostics.data_lost());
  }
  // a stray quote in a name loses no row
  const Trace t = must_read_rocprofv3(folder.write(
      "kernel_trace.csv",
      head + "\"KERNEL_DISPATCH\",\"Agent 4\",\"void k\"(float*, int)\",10,20\n" + row));
  EXPECT_EQ(t.events.size(), 2U);
  EXPECT_EQ(t.name(0), "void k\"(float*, int)");
}

TEST(RocprofCsv, CountersWithoutADispatchAreNamed) {
  const TempFolder folder;
  const Result<Trace> t = read_trace(folder.write(
      "counter_collection.csv",
      "\"Kernel_Name\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n"
      "\"k\",\"SQ_WAVES\",1.0,10,20\n"));
  ASSERT_FALSE(t);
  EXPECT_NE(t.error().what.find("rows not read: 1 of counters that belong to no kernel"),
            std::string::npos)
      << t.error().what;
}

TEST(CsvLines, RowsLongerThanTheWindow) {
  const TempFolder folder;
  const std::string name(700000, 'n');
  std::string bytes = "\xef\xbb\xbf"
                      "a,b\n";
  for (int i = 0; i < 5; ++i)
    bytes += "\"" + name + "\"\",\n\"," + std::to_string(i) + "\n";
  const auto source = ByteSource::open(folder.write("x.csv", bytes));
  ASSERT_TRUE(source);
  CsvLines rows(**source);
  ASSERT_TRUE(rows.next());
  EXPECT_TRUE(CsvColumns(rows).has("a"));
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(rows.next());
    ASSERT_EQ(rows.fields(), 2U);
    EXPECT_EQ(rows.text(0), name + "\",\n");
    EXPECT_EQ(rows.integer(1), i);
  }
  EXPECT_FALSE(rows.next());
}

std::string json_process(const std::string& records) {
  return R"~({"metadata":{"pid":908,"command":["python"]},
"agents":[{"id":{"handle":37944},"type":1},{"id":{"handle":37946},"type":2,"logical_node_type_id":0,"product_name":"AMD Instinct MI350X","wave_front_size":64,"cu_count":256}],
"strings":{"buffer_records":[{"kind":"NONE","operations":[]},{"kind":"HIP_RUNTIME_API_EXT","operations":["none","hipLaunchKernel"]},{"kind":"RCCL_API","operations":["ncclAllGather"]},{"kind":"MARKER_CORE_API","operations":["roctxRangePushA"]},{"kind":"MEMORY_COPY","operations":["NONE","MEMORY_COPY_HOST_TO_DEVICE"]}],
"marker_api":[{"key":7,"value":"step 3"}]},
"kernel_symbols":[{"kernel_id":8,"kernel_name":"k.kd","formatted_kernel_name":"k(int)"},{"kernel_id":9,"kernel_name":"ncclDevKernel_Generic.kd"}],
"callback_records":{"counter_collection":[]},
"buffer_records":{)~" +
         records + "}}";
}

const char* const kRecords =
    R"("kernel_dispatch":[{"size":184,"kind":11,"operation":2,"thread_id":908,"correlation_id":{"internal":1,"external":0},"start_timestamp":1000,"end_timestamp":1500,"dispatch_info":{"size":72,"agent_id":{"handle":37946},"queue_id":{"handle":16},"kernel_id":8,"dispatch_id":1,"workgroup_size":{"x":512,"y":1,"z":1},"grid_size":{"x":1025,"y":1,"z":1}},"stream_id":{"handle":2}},
{"kind":11,"thread_id":908,"correlation_id":{"internal":2,"external":0},"start_timestamp":1600,"end_timestamp":1700,"dispatch_info":{"agent_id":{"handle":37946},"kernel_id":9}}],
"memory_copy":[{"kind":4,"operation":1,"correlation_id":{"internal":5},"start_timestamp":1800,"end_timestamp":1900,"dst_agent_id":{"handle":37946},"src_agent_id":{"handle":37944},"bytes":4096,"stream_id":{"handle":2}}],
"hip_api":[{"kind":1,"operation":1,"thread_id":908,"correlation_id":{"internal":1,"external":0},"start_timestamp":100,"end_timestamp":200},
{"kind":1,"operation":1,"thread_id":908,"correlation_id":{"internal":2,"external":0,"ancestor":6},"start_timestamp":300,"end_timestamp":400}],
"rccl_api":[{"kind":2,"operation":0,"thread_id":908,"correlation_id":{"internal":6},"start_timestamp":250,"end_timestamp":450,"args":{"sendcount":"64","datatype":"7"}}],
"marker_api":[{"kind":3,"operation":0,"thread_id":908,"correlation_id":{"internal":7},"start_timestamp":50,"end_timestamp":2000}],
"scratch_memory":[{"kind":9,"start_timestamp":1,"end_timestamp":2}])";

TEST(RocprofJson, RecordsOfAProcess) {
  const TempFolder folder;
  const std::string path =
      folder.write("1_results.json", "{\"rocprofiler-sdk-tool\":[" + json_process(kRecords) + "]}");
  const Trace t = must_read_rocprofv3(path);
  EXPECT_EQ(t.sources[0].reader, "rocprofv3-json");
  ASSERT_EQ(t.events.size(), 8U);
  const CallTree tree = CallTree::build(t);
  EXPECT_EQ(tree.linked_count(), 2U);
  EXPECT_EQ(t.name(0), "k(int)");
  EXPECT_EQ(t.events.device[0], 0);
  EXPECT_EQ(t.events.stream[0], 2);
  EXPECT_EQ(t.strings.view(t.gpu_arg(0)->grid), "[3, 1, 1]");
  const CollectiveArgs* args = t.collective_of(1);
  ASSERT_NE(args, nullptr);
  EXPECT_EQ(t.strings.view(args->collective_name), "allgather");
  EXPECT_EQ(args->in_nelems, 64);
  EXPECT_EQ(args->out_nelems, kNoId); // the number of ranks is unknown
  EXPECT_EQ(t.gpu_arg(2)->bytes, 4096);
  EXPECT_EQ(t.name(2), "Memcpy HtoD (Host -> Device)");
  EXPECT_EQ(t.name(6), "step 3");
  EXPECT_EQ(t.name(7), "ProfilerStep#3");
  ASSERT_EQ(t.diagnostics.problems().size(), 1U);
  EXPECT_EQ(t.diagnostics.problems()[0].name, "rows_not_read");
}

TEST(RocprofJson, ProcessesAreNumberedInOrder) {
  const TempFolder folder;
  const std::string path =
      folder.write("x.json", "{\"rocprofiler-sdk-tool\": [" + json_process(kRecords) + ", " +
                                 json_process(kRecords) + "]}");
  std::vector<std::int64_t> ranks;
  ASSERT_TRUE(read_traces(path, {}, [&ranks](Trace t) -> Result<void> {
    ranks.push_back(t.header.rank.value_or(-1));
    EXPECT_EQ(t.events.size(), 8U);
    return {};
  }));
  EXPECT_EQ(ranks, (std::vector<std::int64_t>{0, 1}));
}

TEST(RocprofJson, CutAnywhereItEndsWithOneProblem) {
  const TempFolder folder;
  const std::string text = "{\"rocprofiler-sdk-tool\":[" + json_process(kRecords) + "]}";
  std::size_t kept = 0;
  for (std::size_t size = 30; size + 3 < text.size(); size += 37) {
    const Result<Trace> t = read_trace(folder.write("cut.json", text.substr(0, size)));
    if (!t) {
      EXPECT_EQ(t.error().code, ErrorCode::kUnreadable);
      continue;
    }
    kept = std::max(kept, t->events.size());
    EXPECT_TRUE(t->diagnostics.data_lost()) << size;
  }
  EXPECT_EQ(kept, 8U);
}

TEST(RocprofJson, DamagedRecordsAreCounted) {
  const TempFolder folder;
  const Trace t = must_read_rocprofv3(folder.write(
      "x.json",
      "{\"rocprofiler-sdk-tool\":[" +
          json_process(R"("kernel_dispatch":[17, {"start_timestamp":"soon","end_timestamp":5},
{"start_timestamp":9,"end_timestamp":5}, {"start_timestamp":5,"end_timestamp":9,"dispatch_info":{"kernel_id":77,"agent_id":{"handle":-1}}},
{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}}}],"hip_api":null)") +
          "]}"));
  ASSERT_EQ(t.events.size(), 1U);
  EXPECT_EQ(t.name(0), "(kernel 77)");
  std::map<std::string, std::uint64_t> counts;
  for (const Problem& p : t.diagnostics.problems())
    counts[p.name] = p.count;
  EXPECT_EQ(counts,
            (std::map<std::string, std::uint64_t>{
                {"event_bad_time", 2}, {"event_malformed", 2}, {"kernel_without_symbol", 1}}));
}

} // namespace
} // namespace rankscope
