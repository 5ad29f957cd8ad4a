// Tests replay of a library trace: the commands, the output of the programs, and the tables.
#include "collect/library_perf/library_perf.h"
#include "temp_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <string>

namespace rankscope {
namespace {

std::string argv_of(const std::string& library, const std::string& config, bool pin = false) {
  BenchOptions options;
  options.iters = 7;
  options.warm_up = 2;
  options.pin = pin;
  const BenchCommand c = bench_command(library, config, options);
  return c.argv.empty() ? c.status : fmt::format("{}", fmt::join(c.argv, " "));
}

TEST(BenchCommand, OfEachLibrary) {
  EXPECT_EQ(argv_of("rocblas", "./rocblas-bench -f gemm_ex -m 8 -n 8 -k 8"),
            "rocblas-bench -f gemm_ex -m 8 -n 8 -k 8 -i 7 -j 2");
  EXPECT_EQ(argv_of("hipblaslt", "hipblaslt-bench -m 8 --algo_method index --solution_index 5 "
                                 "--activation_type none"),
            "hipblaslt-bench -m 8 --activation_type none --algo_method heuristic --iters 7 "
            "--cold_iters 2");
  EXPECT_EQ(
      argv_of("hipblaslt", "hipblaslt-bench -m 8 --algo_method index --solution_index 5", true),
      "hipblaslt-bench -m 8 --algo_method index --solution_index 5 --iters 7 --cold_iters 2");
  EXPECT_EQ(argv_of("miopen", "./bin/MIOpenDriver conv -n 1 -F 1 -t 0"),
            "MIOpenDriver conv -n 1 -F 1 -t 1 -V 0 -i 7");
  EXPECT_EQ(argv_of("rccl", "AllReduce count=1000 datatype=bf16 op=max nranks=8"),
            "all_reduce_perf -b 2000 -e 2000 -d bfloat16 -g 8 -n 7 -w 2 -c 0 -o max");
  EXPECT_EQ(argv_of("rccl", "AllGather count=1000 datatype=f32 nranks=4"),
            "all_gather_perf -b 16000 -e 16000 -d float -g 4 -n 7 -w 2 -c 0")
      << "rccl-tests count the whole message";
}

TEST(BenchCommand, WhatCannotBeMeasuredSaysWhy) {
  EXPECT_EQ(argv_of("miopen_find", "./bin/MIOpenDriver conv -n 1"), "skipped");
  EXPECT_EQ(argv_of("rccl", "Recv count=1 datatype=f32 nranks=2"), "skipped");
  for (const char* library : {"tensile", "rocblas_function", "cublaslt", "cudnn", "other"})
    EXPECT_EQ(argv_of(library, "x y"), "unsupported") << library;
  EXPECT_EQ(argv_of("rccl", "AllReduce count=x datatype=f32 nranks=2"), "unsupported");
  EXPECT_EQ(argv_of("rocblas", "(further configurations)"), "unsupported");
  EXPECT_FALSE(bench_command("tensile", "x", {}).why.empty());
}

// HA-E19: the table may be from an untrusted source, and its options are passed to a program.
TEST(BenchCommand, OptionsThatReadOrWriteFilesAreRefused) {
  const std::pair<const char*, const char*> rows[] = {
      {"rocblas", "rocblas-bench -f gemm --data x.dat"},
      {"rocblas", "rocblas-bench --yaml=x.yaml"},
      {"rocblas", "rocblas-bench -f gemm --log_file x"},
      {"rocblas", "rocblas-bench -f /etc/passwd"},
      {"hipblaslt", "hipblaslt-bench -m 8 --data x"},
      {"hipblaslt", "hipblaslt-bench -m 8 --yaml x"},
      {"miopen", "./bin/MIOpenDriver conv -n 1 -o 1"},
      {"miopen", "./bin/MIOpenDriver conv -n 1 --dump_output 1"},
      {"miopen", "./bin/MIOpenDriver conv -n 1 -d in.bin"},
      {"miopen", "./bin/MIOpenDriver convfp16 --weights w.bin"},
      {"miopen", "./bin/MIOpenDriver bnorm --dump_output=1"}};
  for (const auto& [library, config] : rows)
    for (const bool as_written : {false, true}) {
      BenchOptions options;
      options.as_written = as_written;
      const BenchCommand command = bench_command(library, config, options);
      EXPECT_TRUE(command.argv.empty()) << config;
      EXPECT_EQ(command.status, "unsupported") << config;
      EXPECT_NE(command.why.find("reads or writes files"), std::string::npos) << command.why;
    }
  // for other operations, options with the same letters take numbers
  EXPECT_EQ(argv_of("miopen", "./bin/MIOpenDriver bnorm -n 1 -D 3 -d 4"),
            "MIOpenDriver bnorm -n 1 -D 3 -d 4 -t 1 -V 0 -i 7");
}

TEST(BenchOutput, OfRocblasAndHipblaslt) {
  const auto rocblas = parse_bench_output(
      "rocblas", "Device ID 0 : AMD Radeon Pro W7900 Dual Slot gfx1100\n"
                 "transA,transB,M,N,K,alpha,lda,beta,ldb,ldc,ldd,batch_count,rocblas-Gflops,us\n"
                 "T,N,13824,4547,4608,1,4608,0,4608,13824,13824,1, 68121, 8503.93\n");
  ASSERT_TRUE(rocblas.has_value());
  EXPECT_DOUBLE_EQ(rocblas->time_us, 8503.93);
  EXPECT_DOUBLE_EQ(rocblas->gflops.value(), 68121);
  EXPECT_EQ(rocblas->architecture, "gfx1100");
  const auto hipblaslt =
      parse_bench_output("hipblaslt", "Device ID 0 : AMD Instinct MI350X gfx950:sramecc+:xnack-\n"
                                      "[0]:transA,transB,m,n,k,hipblaslt-Gflops,hipblaslt-GB/s,us\n"
                                      "    T,N,106496,8192,16384,1.30708e+06,234.327,21871.2\n"
                                      "    --Solution index: 302128\n");
  ASSERT_TRUE(hipblaslt.has_value());
  EXPECT_DOUBLE_EQ(hipblaslt->time_us, 21871.2);
  EXPECT_DOUBLE_EQ(hipblaslt->gflops.value(), 1.30708e6);
  EXPECT_DOUBLE_EQ(hipblaslt->gbps.value(), 234.327);
  EXPECT_EQ(hipblaslt->architecture, "gfx950");
}

TEST(BenchOutput, OfMiopenAndRcclTests) {
  const auto conv = parse_bench_output(
      "miopen",
      "GPU Kernel Time Forward Conv. Elapsed: 36.705635 ms (average)\n"
      "stats: name, n, c, ho, wo, x, y, k, flopCnt, bytesRead, bytesWritten, GFLOPs, GB/s, timeMs\n"
      "stats: fwd-conv3x3u1, 256, 1024, 7, 7, 3, 3, 1024,  236760072192, 89128960, 51380224, 6450, "
      "4, 36.705635\n");
  ASSERT_TRUE(conv.has_value());
  EXPECT_DOUBLE_EQ(conv->time_us, 36705.635);
  EXPECT_DOUBLE_EQ(conv->gflops.value(), 6450);
  const auto other = parse_bench_output("miopen", "GPU Kernel Time Softmax Elapsed: 0.5 ms\n");
  ASSERT_TRUE(other.has_value());
  EXPECT_DOUBLE_EQ(other->time_us, 500);
  const auto rccl = parse_bench_output(
      "rccl",
      "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
      "        2000          1000  bfloat16     max      -1    35.26    0.06    0.10      0    "
      "33.1  0.06  0.11  0\n# Avg bus bandwidth    : 0.10\n");
  ASSERT_TRUE(rccl.has_value());
  EXPECT_DOUBLE_EQ(rccl->time_us, 35.26);
  for (const char* text : {"", "us\n", "a,us\n1,nan\n", "a,us\n1,-3\n", "a,us\n1\n"})
    EXPECT_FALSE(parse_bench_output("rocblas", text).has_value()) << text;
}

TEST(LibraryPerf, RowsAreMergedAndSortedByTotalTime) {
  const test::TempFolder t;
  const std::string csv =
      t.write("library_trace.csv", "jobid,created_date,model,library,config,calls\r\n"
                                   "0,now,m,rocblas,\"a, \"\"b\"\"\",3\r\n"
                                   "0,now,m,rocblas,c,10\r\n"
                                   "0,now,m,rocblas,\"a, \"\"b\"\"\",2\r\n"
                                   "0,now,m,tensile,c,1\r\n");
  auto rows = read_trace_rows(csv);
  ASSERT_TRUE(rows.has_value()) << rows.error().message();
  ASSERT_EQ(rows->size(), 3U);
  EXPECT_EQ((*rows)[0].config, "a, \"b\"");
  EXPECT_EQ((*rows)[0].calls, 5U);
  (*rows)[0].time_us = 10; // 50 in total
  (*rows)[1].time_us = 15; // 150
  (*rows)[2].status = "unsupported";
  const std::string out = t.path("library_perf.csv");
  ASSERT_TRUE(write_perf_table(out, *rows).has_value());
  const auto table = read_csv(out, {"total_us", "share_pct", "status"});
  ASSERT_TRUE(table.has_value());
  ASSERT_EQ(table->size(), 3U);
  EXPECT_EQ((*table)[0].at("config"), "c");
  EXPECT_EQ((*table)[0].at("total_us"), "150");
  EXPECT_EQ((*table)[0].at("share_pct"), "75");
  EXPECT_EQ((*table)[2].at("status"), "unsupported") << "never dropped";
  EXPECT_EQ((*table)[2].at("total_us"), "");
}

TEST(LibraryPerf, TablesThatAreNoneAreErrors) {
  const test::TempFolder t;
  EXPECT_FALSE(read_trace_rows(t.path("none.csv")).has_value());
  EXPECT_FALSE(read_trace_rows(t.write("a.csv", "library,config\nx,y\n")).has_value());
  const auto short_row =
      read_trace_rows(t.write("b.csv", "jobid,created_date,model,library,config,calls\n0,now,m\n"));
  ASSERT_FALSE(short_row.has_value());
  EXPECT_NE(short_row.error().message().find("row 2"), std::string::npos);
}

TEST(LibraryPerf, TwoMachinesSideBySide) {
  const test::TempFolder t;
  const std::string head = "library,config,calls,time_us,status\n";
  const std::string a = t.write("a.csv", head + "r,x,10,100,ok\nr,y,1,50,ok\nr,z,1,,failed\n"
                                                "r,v,1,100,ok\n");
  const std::string b = t.write("b.csv", head + "r,x,99,80,ok\nr,y,1,60,ok\nr,z,1,5,ok\n"
                                                "r,w,1,5,ok\nr,v,1,101,ok\n");
  const auto c = compare_perf_tables(a, b, t.path("c.csv"));
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(c->a_wins, 1U);
  EXPECT_EQ(c->b_wins, 1U);
  EXPECT_EQ(c->same, 1U);
  EXPECT_EQ(c->not_comparable, 2U);
  EXPECT_DOUBLE_EQ(c->a_total_us, 1150);
  EXPECT_DOUBLE_EQ(c->b_total_us, 961);
  const auto rows = read_csv(t.path("c.csv"), {"ratio", "winner"});
  ASSERT_TRUE(rows.has_value());
  ASSERT_EQ(rows->size(), 5U);
  EXPECT_EQ((*rows)[0].at("config"), "x");
  EXPECT_EQ((*rows)[0].at("ratio"), "0.8");
  EXPECT_EQ((*rows)[0].at("winner"), "B");
}

} // namespace
} // namespace rankscope
