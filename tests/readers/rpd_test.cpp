// Tests RPD databases: calls and the operations that they caused, graphs, operators among the
// markers, several processes in one file.
#include "core/call_tree.h"
#include "readers/reader.h"
#include "rocprof_files.h"
#include "temp_folder.h"

#include <gtest/gtest.h>
#include <map>
#include <zlib.h>

namespace rankscope {
namespace {

using test::TempFolder;

const char* const kTables =
    "CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT);"
    "CREATE TABLE rocpd_api(id INTEGER PRIMARY KEY, pid, tid, start, \"end\", apiName_id, "
    "args_id);"
    "CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY, gpuId, queueId, sequenceId, completionSignal, "
    "start, \"end\", description_id, opType_id);"
    "CREATE TABLE rocpd_api_ops(id INTEGER PRIMARY KEY, api_id, op_id);"
    "CREATE TABLE rocpd_kernelapi(api_ptr_id INTEGER PRIMARY KEY, stream TEXT, gridX, gridY, "
    "gridZ, "
    "workgroupX, workgroupY, workgroupZ);"
    "CREATE TABLE rocpd_copyapi(api_ptr_id INTEGER PRIMARY KEY, stream TEXT, size, kind);"
    "CREATE TABLE rocpd_monitor(id INTEGER PRIMARY KEY, deviceType TEXT, deviceId, monitorType "
    "TEXT, start, \"end\", value TEXT);"
    "INSERT INTO rocpd_string VALUES (1, ''), (2, 'hipLaunchKernel'), (3, 'hipGraphLaunch'), (4, "
    "'hipMemcpyAsync'), (5, 'UserMarker'), (6, 'KernelExecution'), (7, 'Task'), (8, "
    "'CopyHostToDevice'), (9, 'FillBuffer'), (10, 'k1'), (11, 'k2'), (12, 'aten::mm, seq = 5, "
    "op_id "
    "= 9, sizes = [[2, 3], [3, 4]], input_op_ids = []'), (13, 'train step 4'), (14, "
    "'OpTable::writeRows'), (15, 'forward');";

/// Returns process 100, which launches k1 on stream 0x1f, a graph of two k2, and a copy; all times
/// are relative to `at`.
std::string process(std::int64_t pid, std::int64_t first, std::int64_t at) {
  const auto n = [](std::int64_t v) { return std::to_string(v); };
  const auto api = [&](std::int64_t id, std::int64_t from, std::int64_t to, int name, int args) {
    return "INSERT INTO rocpd_api VALUES (" + n(first + id) + ", " + n(pid) + ", " + n(pid) + ", " +
           n(at + from) + ", " + n(at + to) + ", " + n(name) + ", " + n(args) + ");";
  };
  const auto op = [&](std::int64_t id, std::int64_t from, std::int64_t to, int name, int type,
                      std::int64_t call) {
    return "INSERT INTO rocpd_op VALUES (" + n(first + id) + ", 2, 0, 0, '', " + n(at + from) +
           ", " + n(at + to) + ", " + n(name) + ", " + n(type) +
           "); INSERT INTO rocpd_api_ops(api_id, op_id) VALUES (" + n(first + call) + ", " +
           n(first + id) + ");";
  };
  return api(1, 0, 900, 5, 13) + api(2, 10, 100, 5, 12) + api(3, 20, 30, 2, 1) +
         api(4, 110, 120, 3, 1) + api(5, 130, 140, 4, 1) + api(6, 150, 160, 14, 1) +
         api(7, 170, 180, 5, 15) + op(1, 200, 250, 10, 6, 3) + op(2, 300, 310, 11, 7, 4) +
         op(3, 310, 330, 11, 7, 4) + op(4, 400, 480, 1, 8, 5) + op(5, 500, 505, 1, 9, 5) +
         "INSERT INTO rocpd_kernelapi VALUES (" + n(first + 3) + ", '0x1f', 8, 1, 1, 64, 1, 1);" +
         "INSERT INTO rocpd_copyapi VALUES (" + n(first + 5) + ", '0x0', 4096, 1);";
}

std::map<Category, std::size_t> counts(const Trace& t) {
  std::map<Category, std::size_t> out;
  for (const Category c : t.events.category)
    ++out[c];
  return out;
}

TEST(Rpd, CallsOperationsAndOperators) {
  const TempFolder folder;
  const std::string path = folder.path("x.rpd");
  test::run_sql(path, kTables + process(100, std::int64_t{1} << 32, 1000) +
                          "INSERT INTO rocpd_monitor VALUES (1, 'gpu', 0, 'sclk', 1000, 1100, "
                          "'1700'), (2, 'gpu', 0, 'sclk', 1100, 1200, 'fast');");
  const Result<Trace> read = read_trace(path);
  ASSERT_TRUE(read) << read.error().message();
  const Trace& t = *read;
  EXPECT_EQ(t.sources[0].reader, "rpd");
  EXPECT_FALSE(t.header.rank.has_value());
  EXPECT_EQ(t.vendor(), "AMD");
  // the range counts steps, so there is also a ProfilerStep#4
  EXPECT_EQ(counts(t), (std::map<Category, std::size_t>{{Category::kCpuOp, 1},
                                                        {Category::kUserAnnotation, 3},
                                                        {Category::kKernel, 3},
                                                        {Category::kGpuMemcpy, 1},
                                                        {Category::kGpuMemset, 1},
                                                        {Category::kRuntime, 3}}));
  const CallTree tree = CallTree::build(t);
  for (EventId i = 0; i < t.events.size(); ++i) {
    if (t.name(i) == "k1") {
      EXPECT_EQ(t.events.stream[i], 0x1f);
      EXPECT_EQ(t.events.device[i], 2);
      EXPECT_EQ(t.strings.view(t.gpu_arg(i)->grid), "[8, 1, 1]");
      EXPECT_EQ(t.name(tree.cpu_op_above(t, i)), "aten::mm");
    } else if (t.name(i) == "k2") {
      EXPECT_EQ(t.name(tree.parent(i)), "hipGraphLaunch");
    } else if (t.name(i) == "aten::mm") {
      EXPECT_EQ(t.strings.view(t.op(i)->input_dims), "[[2, 3], [3, 4]]");
      EXPECT_EQ(t.op(i)->sequence_number, 5);
    } else if (t.events.category[i] == Category::kGpuMemcpy) {
      EXPECT_EQ(t.name(i), "Memcpy HtoD (Host -> Device)");
      EXPECT_EQ(t.gpu_arg(i)->bytes, 4096);
    }
  }
  ASSERT_EQ(t.counters.size(), 1U);
  EXPECT_EQ(t.counters.value[0], 1700);
  EXPECT_TRUE(t.diagnostics.data_lost()); // because of the sample that is not a number
}

TEST(Rpd, ProcessesAreRanksInTheirOrder) {
  const TempFolder folder;
  const std::string path = folder.path("x.rpd");
  test::run_sql(path, kTables + process(200, 1000, 5000) + process(100, 2000, 7000) +
                          // a helper process without GPU work is not a rank
                          "INSERT INTO rocpd_api VALUES (1, 50, 50, 1, 2, 2, 1);");
  EXPECT_EQ(inspect_file(path, readers()).ranks, (std::vector<std::int64_t>{0, 1}));
  std::map<std::int64_t, std::int64_t> first;
  ASSERT_TRUE(read_traces(path, {}, [&first](Trace t) -> Result<void> {
    EXPECT_EQ(t.events.size(), 12U);
    first[t.header.rank.value_or(-1)] = t.events.ts_ns[0];
    return {};
  }));
  EXPECT_EQ(first, (std::map<std::int64_t, std::int64_t>{{0, 7000}, {1, 5000}}));
  ReadOptions single;
  single.rank = 1;
  const Result<Trace> second = read_trace(path, single);
  ASSERT_TRUE(second) << second.error().message();
  EXPECT_EQ(second->events.ts_ns[0], 5000);
}

TEST(Rpd, PackedAndDamaged) {
  const TempFolder folder;
  const std::string path = folder.path("x.rpd");
  test::run_sql(path, kTables + process(100, 0, 1000));
  const std::string bytes = test::bytes_of(path);
  gzFile out = gzopen((path + ".gz").c_str(), "wb");
  gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(out);
  const Result<Trace> packed = read_trace(path + ".gz");
  ASSERT_TRUE(packed) << packed.error().message();
  EXPECT_EQ(packed->events.size(), 12U);
  // the first half of the file
  const std::string half = folder.write("half.rpd", bytes.substr(0, bytes.size() / 2));
  const Result<Trace> cut = read_trace(half);
  if (cut)
    EXPECT_TRUE(cut->diagnostics.data_lost());
  else
    EXPECT_EQ(cut.error().code, ErrorCode::kUnreadable);
}

TEST(Rpd, WrongTypesAndMissingTables) {
  const TempFolder folder;
  const std::string path = folder.path("x.rpd");
  test::run_sql(path,
                kTables + process(100, 0, 1000) +
                    "UPDATE rocpd_op SET start = 'x' WHERE id = 1;"
                    "UPDATE rocpd_op SET \"end\" = start - 1 WHERE id = 2;"
                    "UPDATE rocpd_op SET description_id = NULL, opType_id = 4000000000, gpuId "
                    "= 99999999 WHERE id = 3;"
                    "DROP TABLE rocpd_copyapi; DROP TABLE rocpd_kernelapi; DROP TABLE "
                    "rocpd_monitor;");
  const Result<Trace> t = read_trace(path);
  ASSERT_TRUE(t) << t.error().message();
  bool found = false;
  for (const Problem& p : t->diagnostics.problems())
    found = found || (p.name == "event_bad_time" && p.count == 2);
  EXPECT_TRUE(found);
  EXPECT_EQ(counts(*t).at(Category::kKernel), 1U);
}

TEST(Rpd, CudaCallsAreOfNvidia) {
  const TempFolder folder;
  const std::string path = folder.path("x.rpd");
  test::run_sql(path, kTables + process(100, 0, 1000) +
                          "UPDATE rocpd_string SET string = 'cudaLaunchKernel' WHERE id = 2;");
  const Result<Trace> t = read_trace(path);
  ASSERT_TRUE(t);
  EXPECT_EQ(t->vendor(), "NVIDIA");
}

} // namespace
} // namespace rankscope
