// Compares samples of AMD's profilers with counts and sums that SQL calculates from the same files,
// or that were calculated by hand when the samples were described.
#include "analyses/timeline/gpu_timeline.h"
#include "core/call_tree.h"
#include "engine/loader.h"
#include "golden_data.h"
#include "rocprof_files.h"

#include <gtest/gtest.h>
#include <set>

namespace rankscope {
namespace {

struct Totals {
  std::int64_t kernels = 0, copies = 0, fills = 0, gpu_ns = 0, calls = 0, ops = 0, ranges = 0;
  std::int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
};

Totals totals(const Trace& t) {
  Totals out;
  for (EventId i = 0; i < t.events.size(); ++i) {
    const Category c = t.events.category[i];
    out.kernels += c == Category::kKernel ? 1 : 0;
    out.copies += c == Category::kGpuMemcpy ? 1 : 0;
    out.fills += c == Category::kGpuMemset ? 1 : 0;
    out.calls += is_runtime(c) ? 1 : 0;
    out.ops += c == Category::kCpuOp ? 1 : 0;
    out.ranges += c == Category::kUserAnnotation ? 1 : 0;
    if (is_gpu(c)) {
      out.gpu_ns += t.events.dur_ns[i];
      out.first_ns = std::min(out.first_ns, t.events.ts_ns[i]);
      out.last_ns = std::max(out.last_ns, t.end_ns(i));
    }
  }
  return out;
}

TEST(RocprofGolden, RpdOfAMatrixProduct) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  const std::string path = (golden::root() / "formats/rpd/matmul_result.rpd").string();
  const auto loaded = load_trace(path, {});
  ASSERT_TRUE(loaded) << loaded.error().message();
  const Totals t = totals(loaded->trace);
  EXPECT_EQ(t.kernels + t.copies + t.fills, 85);
  EXPECT_EQ(t.kernels, 29);
  EXPECT_EQ(t.copies, 55);
  EXPECT_EQ(t.gpu_ns, 183918056);
  EXPECT_EQ(t.gpu_ns, test::sql_number(path, "SELECT sum(\"end\" - start) FROM rocpd_op"));
  EXPECT_EQ(t.first_ns, 8306017670485923);
  EXPECT_EQ(t.last_ns, 8306020634556740);
  // value of a view in the file: sum of durations divided by the span of the operations
  EXPECT_DOUBLE_EQ(static_cast<double>(t.gpu_ns) / static_cast<double>(t.last_ns - t.first_ns),
                   0.062049143679417024);
  EXPECT_EQ(loaded->tree.linked_count(), 85U);
  EXPECT_EQ(t.calls, test::sql_number(path, "SELECT count(*) FROM rocpd_api a JOIN rocpd_string s "
                                            "ON s.id = a.apiName_id WHERE s.string NOT LIKE "
                                            "'%::write%' AND s.string <> 'hcc_activity_callback'"));
}

TEST(RocprofGolden, RpdOfAnInferenceServerWithGraphs) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  const std::string path = (golden::root() / "formats/rpd/mytrace.rpd.gz").string();
  const test::TempFolder folder;
  const std::string plain = folder.write("mytrace.rpd", golden::unpacked(path));
  const auto loaded = load_trace(path, {});
  ASSERT_TRUE(loaded) << loaded.error().message();
  const Totals t = totals(loaded->trace);
  EXPECT_EQ(t.kernels + t.copies + t.fills, 10124);
  EXPECT_EQ(t.kernels, 1228 + 7720); // normal launches, graph nodes
  EXPECT_EQ(t.copies, 804 + 350 + 22);
  EXPECT_EQ(t.gpu_ns, test::sql_number(plain, "SELECT sum(\"end\" - start) FROM rocpd_op"));
  EXPECT_EQ(loaded->tree.linked_count(), 10124U);
  EXPECT_EQ(t.ops, test::sql_number(plain, "SELECT count(*) FROM ext_autogradapi"));
  EXPECT_EQ(t.ops + t.ranges, 11884); // all UserMarkers
  std::size_t graphs = 0;
  std::size_t in_graphs = 0;
  for (EventId i = 0; i < loaded->trace.events.size(); ++i)
    if (loaded->trace.name(i) == "hipGraphLaunch") {
      ++graphs;
      in_graphs += loaded->tree.gpu_events(i).size();
    }
  EXPECT_EQ(graphs, 20U);
  EXPECT_EQ(static_cast<std::int64_t>(in_graphs),
            test::sql_number(plain, "SELECT count(*) FROM rocpd_api_ops o JOIN rocpd_api a ON a.id "
                                    "= o.api_id JOIN rocpd_string s ON s.id = a.apiName_id WHERE "
                                    "s.string = 'hipGraphLaunch'"));
}

TEST(RocprofGolden, RocpdWithACollectiveAboveItsKernel) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  const std::string path = (golden::root() / "formats/rocpd/synthetic_3.0.db").string();
  const auto loaded = load_trace(path, {});
  ASSERT_TRUE(loaded) << loaded.error().message();
  const Trace& trace = loaded->trace;
  const Totals t = totals(trace);
  EXPECT_EQ(t.kernels, test::sql_number(path, "SELECT count(*) FROM rocpd_kernel_dispatch"));
  EXPECT_EQ(t.gpu_ns,
            test::sql_number(path, "SELECT (SELECT sum(\"end\" - start) FROM "
                                   "rocpd_kernel_dispatch) + (SELECT sum(\"end\" - start) FROM "
                                   "rocpd_memory_copy)"));
  EXPECT_EQ(loaded->rank, 3);
  EXPECT_EQ(trace.header.world_size, 8);
  for (EventId i = 0; i < trace.events.size(); ++i) {
    if (trace.events.category[i] == Category::kGpuMemcpy) {
      EXPECT_EQ(trace.gpu_arg(i)->bytes, 4194304);
      EXPECT_EQ(trace.events.dur_ns[i], 100000);
    } else if (trace.name(i).starts_with("ncclDevKernel")) {
      ASSERT_NE(trace.collective_of(i), nullptr);
      EXPECT_EQ(trace.strings.view(trace.collective_of(i)->collective_name), "allreduce");
      EXPECT_EQ(trace.collective_of(i)->in_nelems, 1048576);
      EXPECT_EQ(trace.name(loaded->tree.parent(i)), "hipExtLaunchKernel");
    } else if (trace.name(i).starts_with("Cijk")) {
      EXPECT_EQ(trace.name(loaded->tree.parent(i)), "hipLaunchKernel");
    }
  }
}

TEST(RocprofGolden, JsonOfATrainingWithKernelsAlone) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  const std::string path = (golden::root() / "rocprof/908_results.json.gz").string();
  const auto loaded = load_trace(path, {});
  ASSERT_TRUE(loaded) << loaded.error().message();
  const Totals t = totals(loaded->trace);
  EXPECT_EQ(t.kernels, 43915);
  EXPECT_EQ(t.gpu_ns, 4441741378); // sum that another JSON parser calculated from the document
  EXPECT_EQ(t.copies + t.fills + t.calls, 0);
  EXPECT_EQ(loaded->trace.header.devices.size(), 8U);
  EXPECT_EQ(loaded->trace.events.ts_ns[0], 63857982592000);
  for (EventId i = 0; i < loaded->trace.events.size(); ++i)
    ASSERT_EQ(loaded->trace.events.device[i], 0); // agent handle 37946
}

/// Returns the number of rows and the sum of durations of a CSV table.
std::pair<std::size_t, std::int64_t> table_totals(const std::filesystem::path& path) {
  const golden::Csv csv = golden::read_csv(path);
  std::size_t start = 0;
  while (csv.header[start] != "Start_Timestamp")
    ++start;
  std::int64_t sum = 0;
  for (const auto& row : csv.rows)
    sum += std::stoll(row[start + 1]) - std::stoll(row[start]);
  return {csv.rows.size(), sum};
}

TEST(RocprofGolden, EveryTableOfTheDocumentation) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  const std::set<std::string> gpu_tables = {"kernel_trace", "memory_copy_trace"};
  for (const std::string name : {"hip_trace", "kernel_trace", "marker_api_trace",
                                 "memory_copy_trace", "rccl_trace", "rocpd-to-csv"}) {
    SCOPED_TRACE(name);
    const auto path = golden::root() / "formats/rocprofv3-csv" / (name + ".csv");
    // a separate folder, because tables in one folder are read as one process
    const test::TempFolder folder;
    const std::string copy = folder.path(name + ".csv");
    std::filesystem::copy_file(path, copy);
    const auto loaded = load_trace(copy, {});
    ASSERT_TRUE(loaded) << loaded.error().message();
    const auto [rows, sum] = table_totals(path);
    EXPECT_EQ(loaded->trace.events.size(), rows);
    std::int64_t total = 0;
    for (const std::int64_t ns : loaded->trace.events.dur_ns)
      total += ns;
    EXPECT_EQ(total, sum);
    std::vector<std::string> problems;
    for (const Problem& problem : loaded->trace.diagnostics.problems())
      problems.emplace_back(problem.name);
    // only calls and markers
    EXPECT_EQ(problems, gpu_tables.count(name) > 0 ? std::vector<std::string>()
                                                   : std::vector<std::string>{"no_gpu_events"});
  }
}

} // namespace
} // namespace rankscope
