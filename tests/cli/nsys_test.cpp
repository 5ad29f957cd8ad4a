// Tests rankscope nsys as users run it: the documented example byte for byte, and exports that are
// created here.
#include "analyses/nsys/nsys_summary.h"
#include "readers/nsys/nsys_config.h"
#include "readers/nsys/nsys_sqlite.h"
#include "readers/reports/report_tables.h"
#include "temp_folder.h"
#include "test_paths.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <sqlite3.h>
#include <sys/wait.h>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

using test::bytes_of;

// The example from the document of the original tool.
constexpr const char* kExample = R"(===== Llama2-70B-From-CSV =====
Kernel time per iteration: 7947.172 (ms)
Kernel instances per iteration: 7877
Kernel total time: 39735.860 (ms)
Kernel total instances: 39385
Kernel Statistic:
Class            TimePerIter(ms)  InstancePerIter  TimePerIter(%)   TotalTime(ms)    TotalInstance  TotalTime(%)
others                     79.53             1518            1.00          397.67             7590          1.00
gemm                     6830.11             1363           85.94        34150.57             6815         85.94
fmha                      555.79              480            6.99         2778.96             2400          6.99
fusion                    481.73             4516            6.06         2408.65            22580          6.06

NCCL time per iteration: 3275.659 (ms)
NCCL instances per iteration: 244
NCCL total time: 16378.295 (ms)
NCCL total instances: 1220
NCCL Statistic:
Class            TimePerIter(ms)  InstancePerIter  TotalTime(ms)    TotalInstance
AllGather                2343.77              161       11718.85              805
ReduceScatter             924.66               79        4623.31              395
AllReduce                   7.23                4          36.14               20

Mem Ops Statistic:
Class                  TimePerIter(ms)  InstancePerIter  TotalTime(ms)    TotalInstance
[CUDA memcpy D2D]                30.66              181         153.28              905
[CUDA memset]                     8.57             1527          42.85             7635
[CUDA memcpy H2D]                 0.01                3           0.05               15

NVTX range count: 5
NVTX average range time: 8578.017 (ms)
NVTX total range time: 42890.084 (ms)

Estimated non-hidden NCCL, mem ops and bubble time per range: 630.845 (ms)
Estimated non-hidden NCCL, mem ops and bubble time per range: 7.35 (%)
Estimated non-hidden NCCL, mem ops and bubble total time: 3154.224 (ms)
Estimated non-hidden NCCL, mem ops and bubble total time: 7.35 (%)


)";
constexpr const char* kTag = "TSL:XlaModule:#hlo_module=pjit__train_step,program_id=11#";

/// The part of the documented schema that the summary needs.
constexpr const char* kSchema = R"(
CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER, shortName INTEGER, mangledName INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER,
  streamId INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER,
  correlationId INTEGER, globalPid INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INTEGER, end INTEGER, deviceId INTEGER,
  streamId INTEGER, bytes INTEGER, value INTEGER, correlationId INTEGER, globalPid INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, correlationId INTEGER,
  globalTid INTEGER, nameId INTEGER, returnValue INTEGER);
CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER,
  globalTid INTEGER, endGlobalTid INTEGER, rangeId INTEGER, domainId INTEGER);
)";

void execute(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
      << (message == nullptr ? "" : message);
  sqlite3_free(message);
  sqlite3_close(db);
}

class Nsys : public ::testing::Test {
protected:
  int run(const std::string& arguments) {
    const std::string out = at("stdout");
    const std::string err = at("stderr");
    const int status =
        std::system((test::binary() + " " + arguments + " >" + out + " 2>" + err).c_str());
    out_ = bytes_of(out);
    err_ = bytes_of(err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string at(const std::string& name) const { return folder_.path() + "/" + name; }
  bool said(const std::string& text) const { return err_.find(text) != std::string::npos; }
  /// Writes two tables with two kernels under a prefix.
  std::string small_tables() {
    folder_.write(
        "p_cuda_gpu_kern_sum.csv",
        "Time (%),Total Time (us),Instances,Avg (us),Name\n"
        "60.0,6000,7,1,\"Gemm<1, \"\"a\"\">\"\n40.0,4000,2,1,ncclDevKernel_AllGather(x)\n");
    folder_.write("p_nvtx_gpu_proj_trace.csv", "Name,Projected Start (ns),Projected Duration (ns)\n"
                                               ":a,0,5000000\n:step,0,8000000\n:a,1,1\n");
    return at("p");
  }
  /// A kernel, or an NVTX range "step" on the thread that launched the kernels of its process.
  struct Kernel {
    std::int64_t process, device, launch_ns, start_ns, end_ns;
    const char* name;
  };
  struct Step {
    std::int64_t process, start_ns, end_ns;
  };
  std::string database(const std::string& name, const std::vector<Kernel>& kernels,
                       const std::vector<Step>& steps, std::string sql = "") {
    sql += "INSERT INTO StringIds VALUES(1,'gemm'),(2,'ncclDevKernel_AllReduce_Sum(x)');";
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const Kernel& k = kernels[i];
      sql += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES({},{},{},0,7,{},{},{},0,0);"
                         "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES({},{},{},{},0,0);",
                         k.start_ns, k.end_ns, k.device, i, k.process << 24,
                         k.name == std::string("gemm") ? 1 : 2, k.launch_ns, k.launch_ns + 1, i,
                         (k.process << 24) + 1);
    }
    for (const Step& s : steps)
      sql += fmt::format("INSERT INTO NVTX_EVENTS VALUES({},{},59,'step',NULL,{},NULL,0,0);",
                         s.start_ns, s.end_ns, (s.process << 24) + 1);
    execute(at(name), kSchema + sql);
    return at(name);
  }
  test::TempFolder folder_;
  std::string out_;
  std::string err_;
};

TEST_F(Nsys, TheDocumentedExampleByteForByte) {
  const std::string golden = test::golden_dir().string() + "/nsys/";
  const std::string prefix = golden + "llama2-70B-GBS512-FSDP256_";
  if (!fs::exists(prefix + "cuda_gpu_kern_sum.csv"))
    GTEST_SKIP() << "no golden data at " << golden;
  std::string ranges = "Name,Projected Start (ns),Projected Duration (ns)\n";
  for (int i = 0; i < 5; ++i)
    ranges += std::string(kTag) + "x,0,1\n\"" + kTag + "\",0,8578016800\n";
  ranges.insert(0, "\xef\xbb\xbf");
  // the tag contains a comma
  std::string quoted;
  for (std::size_t p = 0, line = 0; p < ranges.size(); ++line) {
    const std::size_t end = ranges.find('\n', p);
    std::string text = ranges.substr(p, end - p);
    if (text.find(std::string(kTag) + "x") == 0)
      text = "\"" + std::string(kTag) + "x\",0,1";
    quoted += text + "\r\n";
    p = end + 1;
  }
  const std::string nvtx = folder_.write("nvtx.csv", quoted);
  const std::string config = folder_.write("c.json", fmt::format(R"({{ // "comment"
 "inputs": [ {{ "format": "CSV", "title": "Llama2-70B-From-CSV",
   "nsys_csv_file_path": {{"kernel_sum": "{0}cuda_gpu_kern_sum.csv", "nvtx_proj_trace": "{1}",
     "mem_time_sum": "{0}cuda_gpu_mem_time_sum.csv"}}, /* and another */
   "analysis_args": {{"num_of_iters": 5, "num_of_gpus": 1, "nvtx_tag_of_iter": "{2}", }} }}, ],
 "kernel_to_class_map": {{"xmma_gemm": "gemm", "fmha_": "fmha", "compute_dot_do_o": "fmha",
   "convert_dq_to_16bits": "fmha", "fusion": "fusion",}},
}})",
                                                                 prefix, nvtx, kTag));
  ASSERT_EQ(run("nsys --config " + config + " --csv-dir " + at("csv") + " -o " + at("o.xlsx")), 0)
      << err_;
  EXPECT_EQ(out_, kExample);
  EXPECT_NE(bytes_of(at("csv/kernels.csv")).find("Llama2-70B-From-CSV,gemm,6830.11"),
            std::string::npos);
  EXPECT_GT(fs::file_size(at("o.xlsx")), 1000U);
  ASSERT_EQ(run("nsys --json --config " + config), 0);
  EXPECT_EQ(out_.substr(0, 1), "{");
}

TEST_F(Nsys, PlainJsonKeepsStrings) {
  EXPECT_EQ(plain_json("{\"a//\\\"\": [1, 2, // x, ]\n ] , }"), "{\"a//\\\"\": [1, 2  \n ]   }");
}

TEST_F(Nsys, PrefixWithoutConfigQuotesAndUnits) {
  const std::string map = folder_.write("map.json", R"({"gemm": "Matrix"})");
  ASSERT_EQ(run("nsys " + small_tables() + " --iters 2 --nvtx step --classes " + map), 0) << err_;
  EXPECT_NE(out_.find("Kernel time per iteration: 3.000 (ms)\nKernel instances per iteration: 3\n"),
            std::string::npos)
      << out_;
  EXPECT_NE(out_.find("\nmatrix                      3.00                3          100.00"),
            std::string::npos)
      << out_;
  EXPECT_NE(out_.find("\nothers                      0.00"), std::string::npos);
  EXPECT_NE(out_.find("\nAllGather                   2.00"), std::string::npos);
  EXPECT_EQ(out_.find("Mem Ops"), std::string::npos);
  EXPECT_TRUE(said("1 range named \"step\", expected 2 (iterations)\n")) << err_;
}

// A run without NCCL, copies or ranges has no sheet with only a header.
TEST_F(Nsys, TablesWithoutRowsAreLeftOut) {
  folder_.write("alone_cuda_gpu_kern_sum.csv",
                "Time (%),Total Time (us),Instances,Avg (us),Name\n100.0,6000,7,1,gemm\n");
  const auto tables = [this](const std::string& prefix) {
    std::set<std::string> names;
    fs::remove_all(at("tables"));
    EXPECT_EQ(run("nsys " + at(prefix) + " --iters 1 --csv-dir " + at("tables")), 0) << err_;
    for (const auto& entry : fs::directory_iterator(at("tables"))) {
      names.insert(entry.path().filename().string());
      const std::string text = bytes_of(entry.path().string());
      EXPECT_GE(std::count(text.begin(), text.end(), '\n'), 2) << entry.path();
    }
    return names;
  };
  EXPECT_EQ(tables("alone"), (std::set<std::string>{"summary.csv", "kernels.csv"}));
  small_tables();
  EXPECT_EQ(tables("p"), (std::set<std::string>{"summary.csv", "kernels.csv", "nccl.csv"}));
  folder_.write("p_cuda_gpu_mem_time_sum.csv", "Total Time (ns),Count,Operation\n");
  EXPECT_EQ(tables("p"), (std::set<std::string>{"summary.csv", "kernels.csv", "nccl.csv"}));
  ASSERT_EQ(run("nsys " + at("alone") + " --iters 1 -o " + at("x.xlsx")), 0) << err_;
  const Result<Report> workbook = read_report_tables(at("x.xlsx"));
  ASSERT_TRUE(workbook);
  EXPECT_NE(workbook->find("kernels"), nullptr);
  EXPECT_EQ(workbook->find("nccl"), nullptr);
  EXPECT_EQ(workbook->find("memory"), nullptr);
}

TEST_F(Nsys, RowsWhoseEndIsBeforeTheirStartAreToldAndPartial) {
  execute(at("n.sqlite"), std::string(kSchema) +
                              "INSERT INTO StringIds VALUES(1, 'gemm');"
                              "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, "
                              "correlationId, demangledName) VALUES(5000, 2000, 0, 1, 1), "
                              "(1000000, 3000000, 0, 2, 1)");
  EXPECT_EQ(run("nsys " + at("n.sqlite") + " --iters 1"), 4);
  EXPECT_NE(out_.find("Kernel time per iteration: 2.000 (ms)"), std::string::npos) << out_;
  EXPECT_TRUE(said("1 rows left out: their times are not integers")) << err_;
  EXPECT_EQ(run("nsys " + small_tables() + " --iters 9000000000"), 2);
  EXPECT_TRUE(said("--iters is 9000000000, expected 1 to 1000000000")) << err_;
  EXPECT_EQ(run("nsys " + small_tables() + " --iters 1 --gpus 0"), 2);
  EXPECT_TRUE(said("--gpus is 0, expected 1 to")) << err_;
}

TEST_F(Nsys, ErrorsAreClear) {
  const std::string p = small_tables();
  EXPECT_EQ(run("nsys " + p), 2);
  EXPECT_TRUE(said("--iters is needed")) << err_;
  EXPECT_EQ(run("nsys"), 2);
  EXPECT_EQ(run("nsys " + at("none") + " --iters 1"), 3);
  EXPECT_TRUE(said("no such table")) << err_;
  EXPECT_EQ(run("nsys " + p + " --iters 1 --nvtx nothing"), 3);
  EXPECT_TRUE(
      said("no NVTX range is named \"nothing\"; the most frequent names are \":a\" (2 times), "
           "\":step\" (1 times)"))
      << err_;
  EXPECT_NE(out_.find("NCCL Statistic"), std::string::npos) << "the rest is printed all the same";
  std::string map = folder_.write("m.json", R"({"gemm": "a", "xmma_GEMM": "b"})");
  EXPECT_EQ(run("nsys " + p + " --iters 1 --classes " + map), 2);
  EXPECT_TRUE(said("--classes " + map)) << err_;
  EXPECT_TRUE(said("\"gemm\" and key \"xmma_gemm\" clash")) << err_;
  map = folder_.write("m.json", R"({"gemm": "Others"})");
  EXPECT_EQ(run("nsys " + p + " --iters 1 --classes " + map), 2);
  EXPECT_TRUE(said("class others")) << err_;
  execute(at("e.sqlite"), "CREATE TABLE StringIds(id INTEGER, value TEXT)");
  EXPECT_EQ(run("nsys " + at("e.sqlite") + " --iters 1"), 3);
  EXPECT_TRUE(said("no table CUPTI_ACTIVITY_KIND_KERNEL")) << err_;
  folder_.write("text.sqlite", std::string(5000, 'x'));
  EXPECT_EQ(run("nsys " + at("text.sqlite") + " --iters 1"), 3);
  EXPECT_TRUE(said("file is not a database")) << err_;
  execute(at("k.sqlite"), std::string(kSchema) + "DROP TABLE NVTX_EVENTS");
  EXPECT_EQ(run("nsys " + at("k.sqlite") + " --iters 1 --nvtx x"), 3);
  EXPECT_TRUE(said("no table NVTX_EVENTS")) << err_;
}

TEST_F(Nsys, ReportsGoThroughNsysWhenItIsThere) {
  execute(at("k.sqlite"),
          std::string(kSchema) +
              "INSERT INTO StringIds VALUES(1,'gemm');"
              "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(0,1000000,0,0,0,1,0,1,1,1)");
  folder_.write("r.nsys-rep", "binary");
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", at("empty").c_str(), 1);
  const int without = run("nsys " + at("r.nsys-rep") + " --iters 1 --title t");
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(without, 7);
  EXPECT_TRUE(said("needs the program nsys")) << err_;
  // replaces nsys export --type sqlite --output DATABASE REPORT
  const std::string tool = folder_.write(
      "bin/nsys", "#!/bin/sh\n[ \"$1 $2 $3 $4\" = 'export --type sqlite --output' ] && "
                  "cp " +
                      at("k.sqlite") + " \"$5\"\n");
  fs::permissions(tool, fs::perms::owner_all);
  ::setenv("PATH", (at("bin") + ":" + before).c_str(), 1);
  EXPECT_EQ(run("nsys " + at("r.nsys-rep") + " --iters 1 --title t"), 0) << err_;
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_NE(out_.find("Kernel total time: 1.000 (ms)"), std::string::npos) << out_;
}

constexpr std::int64_t kMs = 1000000;

// Two processes with one GPU each, which both call it device 0. In its range of 10 ms, each GPU
// runs 5 ms of gemm and 5 ms of NCCL, but not at the same time.
TEST_F(Nsys, ProcessesThatNameTheirGpusAlike) {
  std::vector<Kernel> kernels;
  std::vector<Step> steps;
  for (std::int64_t i = 0; i < 2; ++i) {
    const std::int64_t t = i * 20 * kMs;
    kernels.push_back({1, 0, t + 100, t, t + 5 * kMs, "gemm"});
    kernels.push_back({1, 0, t + 200, t + 5 * kMs, t + 10 * kMs, "nccl"});
    kernels.push_back({2, 0, t + 100, t + 5 * kMs, t + 10 * kMs, "gemm"});
    kernels.push_back({2, 0, t + 200, t, t + 5 * kMs, "nccl"});
    steps.push_back({1, t, t + 1000});
    steps.push_back({2, t, t + 1000});
  }
  const std::string file = database("d.sqlite", kernels, steps);
  ASSERT_EQ(run("nsys " + file + " --iters 2 --gpus 2 --nvtx step"), 0) << err_;
  EXPECT_NE(out_.find("non-NCCL kernel (overlap-aware): 5.000 (ms)"), std::string::npos) << out_;
  EXPECT_NE(out_.find("non-NCCL kernel (overlap-aware): 50.00 (%)"), std::string::npos) << out_;
  EXPECT_EQ(err_, "") << "there are 4 ranges: 2 iterations x 2 GPUs";
  ASSERT_EQ(run("nsys " + file + " --iters 3 --gpus 2 --nvtx step"), 0) << err_;
  EXPECT_TRUE(said("4 ranges named \"step\", expected 3 (iterations) or 6 (iterations x GPUs)"))
      << err_;
}

// The kernels of each GPU fill its range of 10 ms; the second range starts 10 ms later.
TEST_F(Nsys, RangesAreMeasuredOnTheirOwnGpus) {
  const std::string file = database(
      "d.sqlite", {{1, 0, 100, 0, 10 * kMs, "gemm"}, {2, 1, 100, 10 * kMs, 20 * kMs, "gemm"}},
      {{1, 0, 1000}, {2, 0, 1000}});
  ASSERT_EQ(run("nsys " + file + " --iters 1 --gpus 2 --nvtx step"), 0) << err_;
  EXPECT_NE(out_.find("non-NCCL kernel (overlap-aware): 0.000 (ms)"), std::string::npos) << out_;
}

// One process runs 8 ms of gemm on each of two GPUs in each of two ranges of 10 ms: 2 ms are left
// per range, 4 ms in total.
TEST_F(Nsys, EstimateOfRangesThatSpanSeveralGpus) {
  std::vector<Kernel> kernels;
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t device = 0; device < 2; ++device) {
      const std::int64_t t = i * 20 * kMs;
      kernels.push_back({1, device, t + 100, t, t + 8 * kMs, "gemm"});
      kernels.push_back({1, device, t + 200, t + 8 * kMs, t + 10 * kMs, "nccl"});
    }
  const std::string file =
      database("d.sqlite", kernels, {{1, 0, 1000}, {1, 20 * kMs, 20 * kMs + 1000}});
  ASSERT_EQ(run("nsys " + file + " --iters 2 --gpus 2 --nvtx step"), 0) << err_;
  EXPECT_NE(out_.find("bubble time per range: 2.000 (ms)\n"), std::string::npos) << out_;
  EXPECT_NE(out_.find("bubble total time: 4.000 (ms)\n"), std::string::npos) << out_;
  EXPECT_NE(out_.find("bubble total time: 20.00 (%)\n"), std::string::npos) << out_;
}

// The ranges exist, but another thread launched the work in all of them, or in two of four.
TEST_F(Nsys, RangesWithoutWorkOfTheirThread) {
  const auto ranges = [](int count, int thread) {
    std::string sql;
    for (int i = 0; i < count; ++i)
      sql += fmt::format("INSERT INTO NVTX_EVENTS VALUES({0},{0}+99,59,'step',NULL,{1},NULL,0,0);",
                         i * 1000, (1 << 24) + thread);
    return sql;
  };
  const std::vector<Kernel> kernels = {{1, 0, 10, 0, 100, "gemm"}, {1, 0, 1010, 200, 300, "gemm"}};
  std::string file = database("other.sqlite", kernels, {}, ranges(4, 2));
  EXPECT_EQ(run("nsys " + file + " --iters 4 --nvtx step"), 3);
  EXPECT_TRUE(said("4 NVTX ranges are named \"step\", but no API call on the thread of such a "
                   "range launched GPU work in it"))
      << err_;
  EXPECT_EQ(run("nsys " + file + " --iters 4 --nvtx stop"), 3);
  EXPECT_TRUE(
      said("no NVTX range is named \"stop\"; the most frequent names are \":step\" (4 times)"))
      << err_;
  file = database("half.sqlite", kernels, {}, ranges(4, 1));
  EXPECT_EQ(run("nsys " + file + " --iters 4 --nvtx step"), 0) << err_;
  EXPECT_TRUE(said("2 ranges named \"step\" with GPU work launched by their thread (2 without), "
                   "expected 4 (iterations)"))
      << err_;
}

// Times per iteration are divided by the number of GPUs, which the user gives.
TEST_F(Nsys, AnotherNumberOfGpusThanInTheReport) {
  std::string file =
      database("two.sqlite", {{1, 0, 10, 0, 100, "gemm"}, {1, 1, 20, 0, 100, "gemm"}}, {});
  EXPECT_EQ(run("nsys " + file + " --iters 1"), 0) << err_;
  EXPECT_TRUE(said("the report contains work of 2 GPUs, but --gpus (num_of_gpus) is 1")) << err_;
  EXPECT_EQ(run("nsys " + file + " --iters 1 --gpus 4"), 0) << err_;
  EXPECT_TRUE(said("work of 2 GPUs, but --gpus (num_of_gpus) is 4")) << err_;
  EXPECT_EQ(run("nsys " + file + " --iters 1 --gpus 2"), 0);
  EXPECT_EQ(err_, "");
  // Two processes with a device 0: they have one GPU together, or two.
  file = database("pids.sqlite", {{1, 0, 10, 0, 100, "gemm"}, {2, 0, 20, 0, 100, "gemm"}}, {});
  for (const char* gpus : {"1", "2"}) {
    EXPECT_EQ(run("nsys " + file + " --iters 1 --gpus " + gpus), 0);
    EXPECT_EQ(err_, "") << gpus;
  }
  EXPECT_EQ(run("nsys " + file + " --iters 1 --gpus 3"), 0);
  EXPECT_TRUE(said("work of 1 to 2 GPUs, but --gpus (num_of_gpus) is 3")) << err_;
}

// A kernel of 1 ms, then a graph launch of 8 ms that was recorded without its kernels.
TEST_F(Nsys, GraphsRecordedWithoutTheirKernels) {
  const std::string file = database(
      "g.sqlite", {{1, 0, 100, 0, 1 * kMs, "gemm"}}, {{1, 0, 1000}},
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INTEGER, end INTEGER, deviceId INTEGER,"
      "  graphId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER,"
      "  globalPid INTEGER, graphExecId INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(1000000,9000000,0,1,1,7,50,16777216,2);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(200,300,50,16777217,0,0);");
  EXPECT_EQ(run("nsys " + file + " --iters 1 --nvtx step"), 4);
  EXPECT_TRUE(said("the kernels of 1 graph launch are not recorded")) << err_;
  EXPECT_NE(out_.find("Kernel total time: 1.000 (ms)"), std::string::npos) << out_;
  EXPECT_NE(out_.find("NVTX average range time: 9.000 (ms)"), std::string::npos) << out_;
  EXPECT_EQ(out_.find("Estimated"), std::string::npos) << out_;
  EXPECT_EQ(out_.find("Measured"), std::string::npos) << out_;
}

/// Compares random exports of two processes with sums over all pairs.
TEST_F(Nsys, ExportsAgainstBruteForce) {
  struct Op {
    std::int64_t start, end, api_start, api_end, tid, device;
    int kind; // 0 to 2: kernels (2 is NCCL); 3: copy; 4: memset
  };
  struct Range {
    std::int64_t start, end, tid;
    std::string name;
  };
  const std::array<std::string, 3> names{"my_gemm", "other", "ncclDevKernel_AllReduce_Sum(x)"};
  for (unsigned seed = 0; seed < 25; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&random](std::int64_t below) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(below));
    };
    std::vector<Op> ops;
    std::vector<Range> ranges;
    std::string sql = std::string(kSchema) + "BEGIN;";
    for (std::size_t i = 0; i < 3; ++i)
      sql += fmt::format("INSERT INTO StringIds VALUES({},'{}');", i, names[i]);
    for (std::int64_t process = 1; process <= 2; ++process) {
      const std::int64_t pid = (process << 24) | (std::int64_t{1} << 56);
      sql +=
          fmt::format("INSERT INTO NVTX_EVENTS VALUES(0,NULL,75,'Dom',NULL,{},NULL,0,3);", pid + 1);
      for (std::int64_t i = 0; i < 40; ++i) { // the other process uses the same correlation ids
        Op op{};
        op.api_start = pick(1000);
        op.api_end = op.api_start + pick(20);
        op.start = op.api_end + pick(200);
        op.end = op.start + 1 + pick(100);
        op.tid = pid + 1 + pick(2);
        op.device = process - 1;
        op.kind = static_cast<int>(pick(5));
        if (op.kind < 3)
          sql += fmt::format(
              "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES({},{},{},0,0,{},{},{},0,0);", op.start,
              op.end, op.device, i, pid, op.kind);
        else if (op.kind == 3)
          sql += fmt::format(
              "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES({},{},{},0,8,1,0,2,{},{});", op.start,
              op.end, op.device, i, pid);
        else
          sql += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES({},{},{},0,8,0,{},{});",
                             op.start, op.end, op.device, i, pid);
        sql += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES({},{},{},{},0,0);",
                           op.api_start, op.api_end, i, op.tid);
        ops.push_back(op);
      }
      for (int i = 0; i < 6; ++i) {
        Range r{pick(900), 0, pid + 1 + pick(2), i % 2 == 0 ? "Dom:step" : ":step"};
        r.end = r.start + pick(300);
        const bool across = i == 5; // ends on another thread, so it has no projection
        sql += fmt::format("INSERT INTO NVTX_EVENTS VALUES({},{},{},'step',NULL,{},{},0,{});",
                           r.start, r.end, across ? 60 : 59, r.tid,
                           across ? std::to_string(r.tid + 7) : "NULL", i % 2 == 0 ? 3 : 0);
        if (!across)
          ranges.push_back(r);
      }
    }
    const std::string path = at(fmt::format("{}.sqlite", seed));
    execute(path, sql + "COMMIT;");
    Result<NsysData> data = read_nsys_sqlite(path, true, true);
    ASSERT_TRUE(data) << data.error().message();

    std::array<std::int64_t, 5> total{};
    std::array<std::int64_t, 5> count{};
    for (const Op& op : ops) {
      total[static_cast<std::size_t>(op.kind)] += op.end - op.start;
      ++count[static_cast<std::size_t>(op.kind)];
    }
    const auto find = [](const std::vector<NsysSum>& sums, const std::string& name) {
      for (const NsysSum& s : sums)
        if (s.name == name)
          return std::pair(static_cast<std::int64_t>(s.total_ns), s.count);
      return std::pair<std::int64_t, std::int64_t>(0, 0);
    };
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(find(data->kernels, names[i]), std::pair(total[i], count[i]));
    EXPECT_EQ(find(data->memory, "[CUDA memcpy Host-to-Device]"), std::pair(total[3], count[3]));
    EXPECT_EQ(find(data->memory, "[CUDA memset]"), std::pair(total[4], count[4]));

    std::vector<std::pair<std::string, double>> expected;
    double uncovered = 0;
    std::int64_t samples = 0;
    for (const Range& r : ranges) {
      std::int64_t first = INT64_MAX;
      std::int64_t last = INT64_MIN;
      for (const Op& op : ops)
        if (op.tid == r.tid && op.api_start >= r.start && op.api_end <= r.end) {
          first = std::min(first, op.start);
          last = std::max(last, op.end);
        }
      if (last < first)
        continue;
      expected.emplace_back(r.name, static_cast<double>(last - first));
      if (r.name != "Dom:step")
        continue;
      ++samples;
      const std::int64_t device = (r.tid >> 24 & 0xff) - 1;
      for (std::int64_t t = first; t < last; ++t) // checks every nanosecond
        uncovered +=
            std::none_of(ops.begin(), ops.end(),
                         [&](const Op& op) {
                           return op.kind < 2 && op.device == device && op.start <= t && t < op.end;
                         })
                ? 1
                : 0;
    }
    std::vector<std::pair<std::string, double>> got;
    for (const NsysRange& r : data->ranges)
      got.emplace_back(r.name, r.duration_ns);
    std::sort(expected.begin(), expected.end());
    std::sort(got.begin(), got.end());
    EXPECT_EQ(got, expected) << "seed " << seed;
    if (samples == 0)
      continue;
    Result<NsysSummary> s = summarise_nsys(*data, {"t", 1, 1, "Dom:step"}, {{"gemm", "gemm"}});
    ASSERT_TRUE(s);
    ASSERT_TRUE(s->uncovered_ms_per_range);
    EXPECT_NEAR(*s->uncovered_ms_per_range, uncovered / static_cast<double>(samples) / 1e6, 1e-12);
  }
}

} // namespace
} // namespace rankscope
