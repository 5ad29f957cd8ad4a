// Tests rankscope library-perf with fake programs on PATH.
#include "cli/run_binary.h"
#include "temp_folder.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace rankscope {
namespace {

void add_program(const test::TempFolder& t, const std::string& name, const std::string& script) {
  const std::string path = t.write("bin/" + name, "#!/bin/sh\n" + script);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

TEST(LibraryPerf, MeasuresWithThePrograms) {
  const test::TempFolder t;
  add_program(t, "rocblas-bench",
              "echo \"$@\" >> " + t.path("args") +
                  "\necho 'AMD Instinct gfx942:sramecc+'\necho 'transA,M,rocblas-Gflops,us'\n"
                  "echo 'N,8, 12.5, 40'\n");
  add_program(t, "MIOpenDriver", "echo 'no such solver' >&2\nexit 3\n");
  const std::string csv =
      t.write("library_trace.csv", "jobid,created_date,model,library,config,calls\n"
                                   "0,now,m,miopen,./bin/MIOpenDriver conv -n 1 -F 1,7\n"
                                   "0,now,m,rocblas,./rocblas-bench -f gemm -m 8 -n 8 -k 8,100\n"
                                   "0,now,m,rccl,AllReduce count=8 datatype=f32 op=sum nranks=2,5\n"
                                   "0,now,m,tensile,Cijk_Ailk_Bljk_HHS,5\n");
  const char* const old = std::getenv("PATH"); // NOLINT(concurrency-mt-unsafe)
  const std::string path = old == nullptr ? "" : old;
  ::setenv("PATH", (t.path("bin") + ":" + path).c_str(), 1);
  const auto r = test::run_binary(
      {"library-perf", csv, "-o", t.path("library_perf.csv"), "--repeats", "2", "--iters", "9"});
  ::setenv("PATH", path.c_str(), 1);
  ASSERT_EQ(r.code, 0) << r.err;
  const std::string out = test::bytes_of(t.path("library_perf.csv"));
  EXPECT_NE(out.find("0,now,m,rocblas,./rocblas-bench -f gemm -m 8 -n 8 -k 8,100,AMD,gfx942,"
                     "rocblas-bench,40,0,18,12.5,,4000,100,ok,\n"),
            std::string::npos)
      << out;
  EXPECT_NE(out.find("failed,exit code 3: no such solver"), std::string::npos) << out;
  EXPECT_NE(out.find("all_reduce_perf,,,,,,,,missing,"), std::string::npos) << out;
  EXPECT_NE(out.find("unsupported,"), std::string::npos) << out;
  EXPECT_EQ(test::bytes_of(t.path("args")),
            "-f gemm -m 8 -n 8 -k 8 -i 9 -j 10\n-f gemm -m 8 -n 8 -k 8 -i 9 -j 10\n");
  EXPECT_NE(r.err.find("no such solver"), std::string::npos) << r.err;
  const auto c = test::run_binary({"library-perf", "compare", t.path("library_perf.csv"),
                                   t.path("library_perf.csv"), "-o", t.path("c.csv")});
  EXPECT_EQ(c.code, 0) << c.err;
  EXPECT_NE(c.out.find("1 differ by at most 2 %"), std::string::npos) << c.out;
}

// Both times are those of the configurations with two times, with the calls of A: 10 x 100 us
// against 10 x 50 us.
TEST(LibraryPerf, TheTotalsOfAComparisonHaveTheCallsOfA) {
  const test::TempFolder t;
  const std::string head = "library,config,calls,time_us,status\n";
  const std::string a = t.write("a.csv", head + "r,x,10,100,ok\nr,z,1,,failed\n");
  const std::string b = t.write("b.csv", head + "r,x,20,50,ok\nr,z,1,5,ok\n");
  const auto c = test::run_binary({"library-perf", "compare", a, b, "-o", t.path("c.csv")});
  EXPECT_EQ(c.code, 0) << c.err;
  EXPECT_NE(c.out.find("time of the configurations with both times, with the calls of A: 1.000 ms "
                       "in A, 0.500 ms in B"),
            std::string::npos)
      << c.out;
}

TEST(LibraryPerf, WithoutATraceIsAnError) {
  const test::TempFolder t;
  EXPECT_EQ(test::run_binary({"library-perf", t.path("none.csv")}).code, 3);
  EXPECT_EQ(test::run_binary({"library-perf", "compare", "a"}).code, 2);
}

} // namespace
} // namespace rankscope
