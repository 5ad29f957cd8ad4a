// Tests inputs of rankscope compare: runs without communication, kernels without a launch, reports
// of analyze, reports in another unit, a plots folder that cannot be created.
#include "app/compare_reports_input.h"
#include "readers/reports/report_tables.h"
#include "run_binary.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::run_binary;
using test::RunResult;
using test::TempFolder;

/// Writes a run of one rank with four steps of five kernels. `copies`: a copy in each step. `lost`:
/// a kernel without a launch at the end of each step. GPU work is from 25 us to 3,710 us (3,685
/// us), with `lost` to 3,950 us (3,925 us).
std::string make_copied_run(const TempFolder& folder, const std::string& name, bool copies,
                            bool lost) {
  std::string events;
  int id = 0;
  const auto add = [&events](const std::string& event) {
    events += (events.empty() ? "" : ",\n") + event;
  };
  const auto launched = [&](const char* category, const char* kernel, int ts, int dur) {
    ++id;
    add(fmt::format(R"({{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":{},)"
                    R"("dur":20,"args":{{"External id":{}}}}})",
                    ts, id));
    add(fmt::format(R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,)"
                    R"("ts":{},"dur":5,"args":{{"correlation":{}}}}})",
                    ts + 5, id));
    add(fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":0,"tid":7,"ts":{},"dur":{},)"
                    R"("args":{{"correlation":{},"device":0,"stream":7}}}})",
                    category, kernel, ts + 15, dur, id));
  };
  for (int step = 0; step < 4; ++step) {
    const int at = step * 1000;
    add(fmt::format(R"({{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{}","pid":1,)"
                    R"("tid":1,"ts":{},"dur":990,"args":{{}}}})",
                    step, at));
    for (int i = 0; i < 5; ++i)
      launched("kernel", "gemm", at + 10 + i * 150, 80 + i + step % 2);
    if (copies)
      launched("gpu_memcpy", "Memcpy DtoD", at + 110, 20);
    if (lost)
      add(fmt::format(R"({{"ph":"X","cat":"kernel","name":"lost","pid":0,"tid":8,"ts":{},)"
                      R"("dur":150,"args":{{"device":0,"stream":8}}}})",
                      at + 800));
  }
  const std::string path = folder.path(name) + "/torch_profiler/rank0";
  fs::create_directories(path);
  std::ofstream(path + "/trace.json")
      << R"({"schemaVersion":1,"distributedInfo":{"rank":0,"world_size":1},"traceEvents":[)"
      << events << "]}";
  return folder.path(name);
}

TEST(CompareInputs, RunsWithoutCommunicationGetAVerdictAndAPage) {
  const TempFolder folder;
  const std::string base = make_copied_run(folder, "a", false, false);
  const std::string test = make_copied_run(folder, "b", true, false); // copies in one run only
  const std::string out = folder.path("out");
  const RunResult r = run_binary({"compare", "--baseline", base, "--test", test, "--output", out});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("GPU_total_time"), std::string::npos);
  EXPECT_TRUE(fs::exists(out + "/performance_analysis_report.html"));
  EXPECT_TRUE(fs::exists(out + "/plots/gpu_time_heatmap.png"));
}

TEST(CompareInputs, APageThatFailsDoesNotCostTheVerdict) {
  const TempFolder folder;
  const std::string base = make_copied_run(folder, "a", false, false);
  const std::string out = folder.path("out");
  fs::create_directories(out);
  std::ofstream(out + "/plots") << "in the way";
  const RunResult r = run_binary({"compare", "--baseline", base, "--test", base, "--output", out,
                                  "--markdown", folder.path("pr.md")});
  EXPECT_EQ(r.code, 6) << r.err;
  EXPECT_NE(r.out.find("GPU_total_time"), std::string::npos) << r.out;
  EXPECT_NE(r.err.find(out + "/plots"), std::string::npos) << r.err;
  EXPECT_TRUE(fs::exists(folder.path("pr.md")));
  EXPECT_TRUE(fs::exists(out + "/final_analysis_report.xlsx"));
}

// Regression test: total_time was 34.892 ms in one command and 49.653 ms in another one, without an
// explanation.
TEST(CompareInputs, TotalTimeOfATraceWithKernelsWithoutALaunchIsExplainedEverywhere) {
  const TempFolder folder;
  const std::string run = make_copied_run(folder, "a", false, true);
  const std::string trace = run + "/torch_profiler/rank0/trace.json";
  const char* const counted = "counts them: total_time is 3.925 ms with them, 3.685 ms without";
  const RunResult report = run_binary({"report", trace, "-o", folder.path("r.xlsx")});
  EXPECT_NE(report.out.find("3.925"), std::string::npos) << report.out;
  EXPECT_NE(report.err.find(counted), std::string::npos) << report.err;
  std::vector<std::string> args = {"report",   trace,      "-o", folder.path("r.xlsx"),
                                   "--compat", "tracelens"};
  const RunResult reference = run_binary(args);
  EXPECT_NE(reference.out.find("3.685"), std::string::npos) << reference.out;
  EXPECT_NE(reference.err.find("leaves them out, as the reference does: total_time is 3.685 ms "
                               "without them, 3.925 ms with them"),
            std::string::npos)
      << reference.err;
  args.emplace_back("--include-unlinked-kernels");
  const RunResult all = run_binary(args);
  EXPECT_NE(all.out.find("3.925"), std::string::npos) << all.out;
  const RunResult compare = run_binary(
      {"compare", "--baseline", run, "--test", run, "--output", folder.path("out"), "--no-plots"});
  EXPECT_NE(compare.err.find(counted), std::string::npos) << compare.err;
  const RunResult analyze = run_binary({"analyze", run, "--no-plots"});
  EXPECT_NE(analyze.err.find(counted), std::string::npos) << analyze.err;
  EXPECT_NE(analyze.out.find("3.925"), std::string::npos) << analyze.out;
  // all kernels have a launch: no explanation
  const std::string plain = make_copied_run(folder, "b", false, false);
  const RunResult quiet = run_binary(
      {"report", plain + "/torch_profiler/rank0/trace.json", "-o", folder.path("p.xlsx")});
  EXPECT_EQ(quiet.err.find("no launch"), std::string::npos) << quiet.err;
}

std::string synth_run(const TempFolder& folder, const std::string& name, std::uint64_t seed) {
  synth::Options o;
  o.threads = {256};
  o.channels = {28};
  o.ranks = 2;
  o.layers = 1;
  o.steps = 3;
  o.seed = seed;
  EXPECT_TRUE(synth::generate(o, folder.path(name), 1, nullptr));
  return folder.path(name) + "/256thread/nccl_28channels";
}

TEST(CompareInputs, ReportsOfAnalyzeAreFoundWhereItWritesThem) {
  const TempFolder folder;
  const std::string first = synth_run(folder, "one", 1);
  const std::string second = synth_run(folder, "two", 2);
  for (const std::string& run : {first, second})
    ASSERT_EQ(run_binary({"analyze", run, "--no-plots", "--quiet"}).code, 0);
  const std::string out = folder.path("out");
  const RunResult r = run_binary({"compare", "--baseline", first, "--test", second, "--all",
                                  "--skip-tracelens", "--output", out, "--no-plots"});
  ASSERT_EQ(r.code, 0) << r.err;
  // named by the part of their paths that differs
  EXPECT_NE(r.err.find("one: 2 ranks"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("two: 2 ranks"), std::string::npos);
  EXPECT_NE(r.out.find("NCCL_comm_latency"), std::string::npos) << r.out;
  const RunResult deeper = run_binary({"compare", "--baseline", first + "/tracelens_analysis",
                                       "--test", second + "/tracelens_analysis", "--skip-tracelens",
                                       "--output", out, "--no-plots"});
  EXPECT_EQ(deeper.code, 0) << deeper.err;
}

// HA-B22: with --skip-tracelens, traces without reports are reported.
TEST(CompareInputs, TracesWithoutReportsAreNamedUnderSkipTracelens) {
  const TempFolder folder;
  const std::string run = synth_run(folder, "one", 1);
  const RunResult r = run_binary({"compare", "--baseline", run, "--test", run, "--skip-tracelens",
                                  "--output", folder.path("out"), "--no-plots"});
  EXPECT_EQ(r.code, 3);
  EXPECT_NE(r.err.find("has traces of 2 ranks but no reports"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("leave out --skip-tracelens"), std::string::npos) << r.err;
  EXPECT_EQ(r.err.find("neither traces"), std::string::npos) << r.err;
}

// Regression test: equal data were reported as a regression of 6.9 %, because bandwidths in 1024^3
// bytes/s have the same header.
TEST(CompareInputs, BandwidthsInAnotherUnitAreConverted) {
  const TempFolder folder;
  const std::string run = synth_run(folder, "one", 1);
  ASSERT_EQ(run_binary({"collectives", run, "--compat", "tracelens", "-o", folder.path("gib.xlsx"),
                        "--quiet"})
                .code,
            0);
  ASSERT_EQ(run_binary({"collectives", run, "-o", folder.path("gb.xlsx"), "--quiet"}).code, 0);
  const auto gib = read_report_tables(folder.path("gib.xlsx"));
  const auto gb = read_report_tables(folder.path("gb.xlsx"));
  ASSERT_TRUE(gib && gb);
  Diagnostics converted;
  Diagnostics plain;
  const RunCollectives a = collectives_of_report(*gib, "gib", converted);
  const RunCollectives b = collectives_of_report(*gb, "gb", plain);
  ASSERT_EQ(a.summary.size(), b.summary.size());
  ASSERT_FALSE(a.summary.empty());
  for (std::size_t i = 0; i < a.summary.size(); ++i) {
    EXPECT_NEAR(a.summary[i].bus_gbps.mean, b.summary[i].bus_gbps.mean,
                1e-9 * b.summary[i].bus_gbps.mean);
    EXPECT_NEAR(a.summary[i].algo_gbps.mean, b.summary[i].algo_gbps.mean,
                1e-9 * b.summary[i].algo_gbps.mean);
  }
  ASSERT_EQ(converted.problems().size(), 1U);
  EXPECT_EQ(converted.problems()[0].name, "bandwidth_unit_converted");
  EXPECT_TRUE(plain.empty());
  // without the sheet of single collectives, the extremes in the summary show the unit
  Report summary_only;
  summary_only.tables.push_back(*gib->find("nccl_summary_implicit_sync"));
  Diagnostics again;
  EXPECT_NEAR(collectives_of_report(summary_only, "s", again).summary[0].bus_gbps.mean,
              b.summary[0].bus_gbps.mean, 1e-9 * b.summary[0].bus_gbps.mean);
}

TEST(CompareInputs, BandwidthsOfAnUnknownUnitAreLeftOut) {
  const Table summary =
      table_from_csv("nccl_summary_implicit_sync",
                     "Collective name,dtype,In msg nelems,Process Group Name,Full msg size (MB),"
                     "comm_latency_mean,comm_latency_min,comm_latency_max,algo bw (GB/s)_mean,"
                     "algo bw (GB/s)_min,algo bw (GB/s)_max,bus bw (GB/s)_mean,count\n"
                     "allreduce,Float,1048576,0,4,100,90,110,1000,900,1100,1500,3\n"
                     "allreduce,Float,1048576,1,4,100,90,110,1000,900,1100,1500,3\n")
          .value();
  Report report;
  report.tables.push_back(summary);
  Diagnostics diagnostics;
  const RunCollectives c = collectives_of_report(report, "x", diagnostics);
  ASSERT_EQ(c.summary.size(), 2U);
  EXPECT_TRUE(std::isnan(c.summary[0].bus_gbps.mean));
  EXPECT_DOUBLE_EQ(c.summary[0].latency_us.mean, 100);
  ASSERT_EQ(diagnostics.problems().size(), 1U);
  EXPECT_EQ(diagnostics.problems()[0].severity, Severity::kWarning);
}

TEST(CompareInputs, ReportsOfDifferentWorkloadsSaySoFirst) {
  const TempFolder folder;
  const auto report = [&folder](const std::string& name, const std::string& rows) {
    fs::create_directories(folder.path(name));
    std::ofstream(folder.path(name) + "/ops_summary.csv")
        << "name,total_direct_kernel_time_ms,Count\n" + rows;
    std::ofstream(folder.path(name) + "/gpu_timeline.csv") << "type,time ms,percent\n"
                                                              "total_time,5,100\n";
    return folder.path(name);
  };
  const std::string a = report("a", "aten::mm,4,2\naten::add,1,2\n");
  const std::string b = report("b", "aten::conv2d,4,2\naten::add,1,2\n");
  const auto compared = [&](const std::string& other) {
    return run_binary({"compare-reports", a, other, "-o", folder.path("x.xlsx")}).out;
  };
  EXPECT_EQ(compared(b).rfind("NOTE: a and b look like different workloads. 1 of 3 operators", 0),
            0U)
      << compared(b);
  EXPECT_EQ(compared(report("c", "aten::mm,5,2\naten::add,1,2\n")).find("NOTE"), std::string::npos);
}

TEST(CompareInputs, MarkdownOnStdoutStandsAlone) {
  const TempFolder folder;
  const std::string run = make_copied_run(folder, "a", false, false);
  const RunResult r = run_binary({"compare", "--baseline", run, "--test", run, "--output",
                                  folder.path("out"), "--no-plots", "--markdown", "-"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out.rfind("## Performance comparison", 0), 0U) << r.out;
  EXPECT_EQ(r.out.find(".xlsx"), std::string::npos);
}

// HA-E26: the difference of two integers in CSV tables overflowed.
TEST(CompareInputs, DifferencesOfIntegersDoNotOverflow) {
  const TempFolder folder;
  const auto report = [&folder](const std::string& name, const std::string& count) {
    fs::create_directories(folder.path(name));
    std::ofstream(folder.path(name) + "/ops_summary.csv")
        << "name,total_direct_kernel_time_ms,Count\naten::mm,4," << count << "\n";
    return folder.path(name);
  };
  const RunResult r = run_binary({"compare-reports", report("a", "-9223372036854775808"),
                                  report("b", "1"), "--csv-dir", folder.path("out")});
  EXPECT_EQ(r.code, 0) << r.err;
  std::string all;
  for (const auto& file : fs::directory_iterator(folder.path("out")))
    all += test::bytes_of(file.path().string());
  EXPECT_NE(all.find("9.223372036854776e+18"), std::string::npos) << all;
}

// Regression test: an incomplete row of a writer that was killed was compared.
TEST(CompareInputs, TornRowsOfReportsAreLeftOutAndCounted) {
  const TempFolder folder;
  const auto report = [&folder](const std::string& name, const std::string& rows) {
    fs::create_directories(folder.path(name));
    std::ofstream(folder.path(name) + "/ops_summary.csv")
        << "name,total_direct_kernel_time_ms,Count\n" + rows;
    return folder.path(name);
  };
  const RunResult r =
      run_binary({"compare-reports", report("a", "aten::mm,4,2\n\"aten::a,1,1\naten::add,1,2\n"),
                  report("b", "aten::mm,4,2\naten::add,1"), "--csv-dir", folder.path("out")});
  EXPECT_EQ(r.code, 4) << r.err;
  EXPECT_NE(r.err.find("a/ops_summary.csv: a row is incomplete"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("b/ops_summary.csv: a row is incomplete"), std::string::npos) << r.err;
}

} // namespace
} // namespace rankscope
