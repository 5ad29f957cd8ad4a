// Measures the readers of AMD's formats with a generated run: rocpd as rocprofv3 writes it; and
// RPD, CSV and JSON with the same number of calls and kernels, which this program writes.
#include "readers/reader.h"
#include "synth/synth.h"

#include <benchmark/benchmark.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sqlite3.h>

namespace rankscope {
namespace {

constexpr int kLaunches = 200000;

class Files {
public:
  Files() {
    folder_ = (std::filesystem::temp_directory_path() / "rankscope_bench_XXXXXX").string();
    if (::mkdtemp(folder_.data()) == nullptr)
      std::abort();
    synth::Options o;
    o.threads = {256};
    o.channels = {28};
    o.ranks = 1;
    o.events = 2000000;
    o.format = synth::TraceFormat::kRocpd;
    if (!synth::generate(o, folder_, 1, nullptr))
      std::abort();
    make_rpd();
    make_csv();
    make_json();
  }
  ~Files() { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string rocpd() const {
    return folder_ + "/256thread/nccl_28channels/rocprofv3/rank0_results.db";
  }
  [[nodiscard]] std::string at(const char* name) const { return folder_ + "/" + name; }

private:
  void make_rpd() const {
    sqlite3* db = nullptr;
    if (sqlite3_open(at("x.rpd").c_str(), &db) != SQLITE_OK)
      std::abort();
    const std::string sql = fmt::format(
        "PRAGMA journal_mode=off; PRAGMA synchronous=off; BEGIN;"
        "CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT);"
        "CREATE TABLE rocpd_api(id INTEGER PRIMARY KEY, pid, tid, start, \"end\", apiName_id, "
        "args_id);"
        "CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY, gpuId, queueId, sequenceId, start, \"end\", "
        "description_id, opType_id);"
        "CREATE TABLE rocpd_api_ops(id INTEGER PRIMARY KEY, api_id, op_id);"
        "CREATE TABLE rocpd_kernelapi(api_ptr_id INTEGER PRIMARY KEY, stream TEXT, gridX, gridY, "
        "gridZ, workgroupX, workgroupY, workgroupZ);"
        "INSERT INTO rocpd_string VALUES (1, ''), (2, 'hipLaunchKernel'), (3, 'KernelExecution'), "
        "(4, 'void a_kernel<float>(float*, int)');"
        "CREATE TEMP TABLE n AS WITH RECURSIVE i(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM i "
        "LIMIT {}) SELECT v FROM i;"
        "INSERT INTO rocpd_api SELECT v, 7, 7, v * 1000, v * 1000 + 300, 2, 1 FROM n;"
        "INSERT INTO rocpd_op SELECT v, 0, 0, 0, v * 1000 + 500, v * 1000 + 1400, 4, 3 FROM n;"
        "INSERT INTO rocpd_api_ops SELECT v, v, v FROM n;"
        "INSERT INTO rocpd_kernelapi SELECT v, '0x0', 8, 1, 1, 256, 1, 1 FROM n; COMMIT;",
        kLaunches);
    if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
      std::abort();
    sqlite3_close(db);
  }

  void make_csv() const {
    std::ofstream kernels(at("1_kernel_trace.csv"));
    std::ofstream calls(at("1_hip_api_trace.csv"));
    kernels << R"("Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id",)"
               R"("Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp",)"
               R"("LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count",)"
               R"("Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X",)"
               R"("Grid_Size_Y","Grid_Size_Z")"
            << "\n";
    calls << R"("Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp",)"
             R"("End_Timestamp")"
          << "\n";
    for (std::int64_t i = 1; i <= kLaunches; ++i) {
      kernels << fmt::format("\"KERNEL_DISPATCH\",\"Agent 4\",1,1,7,{0},8,\"void "
                             "a_kernel<float>(float*, int)\",{0},{1},{2},0,0,8,0,16,256,1,1,2048,1,"
                             "1\n",
                             i, i * 1000 + 500, i * 1000 + 1400);
      calls << fmt::format("\"HIP_RUNTIME_API_EXT\",\"hipLaunchKernel\",7,7,{},{},{}\n", i,
                           i * 1000, i * 1000 + 300);
    }
  }

  void make_json() const {
    std::ofstream out(at("x.json"));
    out << R"({"rocprofiler-sdk-tool":[{"metadata":{"pid":7},"strings":{"buffer_records":[)"
           R"({"kind":"NONE","operations":[]},{"kind":"HIP_RUNTIME_API","operations":["hipLaunchKernel"]}]},)"
           R"("kernel_symbols":[{"kernel_id":8,"formatted_kernel_name":"a_kernel"}],"buffer_records":{"kernel_dispatch":[)";
    for (std::int64_t i = 1; i <= kLaunches; ++i)
      out << fmt::format(
          R"({}{{"size":184,"kind":11,"operation":2,"thread_id":908,"correlation_id":{{"internal":{},"external":0}},"start_timestamp":{},"end_timestamp":{},"dispatch_info":{{"size":72,"agent_id":{{"handle":37946}},"queue_id":{{"handle":16}},"kernel_id":8,"dispatch_id":{},"private_segment_size":0,"group_segment_size":0,"workgroup_size":{{"x":512,"y":1,"z":1}},"grid_size":{{"x":1024,"y":1,"z":1}}}},"stream_id":{{"handle":0}}}})",
          i > 1 ? "," : "", i, i * 1000 + 500, i * 1000 + 1400, i);
    out << R"(],"hip_api":[)";
    for (std::int64_t i = 1; i <= kLaunches; ++i)
      out << fmt::format(
          R"({}{{"size":64,"kind":1,"operation":0,"correlation_id":{{"internal":{},"external":0}},"start_timestamp":{},"end_timestamp":{},"thread_id":7}})",
          i > 1 ? "," : "", i, i * 1000, i * 1000 + 300);
    out << "]}}]}";
  }

  std::string folder_;
};

const Files& files() {
  static const Files made;
  return made;
}

/// items_per_second: events per second on one thread.
void read(benchmark::State& state, const std::string& path) {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    auto trace = read_trace(path);
    events = trace.value().events_in_file;
    bytes = trace.value().input_bytes;
  }
  const auto runs = static_cast<std::int64_t>(state.iterations());
  state.SetItemsProcessed(runs * static_cast<std::int64_t>(events));
  state.SetBytesProcessed(runs * static_cast<std::int64_t>(bytes));
}

void read_rocpd(benchmark::State& state) {
  read(state, files().rocpd());
}
void read_rpd(benchmark::State& state) {
  read(state, files().at("x.rpd"));
}
void read_rocprof_csv(benchmark::State& state) {
  read(state, files().at("1_kernel_trace.csv"));
}
void read_rocprof_json(benchmark::State& state) {
  read(state, files().at("x.json"));
}
BENCHMARK(read_rocpd)->Unit(benchmark::kMillisecond);
BENCHMARK(read_rpd)->Unit(benchmark::kMillisecond);
BENCHMARK(read_rocprof_csv)->Unit(benchmark::kMillisecond);
BENCHMARK(read_rocprof_json)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace rankscope
