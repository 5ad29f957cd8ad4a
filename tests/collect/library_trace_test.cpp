// Tests logs of libraries in the formats of their sources and documents: rows, counts, work,
// damage.
#include "collect/library_trace/library_trace.h"
#include "collect/library_trace/line_splitter.h"
#include "temp_folder.h"
#include "test_paths.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

namespace rankscope {
namespace {

/// Traces one stream; has the rows of its two tables by column name.
class Traced {
public:
  using Row = std::map<std::string, std::string>;

  explicit Traced(const std::string& log, LibraryTraceOptions options = {}, std::size_t piece = 0) {
    options.csv = out_.path("library_trace.csv");
    options.detail_csv = out_.path("library_trace_detail.csv");
    options.model = "model";
    options.job_id = "7";
    options.created = "2026-01-02 03:04:05";
    LibraryTrace trace(options);
    for (std::size_t i = 0; i < log.size(); i += piece == 0 ? log.size() : piece)
      trace.feed(1, std::string_view(log).substr(i, piece == 0 ? log.size() : piece), 0.5, &others);
    trace.end(1, &others);
    auto finished = trace.finish();
    EXPECT_TRUE(finished.has_value());
    if (finished)
      summary = *finished;
    csv = test::bytes_of(options.csv);
    detail_csv = test::bytes_of(options.detail_csv);
    rows = rows_of(csv);
    detail = rows_of(detail_csv);
  }

  [[nodiscard]] LibraryCount count(LogKind kind) const {
    for (const LibraryCount& c : summary.counts)
      if (c.kind == kind)
        return c;
    return {};
  }

  LibraryTraceSummary summary;
  std::string csv, detail_csv, others;
  std::vector<Row> rows, detail;

private:
  static std::vector<std::string> cells(const std::string& line) {
    std::vector<std::string> out(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"')
        quoted = !quoted;
      else if (c == ',' && !quoted)
        out.emplace_back();
      else
        out.back() += c;
    }
    return out;
  }
  static std::vector<Row> rows_of(const std::string& text) {
    std::vector<Row> out;
    std::vector<std::string> names;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      const std::vector<std::string> line = cells(text.substr(begin, end - begin));
      if (names.empty()) {
        names = line;
      } else {
        EXPECT_EQ(line.size(), names.size());
        Row row;
        for (std::size_t i = 0; i < std::min(line.size(), names.size()); ++i)
          row[names[i]] = line[i];
        out.push_back(std::move(row));
      }
      begin = end + 1;
    }
    return out;
  }
  test::TempFolder out_;
};

const std::string kRocblas =
    "./rocblas-bench -f gemm_ex --transposeA N --transposeB T -m 1024 -n 512 -k 256 --alpha 1 "
    "--a_type bf16_r --lda 1024 --b_type bf16_r --ldb 512 --beta 0 --c_type bf16_r --ldc 1024 "
    "--d_type bf16_r --ldd 1024 --compute_type f32_r --algo 0 --solution_index 5 --flags 0 ";

TEST(LibraryTrace, RocblasBenchLines) {
  const Traced t("[rank3]: " + kRocblas + "\r\n" + kRocblas + "\nepoch 1 loss 0.5\n" +
                 "\x1b[32m[rank4]:\x1b[0m " + kRocblas + "\x1b[0m\n");
  ASSERT_EQ(t.rows.size(), 1U) << t.csv;
  Traced::Row r = t.rows[0];
  EXPECT_EQ(t.csv.substr(0, t.csv.find('\n')), "jobid,created_date,model,library,config,calls");
  EXPECT_EQ(r["jobid"], "7");
  EXPECT_EQ(r["created_date"], "2026-01-02 03:04:05");
  EXPECT_EQ(r["model"], "model");
  EXPECT_EQ(r["library"], "rocblas");
  EXPECT_EQ(r["config"], kRocblas.substr(0, kRocblas.size() - 1));
  EXPECT_EQ(r["calls"], "3");
  Traced::Row d = t.detail.at(0);
  EXPECT_EQ(d["operation"], "gemm_ex");
  EXPECT_EQ(d["dtype"], "bf16_r");
  EXPECT_EQ(d["problem"], "m=1024 n=512 k=256");
  EXPECT_EQ(d["layout"], "NT");
  EXPECT_EQ(d["solution"], "5");
  EXPECT_EQ(d["flops"], "805306368"); // 3 * 2 * 1024 * 512 * 256
  // 3 * 2 bytes * (1024 * 256 + 256 * 512 + 1024 * 512); C is not read, because beta is 0
  EXPECT_EQ(d["bytes"], "5505024");
  EXPECT_EQ(d["ranks"], "2");
  EXPECT_EQ(d["first_s"], "0.500000");
  EXPECT_EQ(t.others, "epoch 1 loss 0.5\n");
}

TEST(LibraryTrace, RocblasOfOlderReleasesAndVectors) {
  const Traced t(
      "./rocblas-bench -f gemm_strided_batched -r f32_r --transposeA T --transposeB N -m "
      "8 -n 4 -k 2 --alpha 1 --lda 2 --stride_a 16 --ldb 2 --stride_b 8 --beta 0.5 --ldc "
      "8 --stride_c 32 --batch_count 10 \n"
      "./rocblas-bench --api 1 -f axpy -r f64_r -n 1000 --alpha -1.5e-3 --incx 1 --incy 1 "
      "\n");
  ASSERT_EQ(t.detail.size(), 2U) << t.csv;
  Traced::Row gemm = t.detail[1], axpy = t.detail[0];
  if (axpy["operation"] != "axpy")
    std::swap(gemm, axpy);
  EXPECT_EQ(gemm["problem"], "m=8 n=4 k=2 batch=10");
  EXPECT_EQ(gemm["dtype"], "f32_r");
  EXPECT_EQ(gemm["flops"], "1280");
  EXPECT_EQ(gemm["bytes"], "3520"); // 10 * 4 * (16 + 8 + 32 + 32)
  EXPECT_EQ(axpy["flops"], "2000");
  EXPECT_EQ(axpy["bytes"], "24000");
  EXPECT_TRUE(t.summary.silent.empty());
}

TEST(LibraryTrace, RocblasProfileRecordsCountTheirCalls) {
  const std::string record =
      "- { rocblas_function: \"rocblas_gemm_ex\", atomics_mode: atomics_allowed, a_type: "
      "\"bf16_r\", b_type: \"bf16_r\", c_type: \"bf16_r\", d_type: \"bf16_r\", compute_type: "
      "\"f32_r\", transA: 'T', transB: 'N', M: 12288, N: 4547, K: 4608, alpha: 1.0, lda: 4608, "
      "beta: 0.0, ldb: 4608, ldc: 12288, ldd: 12288, batch_count: 1, algo: 0, solution_index: 0, "
      "flags: none, call_count: ";
  const Traced t(record + "136 }\n" + record + "4 }\n");
  ASSERT_EQ(t.rows.size(), 1U) << t.csv;
  Traced::Row r = t.rows[0], d = t.detail[0];
  EXPECT_EQ(r["library"], "rocblas_function");
  EXPECT_EQ(r["calls"], "140");
  EXPECT_EQ(r["config"].find("call_count"), std::string::npos);
  EXPECT_EQ(d["problem"], "m=12288 n=4547 k=4608");
  EXPECT_EQ(d["layout"], "TN");
  EXPECT_EQ(d["flops"], "72090271088640"); // 140 * 2 * 12288 * 4547 * 4608
}

// HA-B36: in the format of hipBLASLt at mask 64.
TEST(LibraryTrace, HipblasltProfileRecordsCountTheirCalls) {
  const Traced t("- { function: matmul, M: 128, N: 256, K: 64, a_type: bf16_r, b_type: bf16_r, "
                 "c_type: bf16_r, d_type: bf16_r, transA: T, transB: N, batch_count: 1, "
                 "call_count: 7 }\n");
  ASSERT_EQ(t.rows.size(), 1U) << t.csv;
  Traced::Row r = t.rows[0], d = t.detail[0];
  EXPECT_EQ(r["library"], "hipblaslt_function");
  EXPECT_EQ(r["calls"], "7");
  EXPECT_EQ(d["problem"], "m=128 n=256 k=64");
  EXPECT_EQ(d["operation"], "matmul");
}

// HA-E20: the sum wrapped around at 2^64.
TEST(LibraryTrace, CountsThatDoNotFitStayAtTheLargestNumber) {
  const std::string record = "- { rocblas_function: \"rocblas_gemm_ex\", transA: 'T', transB: 'N', "
                             "M: 1, N: 1, K: 1, call_count: 9223372036854775807 }\n";
  const Traced t(record + record + record);
  ASSERT_EQ(t.rows.size(), 1U) << t.csv;
  Traced::Row r = t.rows[0];
  EXPECT_EQ(r["calls"], "18446744073709551615");
}

TEST(LibraryTrace, RocblasTraceLinesWithoutTheirAddresses) {
  const Traced t("rocblas_dgemm,N,T,64,32,16,1,0x7fa1,64,0x7fb2,32,0,0x7fc3,64,atomics_allowed\n"
                 "rocblas_dgemm,N,T,64,32,16,1,0x1111,64,0x2222,32,0,0x3333,64,atomics_allowed\n"
                 "the rocblas_dgemm, as they say\n");
  ASSERT_EQ(t.rows.size(), 1U) << t.csv;
  Traced::Row r = t.rows[0], d = t.detail[0];
  EXPECT_EQ(r["library"], "rocblas_trace");
  EXPECT_EQ(r["calls"], "2");
  EXPECT_EQ(r["config"], "rocblas_dgemm,N,T,64,32,16,1,ptr,64,ptr,32,0,ptr,64,atomics_allowed");
  EXPECT_EQ(d["flops"], "131072");
  EXPECT_EQ(t.others, "the rocblas_dgemm, as they say\n");
}

// A product of complex numbers has 8 flops per multiply-add, and the flops of a batch are those of
// all its products.
TEST(LibraryTrace, FlopsCountComplexNumbersAndBatches) {
  const Traced t(
      "rocblas_zgemm,N,T,64,32,16,1,0x1,64,0x2,32,0,0x3,64,atomics_allowed\n"
      "rocblas_sgemm_strided_batched,N,N,128,64,32,1,0x1,128,16384,0x2,128,16384,0,0x3,128,16384,8,"
      "atomics_allowed\n"
      "rocblas_dgemm_batched,N,N,2,2,2,1,0x1,2,0x2,2,0,0x3,2,5,atomics_allowed\n"
      "rocblas_hgemm_batched,N,N,2,2,2,1,0x1,2,0x2,2,0,0x3,2\n"
      "rocblas_gemm_ex,N,N,64,32,16,1,0x1,f32_c,64,0x2,f32_c,16,0,0x3,f32_c,64,0x3,f32_c,64,f32_c,"
      "0,0,none,atomics_allowed\n"
      "rocblas_gemm_strided_batched_ex,N,N,2,2,2,1,0x1,f16_r,2,4,0x2,f16_r,2,4,0,0x3,f16_r,2,4,0x3,"
      "f16_r,2,4,3,f32_r,0,0,none\n"
      "rocblas_sgemmt,U,N,T,64,32,1,0x1,64,0x2,64,0,0x3,64\n"
      "- { rocblas_function: \"rocblas_cgemm\", transA: 'N', transB: 'T', M: 64, N: 32, K: 16, "
      "beta: 0, call_count: 1 }\n"
      "./rocblas-bench -f gemv_strided_batched -r f32_r --transposeA N -m 128 -n 64 "
      "--batch_count 10\n"
      "./rocblas-bench -f scal --a_type f32_c --b_type f32_r -n 100\n"
      "./rocblas-bench -f dotc -r f64_c -n 100\n"
      "./rocblas-bench -f gemmt -r f32_r --transposeA N --transposeB T -n 64 -k 32 --ldc 64\n"
      "I! cuBLAS (v13) function cublasStatus_t cublasZgemm_v2(cublasHandle_t, int) called:\n"
      "i!  m: type=int; val=64\ni!  n: type=int; val=32\ni!  k: type=int; val=16\n"
      "i!Process=1; Thread=1; GPU=0\n"
      "I! cuBLAS (v13) function cublasStatus_t cublasZhemm_v2(cublasHandle_t, int) called:\n"
      "i!  m: type=int; val=64\ni!  n: type=int; val=32\ni!Process=1; Thread=1; GPU=0\n"
      "[cublasLt][1][Trace][cublasLtTSTMatmul] A=0X1 Adesc=[type=C_32F rows=64 cols=16 ld=64] "
      "B=0X2 "
      "Bdesc=[type=C_32F rows=16 cols=32 ld=16] C=0X3 Cdesc=[type=C_32F rows=64 cols=32 ld=64] "
      "D=0X4 "
      "Ddesc=[type=C_32F rows=64 cols=32 ld=64] computeDesc=[computeType=COMPUTE_32F] beta=0\n");
  std::map<std::string, Traced::Row> by_operation;
  for (const Traced::Row& row : t.detail) {
    EXPECT_EQ(row.at("damaged"), "") << row.at("library");
    by_operation[row.at("operation")] = row;
  }
  struct {
    const char *operation, *dtype, *problem, *flops;
  } const expected[] = {
      {"zgemm", "z", "m=64 n=32 k=16", "262144"},
      {"sgemm_strided_batched", "s", "m=128 n=64 k=32 batch=8", "4194304"},
      {"dgemm_batched", "d", "m=2 n=2 k=2 batch=5", "80"},
      {"hgemm_batched", "h", "m=2 n=2 k=2", ""}, // without its batch count
      {"gemm_ex", "f32_c", "m=64 n=32 k=16", "262144"},
      {"gemm_strided_batched_ex", "f16_r", "m=2 n=2 k=2 batch=3", "48"},
      {"sgemmt", "", "", ""},
      {"rocblas_cgemm", "c", "m=64 n=32 k=16", "262144"},
      {"gemv_strided_batched", "f32_r", "m=128 n=64 batch=10", "163840"},
      {"scal", "f32_c", "n=100", "200"},
      {"dotc", "f64_c", "n=100", "800"},
      {"gemmt", "f32_r", "n=64", ""},
      {"cublasZgemm_v2", "z", "m=64 n=32 k=16", "262144"},
      {"cublasZhemm_v2", "", "", ""},
      {"cublasLtMatmul", "C_32F", "m=64 n=32 k=16", "262144"},
  };
  EXPECT_EQ(by_operation.size(), std::size(expected)) << t.detail_csv;
  for (const auto& e : expected) {
    Traced::Row row = by_operation[e.operation];
    EXPECT_EQ(row["dtype"], e.dtype) << e.operation;
    EXPECT_EQ(row["problem"], e.problem) << e.operation;
    EXPECT_EQ(row["flops"], e.flops) << e.operation;
  }
  EXPECT_EQ(by_operation["gemv_strided_batched"]["bytes"], "335360"); // 10 * 4 * (8192 + 128 + 64)
  EXPECT_EQ(by_operation["rocblas_cgemm"]["bytes"], "28672");         // 8 * (1024 + 512 + 2048)
}

const std::string kHipblaslt =
    "hipblaslt-bench --api_method c -m 1024 -n 512 -k 1024 --lda 1024 --ldb 1024 --ldc 1024 --ldd "
    "1024  --stride_a 0 --stride_b 0 --stride_c 0 --stride_d 0  --alpha 1.000000 --beta 1.000000 "
    "--transA N --transB N --batch_count 1  --a_type f16_r --b_type f16_r --c_type f16_r --d_type "
    "f16_r --scale_type f32_r --bias_type f32_r   --compute_type f32_r --algo_method index "
    "--solution_index ";

TEST(LibraryTrace, HipblasltLinesWithoutHowTheyWereMeasured) {
  const Traced t(kHipblaslt +
                 "56073 --activation_type none --rotating 0 --cold_iters 0 --iters 0 \n" +
                 "/opt/rocm/bin/" + kHipblaslt +
                 "56073 --activation_type none --any_stride --flush "
                 "--rotating 512 --cold_iters 2 --iters 10\n" +
                 kHipblaslt + "7 --activation_type none\n");
  ASSERT_EQ(t.rows.size(), 3U) << t.csv;
  for (Traced::Row r : t.rows) {
    EXPECT_EQ(r["library"], "hipblaslt");
    EXPECT_EQ(r["config"].find("iters"), std::string::npos);
    EXPECT_EQ(r["config"].find("  "), std::string::npos);
    EXPECT_EQ(r["config"].find("hipblaslt-bench --api_method c -m 1024"), 0U);
  }
  Traced::Row d = t.detail[0];
  EXPECT_EQ(d["operation"], "matmul");
  EXPECT_EQ(d["problem"], "m=1024 n=512 k=1024");
  EXPECT_EQ(d["layout"], "NN");
  EXPECT_EQ(d["flops"], "1073741824");
  EXPECT_EQ(d["bytes"], "5242880"); // 2 * (2^20 + 2^19 + 2 * 2^19)
}

TEST(LibraryTrace, HipblasltGroupedProblemsAdd) {
  const Traced t(
      "hipblaslt-bench --api_method cpp -m 64 128 -n 32 32 -k 16 16 --lda 64 128 --ldb 16 "
      "16 --ldc 64 128 --ldd 64 128 --alpha 1 --beta 0 --transA N --transB N "
      "--batch_count 1 --a_type f8_r --b_type f8_r --c_type bf16_r --d_type bf16_r "
      "--compute_type f32_r --scaleA 1 --scaleB 1 --bias_vector --bias_source d\n");
  ASSERT_EQ(t.detail.size(), 1U) << t.summary.silent.size();
  Traced::Row d = t.detail[0];
  EXPECT_EQ(d["operation"], "grouped matmul");
  EXPECT_EQ(d["problem"], "m=64 n=32 k=16; m=128 n=32 k=16");
  EXPECT_EQ(d["flops"], "196608"); // 2 * (64 + 128) * 32 * 16
}

const std::string kConv =
    "./bin/MIOpenDriver conv -n 1 -c 1 -H 8 -W 8 -k 1 -y 3 -x 3 -p 1 -q 1 -u 1 "
    "-v 1 -l 1 -j 1 -m conv -g 1 -F ";

TEST(LibraryTrace, MiopenInEveryPrefix) {
  const Traced t("MIOpen(HIP): Command [LogCmdConvolution] " + kConv + "1 -t 1\n" +
                 "MIOpen: Command [LogCmdConvolution] " + kConv + "1 -t 1\n" +
                 "(EngineCore pid=594) MIOpen(HIP): Command [LogCmdConvolution] " + kConv +
                 "1 -t 1\r\n" + "host 77_78 MIOpen(OpenCL) 12.345 (2026-01-01): Command " +
                 "[LogCmdConvolution] " + kConv + "1 -t 1\n" + "LogCmdConvolution: " + kConv +
                 "1 -t 1\n" + "MIOpen(HIP): Command [LogCmdFindConvolution] " + kConv + "1 -t 1\n" +
                 "MIOpen(HIP): Command [LogCmdConvolution] " + kConv + "4 -t 1\n" +
                 "+ /opt/rocm/bin/MIOpenDriver conv -n 1 -c 1\n");
  ASSERT_EQ(t.rows.size(), 3U) << t.csv;
  Traced::Row calls = t.rows[0], weights = t.rows[1], find = t.rows[2];
  EXPECT_EQ(calls["library"], "miopen");
  EXPECT_EQ(calls["calls"], "5");
  EXPECT_EQ(calls["config"], kConv + "1 -t 1");
  EXPECT_EQ(weights["calls"], "1");
  EXPECT_EQ(find["library"], "miopen_find") << "searches are no executions";
  EXPECT_EQ(find["calls"], "1");
  Traced::Row d = t.detail[0];
  EXPECT_EQ(d["operation"], "conv forward");
  EXPECT_EQ(d["dtype"], "f32");
  EXPECT_EQ(d["problem"], "n=1 c=1 h=8 w=8 k=1 y=3 x=3");
  EXPECT_EQ(d["flops"], "5760"); // 5 times the driver's flopCnt of this problem, 1152
  EXPECT_EQ(d["processes"], "2");
  EXPECT_EQ(t.detail[1].at("operation"), "conv backward weights");
  EXPECT_EQ(t.others, "+ /opt/rocm/bin/MIOpenDriver conv -n 1 -c 1\n")
      << "somebody ran the driver: that is no call of the program";
}

TEST(LibraryTrace, MiopenOperationsAndTypes) {
  const Traced t(
      "MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver convbfp16 -n 32 -c 128 -H 200 "
      "-W "
      "200 -k 128 -y 3 -x 3 -p 0 -q 0 -u 1 -v 1 -l 1 -j 1 -m conv -g 32 -F 1 -t 1 --in_layout "
      "NHWC\n"
      "MIOpen(HIP): Command [LogCmdBNorm] ./bin/MIOpenDriver bnorm -n 4 -c 8 -H 2 -W 2 -m 1 --forw "
      "1 "
      "-b 0 -r 1 -s 1 --layout NHWC\n"
      "MIOpen(HIP): Command [LogCmdRNN] MIOpenDriver.exe rnn -n 256 -W 30 -H 256 -l 2 -b 1 -m lstm "
      "-p 0 -r 0 -q 0 -k 45 -c 0 -F 1 -t 1 -w 1\n");
  ASSERT_EQ(t.detail.size(), 3U) << t.csv;
  std::map<std::string, Traced::Row> by_operation;
  for (const Traced::Row& d : t.detail)
    by_operation[d.at("operation")] = d;
  Traced::Row conv = by_operation["convbfp16 forward"];
  EXPECT_EQ(conv["dtype"], "bf16");
  EXPECT_EQ(conv["layout"], "NHWC");
  EXPECT_EQ(conv["flops"], "11561730048"); // MIOpenDriver's flopCnt of this problem
  EXPECT_EQ(by_operation["bnorm"]["layout"], "NHWC");
  EXPECT_EQ(by_operation["bnorm"]["flops"], "") << "not known is empty";
  EXPECT_EQ(by_operation.count("rnn"), 1U);
}

TEST(LibraryTrace, TensileKernelsAreDecoded) {
  const std::string name = "Cijk_Ailk_Bjlk_HHS_BH_Bias_MT128x96x64_MI16x16x1_GSU4_SK3_ISA942_K1";
  const Traced t("[rank0]: Running kernel: " + name + "\n" +
                 "Library logic solution index of winning solution: 39\n" +
                 "Running kernel: " + name + "\n" + "Running kernel: my_kernel_of_my_own\n");
  ASSERT_EQ(t.rows.size(), 1U) << t.csv;
  Traced::Row r = t.rows[0], d = t.detail[0];
  EXPECT_EQ(r["library"], "tensile");
  EXPECT_EQ(r["config"], name);
  EXPECT_EQ(r["calls"], "2");
  EXPECT_EQ(d["layout"], "NT");
  EXPECT_EQ(d["dtype"], "HHS");
  EXPECT_EQ(d["problem"], "MT128x96x64 MI16x16x1 GSU4 SK3 ISA942");
  EXPECT_EQ(t.others, "Running kernel: my_kernel_of_my_own\n");
}

TEST(LibraryTrace, RcclCallsHaveOneTextPerConfiguration) {
  const Traced t(
      "n1:52937:52937 [0] NCCL INFO AllReduce: opCount 3 sendbuff 0x7f8bcc recvbuff 0x7f8bcc count "
      "268435456 datatype 6 op 0 root 0 comm 0xaef8a00 [nranks=8] stream 0xac16b80 task 0 "
      "globalrank "
      "0\n"
      "n1:52939:52939 [2] NCCL INFO AllReduce: opCount 1e7 sendbuff 0x1 recvbuff 0x2 count "
      "268435456 "
      "datatype 6 op 0 root 0 comm 0xac3ea00 [nranks=8] stream (nil)\n"
      "n1:52939:52939 [2] 1558545003174220 NCCL INFO AllGather: opCount 4 sendbuff 0x1 recvbuff "
      "0x2 "
      "count 100 datatype 9 op 0 root 0 comm 0xac3ea00 [nranks=8] stream 0x1\n"
      "[7] NCCL INFO Broadcast: opCount 2 sendbuff 0x7f recvbuff 0x7f count 1 datatype 7 op 0 root "
      "3 "
      "comm 0x5 [nranks=128] stream 0x5\n"
      "n1:5:5 [0] NCCL INFO Send: opCount 2 sendbuff 0x7f recvbuff (nil) count 10 datatype 7 op 0 "
      "root 3 comm 0x5 [nranks=16] stream 0x5\n"
      "n1:5:5 [0] NCCL INFO ncclCommInitRank comm 0x5 rank 0 nranks 16 - Init COMPLETE\n");
  std::map<std::string, Traced::Row> by_config, detail;
  for (const Traced::Row& r : t.rows)
    by_config[r.at("config")] = r;
  for (const Traced::Row& d : t.detail)
    detail[d.at("operation")] = d;
  ASSERT_EQ(t.rows.size(), 4U) << t.csv;
  EXPECT_EQ(by_config["AllReduce count=268435456 datatype=f16 op=sum nranks=8"]["calls"], "2");
  EXPECT_EQ(by_config["AllReduce count=268435456 datatype=f16 op=sum nranks=8"]["library"], "rccl");
  EXPECT_EQ(by_config.count("AllGather count=100 datatype=bf16 nranks=8"), 1U);
  EXPECT_EQ(by_config.count("Broadcast count=1 datatype=f32 root=3 nranks=128"), 1U);
  EXPECT_EQ(by_config.count("Send count=10 datatype=f32 nranks=16"), 1U)
      << "root is the peer there";
  EXPECT_EQ(detail["AllReduce"]["bytes"], "1073741824"); // 2 * 2^28 * 2
  EXPECT_EQ(detail["AllReduce"]["processes"], "2");
  EXPECT_EQ(detail["AllGather"]["bytes"], "1600"); // count is per rank
  EXPECT_NE(t.others.find("Init COMPLETE"), std::string::npos);
}

TEST(LibraryTrace, RcclKernelsOfSeveralReleases) {
  const Traced t(
      "h:1:2 [0] NCCL INFO ## [170260.347287] [07:00] 000001 KL HWID 42300700 "
      "ncclDevFunc_AllReduce_RING_LL_Sum_double nw 4 bi 0 nc 0 busId df000 nRanks 8\n"
      "h:1:2 [0] NCCL INFO ## [170260.348516] [06:00] 000001 KE busId bf000 nRanks 8\n"
      "h:1:2 [2] NCCL INFO ## [951297.535389] [170:00-00:00] 000000 KL HWID   302510 "
      "ncclDevFunc_AllReduce_RING_LL_Sum_f32 nw 4 bi 0 nc 1 root 0 busId c9000 nRanks 256 comm "
      "0x1\n"
      "h:1:2 [0] NCCL INFO ## [ 22210.650274] [00:00-01:c0] 000000-000000 KL HWID   302c00 "
      "ncclDevFunc_SendRecv_RING_SIMPLE_Sum_i8 Send 1 -> 1/0 ConnIdx/LL 1/0 -> Recv 1 nc 4 cb 1 "
      "busId "
      "c1000 nRanks 2 comm 0x2b901420\n");
  ASSERT_EQ(t.rows.size(), 3U) << t.csv;
  for (Traced::Row r : t.rows)
    EXPECT_EQ(r["library"], "rccl_kernel");
  std::map<std::string, Traced::Row> detail;
  for (const Traced::Row& d : t.detail)
    detail[d.at("kernel")] = d;
  Traced::Row d = detail["ncclDevFunc_AllReduce_RING_LL_Sum_double"];
  EXPECT_EQ(d["operation"], "AllReduce");
  EXPECT_EQ(d["solution"], "RING_LL");
  EXPECT_EQ(d["dtype"], "double");
  EXPECT_EQ(d["problem"], "nranks=8");
}

TEST(LibraryTrace, CublasltTraceLines) {
  const std::string line =
      "[2026-01-01 00:00:00][cublasLt][3794797][Trace][cublasLtTSTMatmul] A=0X1 Adesc=[type=R_16BF "
      "rows=64 cols=1000 ld=64] B=0X2 Bdesc=[type=R_16BF rows=64 cols=500 ld=64] C=0X3 "
      "Cdesc=[type=R_16BF rows=1000 cols=500 ld=1000] D=0X4 Ddesc=[type=R_16BF rows=1000 cols=500 "
      "ld=1000] computeDesc=[computeType=COMPUTE_32F scaleType=R_32F transa=OP_T "
      "smCountTarget=108] "
      "algo=[algoId=21 tile=MATMUL_TILE_128x128 stages=MATMUL_STAGES_32x5] workSpace=0X0 "
      "workSpaceSizeInBytes=0 beta=0 outOfPlace=0 stream=0X0\n";
  const Traced t(line + line +
                 "[cublasLt][1][Api][cublasLtMatmulAlgoGetHeuristic] Adesc=[type=R_16BF]\n");
  ASSERT_EQ(t.rows.size(), 1U) << t.csv;
  Traced::Row r = t.rows[0], d = t.detail[0];
  EXPECT_EQ(r["library"], "cublaslt");
  EXPECT_EQ(r["calls"], "2");
  EXPECT_EQ(d["problem"], "m=1000 n=500 k=64");
  EXPECT_EQ(d["layout"], "TN");
  EXPECT_EQ(d["solution"], "21");
  EXPECT_EQ(d["kernel"], "MATMUL_TILE_128x128 MATMUL_STAGES_32x5");
  EXPECT_EQ(d["flops"], "128000000");
  EXPECT_EQ(d["bytes"], "2384000"); // 2 * 2 * (64000 + 32000 + 500000)
}

TEST(LibraryTrace, CublasRecordsOfSeveralLines) {
  const std::string record =
      "I! cuBLAS (v13.4.1) function cublasStatus_t cublasGemmEx(cublasHandle_t, int) called:\n"
      "i!  handle: type=cublasHandle_t; val=POINTER (IN HEX:0x0x2d3af900)\n"
      "i!  transa: type=cublasOperation_t; val=CUBLAS_OP_T(1)\n"
      "i!  transb: type=cublasOperation_t; val=CUBLAS_OP_N(0)\n"
      "i!  m: type=int; val=1024\n"
      "i!  n: type=int; val=100\n"
      "i!  k: type=int; val=3072\n"
      "i!  A: type=void; val=POINTER (IN HEX:0x0x7fbb9e200000)\n"
      "i!  Atype: type=cudaDataType_t; val=CUDA_R_16F(2)\n"
      "i!  lda: type=int; val=1024\n"
      "i! Time: 2026-09-11T18:38:49 elapsed from start 0.016667 minutes or 1.000000 seconds\n"
      "i!Process=14102; Thread=129943171284992; GPU=0; Handle=POINTER (IN HEX:0x(nil))\n";
  const Traced t("I! cuBLAS (v13.4.1) function cublasStatus_t cublasCreate_v2(cublasContext**) "
                 "called:\ni!  handle: type=cublasHandle_t; val=POINTER (IN HEX:0x0x2d3af900)\n" +
                 record + record);
  ASSERT_EQ(t.rows.size(), 1U) << t.csv;
  Traced::Row r = t.rows[0], d = t.detail[0];
  EXPECT_EQ(r["library"], "cublas");
  EXPECT_EQ(r["calls"], "2");
  EXPECT_EQ(r["config"], "cublasGemmEx transa=CUBLAS_OP_T transb=CUBLAS_OP_N m=1024 n=100 k=3072 "
                         "Atype=CUDA_R_16F lda=1024");
  EXPECT_EQ(d["layout"], "TN");
  EXPECT_EQ(d["dtype"], "R_16F");
  EXPECT_EQ(d["flops"], "1258291200"); // 2 * 2 * 1024 * 100 * 3072
}

TEST(LibraryTrace, CudnnRecords) {
  const Traced t("I! CuDNN (v91002 17) function cudnnSetConvolutionGroupCount() called:\n"
                 "i!     groupCount: type=int; val=10240;\n"
                 "I! CuDNN (v91002 17) function cudnnConvolutionForward() called:\n"
                 "i!     handle: type=cudnnHandle_t; streamId=0x0;\n"
                 "i!     algo: type=cudnnConvolutionFwdAlgo_t; "
                 "val=CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM (1);\n"
                 "i!     workSpaceSizeInBytes: type=size_t; val=1048576;\n"
                 "I! CuDNN (v91002 17) function cudnnConvolutionForward() called:\n"
                 "i!     algo: type=cudnnConvolutionFwdAlgo_t; "
                 "val=CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM (1);\n");
  ASSERT_EQ(t.rows.size(), 2U) << t.csv;
  EXPECT_EQ(t.rows[0].at("library"), "cudnn");
  EXPECT_EQ(t.detail[0].at("operation"), "cudnnConvolutionForward");
  EXPECT_EQ(t.detail[0].at("solution"), "CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM");
}

// A convolution as cuDNN 9.19 logged it on an H200: the call, and again with its status when it
// returns.
TEST(LibraryTrace, CudnnBackendLogsACallTwice) {
  const Traced t(test::bytes_of(test::source_dir() / "tests/fuzz/corpus/library_log/cudnn9.log"));
  ASSERT_EQ(t.rows.size(), 1U) << t.csv;
  EXPECT_EQ(t.rows[0].at("calls"), "1");
  EXPECT_NE(t.csv.find("cudnnBackendExecute deviceName="), std::string::npos) << t.csv;
  EXPECT_EQ(t.detail[0].at("problem"), "8x64x56x56 64x64x3x3 8x64x56x56");
  EXPECT_EQ(t.detail[0].at("dtype"), "HALF");
  EXPECT_EQ(t.detail[0].at("solution"), "engine 22");
}

TEST(LibraryTrace, TornAndInterleavedLinesAreDamagedNotGuessed) {
  const std::string call =
      "n1:5:5 [0] NCCL INFO AllReduce: opCount 3 sendbuff 0x1 recvbuff 0x1 count "
      "8 datatype 6 op 0 root 0 comm 0x1 ";
  for (const auto& [line, kind] : std::vector<std::pair<std::string, LogKind>>{
           {kRocblas.substr(0, 80), LogKind::kRocblas},
           {kRocblas.substr(0, 70) + kRocblas, LogKind::kRocblas},
           {kRocblas + "Epoch 3", LogKind::kRocblas},
           {"./rocblas-bench -f gemm_ex --transposeA N -m 10\x01 24", LogKind::kRocblas},
           {"./rocblas-bench --transposeA N", LogKind::kRocblas},
           {kHipblaslt.substr(0, 100), LogKind::kHipblaslt},
           {kHipblaslt.substr(0, 60) + kHipblaslt + "3", LogKind::kHipblaslt},
           {"- { rocblas_function: \"rocblas_gemm_ex\", M: 1228", LogKind::kRocblasFunction},
           {"- { rocblas_function: \"rocblas_gemm_ex\", M: 8, call_count: x }",
            LogKind::kRocblasFunction},
           {"MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -n 1 -c",
            LogKind::kMiopen},
           {"MIOpen(HIP): Command [LogCmdConvolution] " + kConv + "MIOpen(HIP): Command",
            LogKind::kMiopen},
           {"Running kernel: Cijk_Ailk_Bjlk_HHS_[rank1]: ", LogKind::kTensile},
           {call, LogKind::kRccl},
           {call + "[nranks=0] stream 0x1", LogKind::kRccl},
           {call + "[nranks=8] stream 0x1 task 0 globalrank 8", LogKind::kRccl},
           {call + "[nranks=8] stream 0x1 " + call + "[nranks=8] stream", LogKind::kRccl},
           {"n1:5:5 [0] NCCL INFO AllRed: opCount 3 sendbuff 0x1", LogKind::kRccl},
           {"n1:5:5 [0] NCCL INFO ## [1.2] [0:0] 000001 KL HWID 42300700 ncclDev",
            LogKind::kRcclKernel},
           {"[cublasLt][1][Trace][cublasLtTSTMatmul] A=0X1 Adesc=[type=R_16BF rows=64",
            LogKind::kCublaslt},
       }) {
    const Traced t(line + "\n");
    EXPECT_TRUE(t.rows.empty()) << line << "\n" << t.csv;
    EXPECT_EQ(t.count(kind).damaged, 1U) << line;
    EXPECT_EQ(t.count(kind).lines, 1U) << line;
    EXPECT_EQ(t.count(kind).calls, 0U) << line;
    ASSERT_EQ(t.detail.size(), 1U);
    EXPECT_EQ(t.detail[0].at("operation"), "(damaged)");
    EXPECT_EQ(t.detail[0].at("damaged"), "1");
    ASSERT_EQ(t.summary.counts.size(), 1U);
    EXPECT_EQ(t.summary.counts[0].damaged, 1U);
    EXPECT_EQ(t.summary.counts[0].lines, 1U);
  }
}

TEST(LibraryTrace, TagsOfLaunchersGiveTheRanksOfNcclLines) {
  const auto call = [](int root) {
    return fmt::format(
        "NCCL INFO Broadcast: opCount 2 sendbuff 0x7f recvbuff 0x7f count 1 datatype 7 "
        "op 0 root {} comm 0x5 [nranks=4] stream 0x5\n",
        root);
  };
  Traced t("[rank1]: n1:5:7 [0] " + call(3) + "[1,3]<stderr>:n1:6:8 [1] " + call(3) +
           "n1:5:7 [0] " + call(3));
  ASSERT_EQ(t.detail.size(), 1U);
  EXPECT_EQ(t.detail[0]["ranks"], "2");
  EXPECT_EQ(t.detail[0]["processes"], "2");                                 // n1:5 and n1:6
  const Traced outside("n1:5:7 [0] " + call(4) + "n1:5:7 [0] " + call(-1)); // ranks 0 to 3
  EXPECT_EQ(outside.count(LogKind::kRccl).calls, 0U);
  EXPECT_EQ(outside.count(LogKind::kRccl).damaged, 2U);
}

// HA-B34: text that a second process wrote into a line is parsed as a separate line.
TEST(LibraryTrace, ACompleteCallBehindATornOneCounts) {
  const std::string call = "n1:5:5 [0] NCCL INFO AllReduce: opCount 3 sendbuff 0x1 recvbuff 0x1 "
                           "count 8 datatype 6 op 0 root 0 comm 0x1 [nranks=8]";
  const Traced torn(call + "n2:6:6 [1] NCCL INFO AllGather: opCount 3 sendbuff 0x1 recvbuff 0x1 "
                           "count 8 datatype 6 op 0 root 0 comm 0x1 [nranks=8] stream 0x55bb\n");
  EXPECT_EQ(torn.count(LogKind::kRccl).damaged, 1U);
  EXPECT_EQ(torn.count(LogKind::kRccl).calls, 1U);
  ASSERT_EQ(torn.rows.size(), 1U) << torn.csv;
  EXPECT_NE(torn.csv.find("AllGather"), std::string::npos) << torn.csv;
  EXPECT_EQ(torn.csv.find("nranks=8]n2"), std::string::npos) << "no invented process";
  // a message that is not a call, interrupted by a call
  const Traced message("n1:5:5 [0] NCCL INFO Channel 00/0 : 0[0] -> " + call + " stream 0x1\n");
  EXPECT_EQ(message.count(LogKind::kRccl).damaged, 0U);
  EXPECT_EQ(message.count(LogKind::kRccl).calls, 1U);
}

TEST(LibraryTrace, LinesThatEndBehindTheirMarker) {
  for (const char* text : {"NCCL INFO ", "Running kernel: ", "./rocblas-bench ", "hipblaslt-bench ",
                           "MIOpen: Command [LogCmdConvolution] ./bin/MIOpenDriver", "i!",
                           "I! cuBLAS ", "I! CuDNN ", "[cublasLt][", "rocblas_function: ",
                           "- { function: ", "Library logic solution index of winning solution: ",
                           "rocblas_x,y", "NCCL INFO ## ", "NCCL INFO : opCount "}) {
    const Traced t(std::string(text) + "\n");
    EXPECT_TRUE(t.rows.empty()) << text;
    EXPECT_EQ(t.summary.lines, 1U);
  }
}

TEST(LibraryTrace, AnyPiecesGiveTheSameTables) {
  const std::string log =
      kRocblas + "\r\nhello\n" + kHipblaslt + "7\n[rank1]: " + kRocblas +
      "\nMIOpen: Command [LogCmdConvolution] " + kConv + "1 -t 1\n" +
      "I! cuBLAS (v13) function s cublasSgemm_v2(int) called:\ni!  m: type=int; "
      "val=1\ni!  n: type=int; val=2\ni!  k: type=int; val=3\nlast " +
      kRocblas;
  const Traced complete(log);
  EXPECT_EQ(complete.rows.size(), 4U);
  EXPECT_EQ(complete.others, "hello\n");
  for (const std::size_t piece : {1U, 2U, 7U, 100U}) {
    const Traced t(log, {}, piece);
    EXPECT_EQ(t.csv, complete.csv);
    EXPECT_EQ(t.detail_csv, complete.detail_csv);
    EXPECT_EQ(t.others, complete.others);
  }
}

TEST(LibraryTrace, LinesOverTheLimitAreCutAndCounted) {
  const Traced t(std::string(3 << 20, 'x') + "\n" + kRocblas + "\n", {}, 65536);
  EXPECT_EQ(t.summary.long_lines, 1U);
  EXPECT_EQ(t.rows.size(), 1U);
  EXPECT_EQ(t.others, std::string(1 << 20, 'x') + "\n");
  const Traced complete(std::string(3 << 20, 'x') + "\n" + kRocblas + "\n");
  EXPECT_EQ(complete.summary.long_lines, 1U);
  EXPECT_EQ(complete.others, t.others);
}

TEST(LibraryTrace, MoreConfigurationsThanMemoryHoldsGoThroughAFile) {
  // texts that occur again after they were written to disk; several kinds, processes, ranks and
  // times
  std::string log;
  for (int round = 0; round < 3; ++round)
    for (int m = 1; m <= 400; ++m) {
      log += "[rank" + std::to_string((m + round) % 5) + "]: ./rocblas-bench -f dot -r s -n " +
             std::to_string(m % (100 * (round + 1)) + 1) + " --incx 1 --incy 1\n";
      log += "h:" + std::to_string(m % 3) +
             ":2 [0] NCCL INFO AllReduce: opCount 3 sendbuff 0x1 recvbuff 0x1 count " +
             std::to_string(m % 7) +
             " datatype 6 op 0 root 0 comm 0x1 [nranks=8] stream 0x1 task 0 globalrank 1\n";
    }
  LibraryTraceOptions options;
  options.created = "now";
  const Traced all(log, options);
  ASSERT_GT(all.rows.size(), 300U);
  // 1200 sorted runs of one entry: merged in several passes
  for (const std::size_t most : {1U, 4U, 50U}) {
    options.max_configs = most;
    const Traced few(log, options);
    EXPECT_EQ(few.csv, all.csv) << most;
    EXPECT_EQ(few.detail, all.detail) << most;
    ASSERT_EQ(few.summary.counts.size(), all.summary.counts.size());
    for (std::size_t i = 0; i < few.summary.counts.size(); ++i) {
      EXPECT_EQ(few.summary.counts[i].configs, all.summary.counts[i].configs);
      EXPECT_EQ(few.summary.counts[i].calls, all.summary.counts[i].calls);
    }
    EXPECT_TRUE(few.summary.silent.empty());
  }
}

TEST(LibraryTrace, WhatCannotBeKeptIsAnError) {
  LibraryTraceOptions options;
  options.csv = "/proc/none/library_trace.csv"; // no file can be created there
  options.max_configs = 1;
  LibraryTrace trace(options);
  trace.feed(0, "./rocblas-bench -f dot -r s -n 1\n./rocblas-bench -f dot -r s -n 2\n");
  const auto done = trace.finish();
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, ErrorCode::kOutput);
  EXPECT_NE(done.error().message().find("configurations"), std::string::npos)
      << done.error().message();
}

TEST(LibraryTrace, TimeInKernelsIsFromLaunchToEnd) {
  const std::string kernel = "ncclDevFunc_AllReduce_RING_LL_Sum_f32 nw 4 bi 0 nc 1 root 0 ";
  const std::string front = "n1:7:9 [2] NCCL INFO ## ", at = " busId c9000 nRanks 8 comm 0x1\n";
  const Traced t(
      front + "[951297.535389] [170:00-00:00] 000001 KL HWID   302510 " + kernel + at + //
      front + "[951297.535400] [170:01-00:00] 000001 KL HWID   302510 " + kernel + at + front +
      "[951297.535600] [170:01-00:40] 000001 KE" + at +         // 200 us, of block 1
      front + "[951297.535489] [170:00-00:40] 000001 KE" + at + // 100 us
      front + "[951297.535999] [170:00-00:40] 000001 KE" + at + // its launch has already ended
      front + "[951298.000000] [170:00-00:00] 000002 KL HWID   302510 " + kernel + at +
      "n1:8:9 [2] NCCL INFO ## [951298.000500] [170:00-00:40] 000002 KE" + at + // another process
      front + "[951297.000000] [170:00-00:40] 000002 KE" + at +                 // before its launch
      front + "[x] [170:00-00:40] 000002 KE" + at);
  ASSERT_EQ(t.detail.size(), 1U) << t.csv;
  EXPECT_EQ(t.detail[0].at("calls"), "3");
  EXPECT_EQ(t.detail[0].at("kernel_us"), "300.000");
  EXPECT_EQ(t.detail[0].at("damaged"), "");
}

TEST(LibraryTrace, TablesAreWrittenWithoutAnyLine) {
  LibraryTraceOptions options;
  options.libraries = {TracedLibrary::kMiopen};
  const Traced t("nothing\n", options);
  EXPECT_EQ(t.csv, "jobid,created_date,model,library,config,calls\n");
  EXPECT_EQ(t.summary.silent, std::vector<std::string>{"MIOpen"});
  options.crlf = true;
  EXPECT_EQ(Traced("x\n", options).csv, "jobid,created_date,model,library,config,calls\r\n");
}

TEST(LibraryTrace, FilesOfProcessesAreReadAtTheEnd) {
  const test::TempFolder folder;
  folder.write("logs/hipblaslt.41.log", kHipblaslt + "1\n");
  folder.write("logs/hipblaslt.42.log", kHipblaslt + "1");
  folder.write("logs/nccl.host.43.log", "no call\n");
  LibraryTraceOptions options;
  options.log_folder = folder.path("logs");
  const Traced t("", options);
  ASSERT_EQ(t.rows.size(), 1U) << t.csv;
  EXPECT_EQ(t.rows[0].at("calls"), "2");
  EXPECT_EQ(t.detail[0].at("processes"), "2");
}

TEST(LibraryTraceEnvironment, MasksAreAddedAndFilesArePrivate) {
  LibraryTraceOptions options;
  options.libraries = {TracedLibrary::kRocblas, TracedLibrary::kHipblaslt,
                       TracedLibrary::kMiopen,  TracedLibrary::kTensile,
                       TracedLibrary::kRccl,    TracedLibrary::kCublaslt};
  options.log_folder = "/logs";
  options.rccl_kernels = true;
  const LibraryTrace trace(options);
  const EnvironmentChange plain = trace.environment({});
  EXPECT_EQ(plain.set,
            (std::map<std::string, std::string>{{"ROCBLAS_LAYER", "6"},
                                                {"HIPBLASLT_LOG_MASK", "32"},
                                                {"HIPBLASLT_LOG_FILE", "/logs/hipblaslt.%i.log"},
                                                {"MIOPEN_ENABLE_LOGGING_CMD", "1"},
                                                {"TENSILE_DB", "0x8000"},
                                                {"NCCL_DEBUG", "INFO"},
                                                {"NCCL_DEBUG_SUBSYS", "INIT,COLL"},
                                                {"NCCL_DEBUG_FILE", "/logs/nccl.%h.%p.log"},
                                                {"RCCL_KERNEL_COLL_TRACE_ENABLE", "1"},
                                                {"CUBLASLT_LOG_MASK", "2"},
                                                {"CUBLASLT_LOG_FILE", "/logs/cublaslt.%i.log"}}));
  EXPECT_TRUE(plain.unset.empty());
  EXPECT_TRUE(plain.notes.empty());
  const EnvironmentChange merged = trace.environment({{"ROCBLAS_LAYER", "1"},
                                                      {"HIPBLASLT_LOG_LEVEL", "2"},
                                                      {"TENSILE_DB", "0x40"},
                                                      {"NCCL_DEBUG", "TRACE"},
                                                      {"NCCL_DEBUG_SUBSYS", "coll,NET"},
                                                      {"NCCL_DEBUG_FILE", "/mine"}});
  EXPECT_EQ(merged.set.at("ROCBLAS_LAYER"), "7");
  EXPECT_EQ(merged.set.at("TENSILE_DB"), "0x8040");
  EXPECT_EQ(merged.set.count("NCCL_DEBUG"), 0U) << "TRACE says more than INFO";
  EXPECT_EQ(merged.set.at("NCCL_DEBUG_SUBSYS"), "coll,NET,INIT");
  EXPECT_EQ(merged.unset, (std::vector<std::string>{"HIPBLASLT_LOG_LEVEL"}));
  std::string notes;
  for (const std::string& n : merged.notes)
    notes += n + "\n";
  EXPECT_NE(notes.find("NCCL_DEBUG_FILE is changed from \"/mine\" to "), std::string::npos)
      << notes;
  EXPECT_NE(notes.find("ROCBLAS_LAYER is changed from \"1\" to \"7\""), std::string::npos) << notes;
}

TEST(LibraryTraceEnvironment, NamesOfLibraries) {
  EXPECT_EQ(traced_library("nccl"), TracedLibrary::kRccl);
  EXPECT_EQ(traced_library("rocblas"), TracedLibrary::kRocblas);
  EXPECT_FALSE(traced_library("blas").has_value());
}

} // namespace
} // namespace rankscope
