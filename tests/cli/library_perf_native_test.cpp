// Tests rankscope library-perf --runner native with fake libraries: rows with hand-calculated
// times, and libraries that crash, hang or lack functions.
#include "cli/run_binary.h"
#include "temp_folder.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace rankscope {
namespace {

/// 2 * 100 * 50 * 200 operations: 2 us on a fake GPU of 1 TFLOPS, 70000 bytes.
const std::string kLight = "cublasLtMatmul m=100 n=50 k=200 transa=T transb=N atype=R_16BF "
                           "btype=R_16BF ctype=R_16BF dtype=R_16BF compute=COMPUTE_32F "
                           "scale=R_32F epilogue=EPILOGUE_BIAS algo=21";
/// 2 * 100^3 * 8 operations: 16 us, 8 * 3 * 40000 bytes.
const std::string kBatch = "./rocblas-bench -f gemm_strided_batched_ex --transposeA N --transposeB "
                           "N -m 100 -n 100 -k 100 --alpha 1 --a_type f32_r --lda 100 --stride_a "
                           "10000 --b_type f32_r --ldb 100 --stride_b 10000 --beta 0 --c_type "
                           "f32_r --ldc 100 --stride_c 10000 --d_type f32_r --ldd 100 --stride_d "
                           "10000 --batch_count 8 --compute_type f32_r";
const std::string kLarge = "cublasSgemm_v2 transa=CUBLAS_OP_N transb=CUBLAS_OP_N m=20000 n=20000 "
                           "k=20000 lda=20000 ldb=20000 ldc=20000";

std::string trace_of(const test::TempFolder& t) {
  return t.write("library_trace.csv",
                 "jobid,created_date,model,library,config,calls\n0,now,m,cublaslt," + kLight +
                     ",10\n0,now,m,rocblas," + kBatch + ",5\n0,now,m,cublas," + kLarge +
                     ",1\n0,now,m,tensile,Cijk_Ailk_Bljk_HHS,5\n");
}

struct Measured {
  int code = 0;
  std::string table, err;
};
Measured run_with(const std::string& folder, const std::vector<std::string>& more = {}) {
  const test::TempFolder t;
  std::vector<std::string> argv = {
      "library-perf", trace_of(t), "-o",          t.path("p.csv"),
      "--iters",      "10",        "--libraries", std::string(RANKSCOPE_FAKES) + "/" + folder};
  argv.insert(argv.end(), more.begin(), more.end());
  const auto r = test::run_binary(argv);
  return {r.code, r.code == 0 || r.code == 4 ? test::bytes_of(t.path("p.csv")) : "", r.err};
}

TEST(LibraryPerfNative, EachRowHasItsTime) {
  const Measured r = run_with("cuda", {"--runner", "native"});
  ASSERT_EQ(r.code, 0) << r.err;
  // mean of 1.8, 2 and 2.2 us; 2e6 operations in 2 us; 70000 bytes in 2 us; 20 of 100 us in total
  EXPECT_NE(r.table.find("cublaslt," + kLight +
                         ",10,NVIDIA,sm_90,cublasLt,2,0.2,30,1000,35,20,20,"
                         "ok,without its epilogue EPILOGUE_BIAS\n"),
            std::string::npos)
      << r.table;
  EXPECT_NE(
      r.table.find("rocblas," + kBatch + ",5,NVIDIA,sm_90,cublas,16,1.6,30,1000,60,80,80,ok,\n"),
      std::string::npos)
      << r.table;
  EXPECT_NE(r.table.find("NVIDIA,sm_90,cublas,,,,,,,,unsupported,\"Fake H200: needs 4.83 GB of "
                         "memory, but only 1.07 GB are free\"\n"),
            std::string::npos)
      << r.table;
  EXPECT_NE(
      r.table.find(
          "tensile,Cijk_Ailk_Bljk_HHS,5,,,,,,,,,,,unsupported,\"the line has only a kernel name"),
      std::string::npos)
      << r.table;
}

TEST(LibraryPerfNative, OfRocm) {
  const Measured r = run_with("rocm", {"--runner", "native"});
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.table.find(",10,AMD,gfx942,hipblasLt,2,0.2,30,1000,35,"), std::string::npos)
      << r.table;
  EXPECT_NE(r.table.find(",5,AMD,gfx942,rocblas,16,1.6,30,1000,60,"), std::string::npos) << r.table;
}

// HA-M5: implementations of the same products on one machine are compared.
TEST(LibraryPerfNative, ImplementationsAreCompared) {
  const test::TempFolder t;
  const auto r =
      test::run_binary({"library-perf", trace_of(t), "-o", t.path("p.csv"), "--iters", "10",
                        "--runner", "native", "--libraries", std::string(RANKSCOPE_FAKES) + "/rocm",
                        "--implementations", t.path("i.csv")});
  ASSERT_EQ(r.code, 0) << r.err;
  const std::string table = test::bytes_of(t.path("i.csv"));
  // the product of the Lt library takes 2 us; rocBLAS takes as long, algorithm 2 half as long,
  // algorithm 3 twice as long
  const std::string light = "cublaslt," + kLight + ",10,";
  for (const std::string& row : std::vector<std::string>{
           light + "hipblasLt,yes,2,0.2,1000,1,,ok,\n", light + "rocblas,,2,0.2,1000,1,,ok,\n",
           light + "hipblasLt algorithm 2,,1,0.1,2000,0.5,yes,ok,\n",
           light + "hipblasLt algorithm 3,,4,0.4,500,2,,ok,\n"})
    EXPECT_NE(table.find(row), std::string::npos) << row << table;
  EXPECT_EQ(table.find("algorithm 4"), std::string::npos) << "the library lists three: " << table;
  // the product of the BLAS library is also measured with the Lt library
  const std::string batch = "rocblas," + kBatch + ",5,";
  EXPECT_LT(table.find(batch + "rocblas,yes,16,"), table.find(batch + "hipblasLt,,16,")) << table;
  EXPECT_NE(table.find(batch + "hipblasLt algorithm 2,,8,0.8,2000,0.5,yes,ok,"), std::string::npos)
      << table;
  EXPECT_EQ(table.find("tensile"), std::string::npos) << "no product: " << table;
  // 10 x 2 + 5 x 16 us with the recorded implementations
  EXPECT_NE(
      r.out.find(
          "2 of 2 matrix products are faster with another implementation; all calls take 0.100 ms "
          "with the implementations that were called, 0.050 ms with the fastest ones"),
      std::string::npos)
      << r.out;
}

TEST(LibraryPerfNative, TakesWhatHasNoProgram) {
  const Measured automatic = run_with("cuda"); // rocblas-bench is not on PATH
  ASSERT_EQ(automatic.code, 0) << automatic.err;
  EXPECT_NE(automatic.table.find(",5,NVIDIA,sm_90,cublas,16,"), std::string::npos)
      << automatic.table;
  const Measured bench = run_with("cuda", {"--runner", "bench"});
  ASSERT_EQ(bench.code, 4) << bench.err;
  EXPECT_NE(bench.table.find(",rocblas-bench,,,,,,,,missing,"), std::string::npos) << bench.table;
  EXPECT_NE(bench.table.find("unsupported,no bench program for this library"), std::string::npos)
      << bench.table;
}

TEST(LibraryPerfNative, ACrashCostsItsRowsOnly) {
  const Measured r = run_with("cuda_crash", {"--runner", "native"});
  ASSERT_EQ(r.code, 4) << r.err;
  EXPECT_NE(r.table.find("NVIDIA,sm_90,cublasLt,,,,,,,,failed,cublasLt: the library ended the "
                         "process with signal 6 (SIGABRT)\n"),
            std::string::npos)
      << r.table;
  EXPECT_NE(r.table.find("failed,cublas: the library ended the process with signal 6 (SIGABRT)\n"),
            std::string::npos)
      << r.table;
  EXPECT_NE(r.table.find("4.83 GB"), std::string::npos) << "the others go on: " << r.table;
}

TEST(LibraryPerfNative, AHangEndsAtItsTime) {
  const Measured r = run_with("cuda_hang", {"--runner", "native", "--timeout", "4"});
  ASSERT_EQ(r.code, 4) << r.err;
  EXPECT_NE(r.table.find("failed,cublasLt: it did not end in time"), std::string::npos) << r.table;
}

TEST(LibraryPerfNative, WhatIsMissingIsSaid) {
  const Measured symbol = run_with("cuda_no_matmul", {"--runner", "native"});
  ASSERT_EQ(symbol.code, 0) << symbol.err;
  EXPECT_NE(symbol.table.find("has no cublasLtMatmul"), std::string::npos) << symbol.table;
  EXPECT_NE(symbol.table.find(",5,NVIDIA,sm_90,cublas,16,"), std::string::npos)
      << "the other library is whole: " << symbol.table;
  const Measured none = run_with("none");
  ASSERT_EQ(none.code, 4) << none.err;
  EXPECT_NE(none.table.find("; natively: "), std::string::npos) << none.table;
  EXPECT_NE(none.table.find("libamdhip64"), std::string::npos) << none.table;
}

} // namespace
} // namespace rankscope
