// Tests matrix products: which ones a trace requests, and their measurement with fake libraries
// (fakes/fake_cuda.cpp, fake_rocm.cpp), which check their arguments and take a known time.
#include "collect/gemm/gemm_process.h"
#include "collect/gemm/gemm_runner.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>

namespace rankscope {
namespace {

std::string folder_of(const std::string& name) {
  return std::string(RANKSCOPE_FAKES) + "/" + name;
}

/// Accesses the fake libraries of a folder. Must outlive the runners that measure with them.
class Fake {
public:
  explicit Fake(const std::string& folder)
      : handle_(::dlopen((folder_of(folder) + "/fake.so").c_str(), RTLD_NOW | RTLD_LOCAL)) {
    reinterpret_cast<void (*)()>(::dlsym(handle_, "fake_gpu_reset"))();
  }
  ~Fake() { ::dlclose(handle_); }
  Fake(const Fake&) = delete;
  Fake& operator=(const Fake&) = delete;
  /// Returns the last product as the library received it: type/leading dimension/stride of each
  /// matrix.
  [[nodiscard]] std::string last() const {
    return reinterpret_cast<const char* (*)()>(::dlsym(handle_, "fake_gpu_last"))();
  }
  /// Returns the number of allocations and descriptors that are not freed.
  [[nodiscard]] int live() const {
    return reinterpret_cast<int (*)()>(::dlsym(handle_, "fake_gpu_live"))();
  }

private:
  void* handle_;
};

GemmProblem product(GemmFamily family, std::int64_t m, std::int64_t n, std::int64_t k,
                    GemmType type) {
  GemmProblem p;
  p.family = family;
  p.m = m;
  p.n = n;
  p.k = k;
  p.a = p.b = p.c = p.d = type;
  p.fill_gaps();
  return p;
}

TEST(GemmProblem, TextAndBack) {
  GemmProblem p = product(GemmFamily::kLight, 3, 5, 7, GemmType::kBf16);
  p.batch = 2;
  p.trans_a = p.beta = true;
  p.d = GemmType::kF8E5M2;
  p.compute = GemmCompute::kTf32;
  p.lda = 9;
  p.stride_a = 100;
  p.fill_gaps();
  const std::string text = to_text(p);
  EXPECT_EQ(text, "family=light m=3 n=5 k=7 batch=2 lda=9 ldb=7 ldc=3 ldd=3 stride_a=100 "
                  "stride_b=35 stride_c=15 stride_d=15 transa=T transb=N beta=1 atype=bf16 "
                  "btype=bf16 ctype=bf16 dtype=f8e5m2 compute=tf32");
  const auto back = gemm_from_text(text);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(to_text(*back), text);
  p.solution = 2;
  const auto third = gemm_from_text(to_text(p));
  ASSERT_TRUE(third.has_value());
  EXPECT_EQ(third->solution, 2);
  EXPECT_DOUBLE_EQ(p.flops(), 420);                     // 2 * 2 * 3 * 5 * 7
  EXPECT_DOUBLE_EQ(p.bytes(), 2 * (42 + 70 + 15 + 30)); // A, B, D of one byte, C
  for (const char* bad : {"", "family=blas", "family=other m=1 n=1 k=1",
                          "family=blas m=x n=1 k=1 transa=N transb=N atype=f32 btype=f32 "
                          "ctype=f32 dtype=f32 compute=f32"})
    EXPECT_FALSE(gemm_from_text(bad).has_value()) << bad;
}

TEST(GemmProblem, WhatNoLibraryCanTakeIsSaidBefore) {
  GemmProblem p = product(GemmFamily::kBlas, 8, 8, 8, GemmType::kF32);
  EXPECT_EQ(p.problem(), "");
  p.lda = 7;
  EXPECT_NE(p.problem(), "");
  EXPECT_NE(product(GemmFamily::kBlas, 0, 8, 8, GemmType::kF32).problem(), "");
  EXPECT_NE(product(GemmFamily::kBlas, -1, 8, 8, GemmType::kF32).problem(), "");
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  p = product(GemmFamily::kBlas, kHuge, kHuge, kHuge, GemmType::kF64);
  p.batch = kHuge;
  p.fill_gaps(); // must not overflow
  EXPECT_NE(p.problem(), "");
}

TEST(GemmProblem, OfBenchLines) {
  const TracedGemm rocblas = gemm_of_trace(
      "rocblas", "./rocblas-bench -f gemm_strided_batched_ex --transposeA N --transposeB T -m 10 "
                 "-n 20 -k 30 --alpha 1 --a_type bf16_r --lda 16 --stride_a 480 --b_type bf16_r "
                 "--ldb 20 --stride_b 600 --beta 0.5 --c_type bf16_r --ldc 10 --stride_c 200 "
                 "--d_type f32_r --ldd 12 --stride_d 240 --compute_type f32_r --batch_count 4");
  ASSERT_TRUE(rocblas.problem.has_value()) << rocblas.why;
  EXPECT_EQ(to_text(*rocblas.problem),
            "family=blas m=10 n=20 k=30 batch=4 lda=16 ldb=20 ldc=10 ldd=12 stride_a=480 "
            "stride_b=600 stride_c=200 stride_d=240 transa=N transb=T beta=1 atype=bf16 "
            "btype=bf16 ctype=bf16 dtype=f32 compute=f32");
  const TracedGemm plain = gemm_of_trace(
      "rocblas", "./rocblas-bench -f gemm -r f16_r --transposeA N --transposeB N -m 4 "
                 "-n 4 -k 4 --alpha 1 --lda 4 --ldb 4 --beta 0 --ldc 4");
  ASSERT_TRUE(plain.problem.has_value()) << plain.why;
  EXPECT_EQ(plain.problem->a, GemmType::kF16);
  EXPECT_EQ(plain.problem->compute, GemmCompute::kF16) << "hgemm";
  const TracedGemm light = gemm_of_trace(
      "hipblaslt", "hipblaslt-bench --api_method c -m 64 -n 32 -k 16 --lda 16 --ldb 16 --ldc 64 "
                   "--ldd 64 --alpha 1 --beta 0 --transA T --transB N --a_type f8_r --b_type bf8_r "
                   "--c_type bf16_r --d_type bf16_r --compute_type f32_r --bias_vector "
                   "--activation_type gelu");
  ASSERT_TRUE(light.problem.has_value()) << light.why;
  EXPECT_EQ(light.problem->family, GemmFamily::kLight);
  EXPECT_EQ(light.problem->a, GemmType::kF8E4M3);
  EXPECT_EQ(light.problem->b, GemmType::kF8E5M2);
  EXPECT_TRUE(light.problem->trans_a);
  EXPECT_EQ(light.note, "without its epilogue");
}

TEST(GemmProblem, OfCublasRecords) {
  const TracedGemm light = gemm_of_trace(
      "cublaslt", "cublasLtMatmul m=1000 n=500 k=64 batch=3 transa=T transb=N atype=R_16BF "
                  "btype=R_16BF ctype=R_32F dtype=R_32F compute=COMPUTE_32F scale=R_32F "
                  "epilogue=EPILOGUE_BIAS algo=21");
  ASSERT_TRUE(light.problem.has_value()) << light.why;
  EXPECT_EQ(light.problem->batch, 3);
  EXPECT_EQ(light.problem->lda, 64);
  EXPECT_EQ(light.problem->stride_a, 64000);
  EXPECT_EQ(light.problem->d, GemmType::kF32);
  EXPECT_EQ(light.note, "without its epilogue EPILOGUE_BIAS");
  const TracedGemm ex = gemm_of_trace(
      "cublas", "cublasGemmEx transa=CUBLAS_OP_T transb=CUBLAS_OP_N m=1024 n=100 k=3072 "
                "Atype=CUDA_R_16F lda=3072 Btype=CUDA_R_16F ldb=3072 Ctype=CUDA_R_16F ldc=1024 "
                "computeType=CUBLAS_COMPUTE_32F algo=CUBLAS_GEMM_DEFAULT");
  ASSERT_TRUE(ex.problem.has_value()) << ex.why;
  EXPECT_EQ(ex.problem->family, GemmFamily::kBlas);
  EXPECT_TRUE(ex.problem->trans_a);
  EXPECT_EQ(ex.problem->compute, GemmCompute::kF32);
  const TracedGemm sgemm = gemm_of_trace("cublas", "cublasSgemm_v2 transa=CUBLAS_OP_N "
                                                   "transb=CUBLAS_OP_N m=8 n=8 k=8 lda=8 ldb=8 "
                                                   "ldc=8");
  ASSERT_TRUE(sgemm.problem.has_value()) << sgemm.why;
  EXPECT_EQ(sgemm.problem->a, GemmType::kF32);
}

TEST(GemmProblem, WhatIsNoProductSaysWhy) {
  for (const auto& [library, config] : std::vector<std::pair<std::string, std::string>>{
           {"miopen", "./bin/MIOpenDriver conv"},
           {"cublas", "cublasSaxpy_v2 n=8"},
           {"cublas", "cublasSgemmBatched transa=CUBLAS_OP_N transb=CUBLAS_OP_N m=8 n=8 k=8"},
           {"rocblas", "./rocblas-bench -f dot -r s -n 8"},
           {"rocblas", "(further configurations)"},
           {"hipblaslt", "hipblaslt-bench -m 8 16 -n 8 16 -k 8 16 --transA N --transB N"},
           {"rocblas", "./rocblas-bench -f gemm -r f32_c --transposeA N --transposeB N -m 4 -n 4 "
                       "-k 4 --lda 4 --ldb 4 --ldc 4"}}) {
    const TracedGemm g = gemm_of_trace(library, config);
    EXPECT_FALSE(g.problem.has_value()) << config;
    EXPECT_NE(g.why, "") << config;
  }
}

TEST(GemmRunner, CublasLtTakesTheTimeOfTheDevice) {
  const Fake fake("cuda");
  {
    auto runner = GemmRunner::open(GemmFamily::kLight, folder_of("cuda"));
    ASSERT_TRUE(runner.has_value()) << runner.error().message();
    EXPECT_STREQ((*runner)->vendor(), "NVIDIA");
    EXPECT_EQ((*runner)->device(), "Fake H200");
    EXPECT_EQ((*runner)->architecture(), "sm_90");
    GemmProblem p = product(GemmFamily::kLight, 100, 50, 200, GemmType::kBf16);
    p.trans_a = true;
    p.lda = 200;
    ASSERT_TRUE((*runner)->prepare(p).has_value());
    // 2 * 100 * 50 * 200 operations take 2 us in the fake library; the first call takes 1 ms more
    const auto first = (*runner)->run(10), second = (*runner)->run(10), third = (*runner)->run(5);
    ASSERT_TRUE(first.has_value() && second.has_value() && third.has_value());
    EXPECT_NEAR(*first, 102.2, 1e-3);
    EXPECT_NEAR(*second, 1.8, 1e-5);
    EXPECT_NEAR(*third, 2.0, 1e-5);
    EXPECT_EQ(fake.last(), "cublasLtMatmul TN m=100 n=50 k=200 batch=1 a=14/200/0 b=14/200/0 "
                           "c=14/100/0 d=14/100/0 compute=68 alpha=1 beta=0");
    p = product(GemmFamily::kLight, 16, 32, 8, GemmType::kF64);
    p.trans_b = p.beta = true;
    p.batch = 4;
    p.ldb = 40;
    p.ldd = 20;
    p.compute = GemmCompute::kF64;
    p.fill_gaps();
    ASSERT_TRUE((*runner)->prepare(p).has_value());
    ASSERT_TRUE((*runner)->run(1).has_value());
    EXPECT_EQ(fake.last(), "cublasLtMatmul NT m=16 n=32 k=8 batch=4 a=1/16/128 b=1/40/320 "
                           "c=1/16/512 d=1/20/640 compute=70 alpha=1 beta=0.5");
    EXPECT_EQ(fake.live(), 5 + 6) << "matrices with C and workspace; descriptors of one product";
  }
  EXPECT_EQ(fake.live(), 0) << "all is freed";
}

TEST(GemmRunner, CublasAndItsBatches) {
  const Fake fake("cuda");
  auto runner = GemmRunner::open(GemmFamily::kBlas, folder_of("cuda"));
  ASSERT_TRUE(runner.has_value()) << runner.error().message();
  GemmProblem p = product(GemmFamily::kBlas, 10, 20, 30, GemmType::kF16);
  p.compute = GemmCompute::kF16;
  ASSERT_TRUE((*runner)->prepare(p).has_value());
  ASSERT_TRUE((*runner)->run(1).has_value());
  EXPECT_EQ(fake.last(), "cublasGemmEx NN m=10 n=20 k=30 batch=1 a=2/10/0 b=2/30/0 c=2/10/0 "
                         "d=2/10/0 compute=64 alpha=1 beta=0");
  p = product(GemmFamily::kBlas, 100, 100, 100, GemmType::kF32);
  p.compute = GemmCompute::kTf32;
  p.batch = 8;
  p.fill_gaps();
  ASSERT_TRUE((*runner)->prepare(p).has_value());
  const auto us = (*runner)->run(4);
  ASSERT_TRUE(us.has_value());
  EXPECT_NEAR(*us, 14.4, 1e-4); // 8 * 2 us * 0.9
  EXPECT_EQ(fake.last(), "cublasGemmStridedBatchedEx NN m=100 n=100 k=100 batch=8 a=0/100/10000 "
                         "b=0/100/10000 c=0/100/10000 d=0/100/10000 compute=77 alpha=1 beta=0");
  p = product(GemmFamily::kBlas, 8, 8, 8, GemmType::kI8);
  p.c = p.d = GemmType::kI32;
  p.compute = GemmCompute::kI32;
  ASSERT_TRUE((*runner)->prepare(p).has_value());
  ASSERT_TRUE((*runner)->run(1).has_value());
  EXPECT_EQ(fake.last(), "cublasGemmEx NN m=8 n=8 k=8 batch=1 a=3/8/0 b=3/8/0 c=10/8/0 d=10/8/0 "
                         "compute=72 alpha=1 beta=0");
}

TEST(GemmRunner, LibrariesOfRocm) {
  const Fake fake("rocm");
  auto blas = GemmRunner::open(GemmFamily::kBlas, folder_of("rocm"));
  ASSERT_TRUE(blas.has_value()) << blas.error().message();
  EXPECT_STREQ((*blas)->vendor(), "AMD");
  EXPECT_EQ((*blas)->architecture(), "gfx942");
  GemmProblem p = product(GemmFamily::kBlas, 100, 50, 200, GemmType::kBf16);
  p.trans_b = p.beta = true;
  p.ldb = 50;
  p.d = GemmType::kF32;
  ASSERT_TRUE((*blas)->prepare(p).has_value());
  ASSERT_TRUE((*blas)->run(1).has_value());
  EXPECT_EQ(fake.last(), "rocblas_gemm_ex NT m=100 n=50 k=200 batch=1 a=168/100/0 b=168/50/0 "
                         "c=168/100/0 d=151/100/0 compute=151 alpha=1 beta=0.5");
  const auto us = (*blas)->run(10);
  ASSERT_TRUE(us.has_value());
  EXPECT_NEAR(*us, 1.8, 1e-5);
  p.batch = 3;
  p.fill_gaps();
  ASSERT_TRUE((*blas)->prepare(p).has_value());
  ASSERT_TRUE((*blas)->run(1).has_value());
  EXPECT_EQ(fake.last(),
            "rocblas_gemm_strided_batched_ex NT m=100 n=50 k=200 batch=3 a=168/100/20000 "
            "b=168/50/10000 c=168/100/5000 d=151/100/5000 compute=151 alpha=1 beta=0.5");
  auto light = GemmRunner::open(GemmFamily::kLight, folder_of("rocm"));
  ASSERT_TRUE(light.has_value()) << light.error().message();
  p = product(GemmFamily::kLight, 32, 16, 64, GemmType::kF8E4M3);
  p.trans_a = true;
  p.lda = 64;
  p.c = p.d = GemmType::kBf16;
  ASSERT_TRUE((*light)->prepare(p).has_value());
  ASSERT_TRUE((*light)->run(1).has_value());
  EXPECT_EQ(fake.last(), "hipblasLtMatmul TN m=32 n=16 k=64 batch=1 a=1000/64/0 b=1000/64/0 "
                         "c=14/32/0 d=14/32/0 compute=2 alpha=1 beta=0")
      << "8-bit floats of gfx94 are types of their own";
}

TEST(GemmRunner, WhatDoesNotFitIsAnErrorAndFreesAll) {
  const Fake fake("cuda");
  auto runner = GemmRunner::open(GemmFamily::kBlas, folder_of("cuda"));
  ASSERT_TRUE(runner.has_value());
  const auto large =
      (*runner)->prepare(product(GemmFamily::kBlas, 20000, 20000, 20000, GemmType::kF32));
  ASSERT_FALSE(large.has_value());
  EXPECT_EQ(large.error().code, ErrorCode::kOutput);
  EXPECT_NE(large.error().message().find("needs 4.83 GB of memory, but only 1.07 GB are free"),
            std::string::npos)
      << large.error().message();
  EXPECT_TRUE((*runner)->prepare(product(GemmFamily::kBlas, 8, 8, 8, GemmType::kF32)).has_value());
  // a device with less memory than it reports
  const Fake small("cuda_small");
  {
    auto other = GemmRunner::open(GemmFamily::kBlas, folder_of("cuda_small"));
    ASSERT_TRUE(other.has_value());
    const auto refused =
        (*other)->prepare(product(GemmFamily::kBlas, 1000, 1000, 1000, GemmType::kF32));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::kOutput);
    EXPECT_NE(refused.error().message().find("out of memory"), std::string::npos);
  }
  EXPECT_EQ(small.live(), 0);
}

TEST(GemmRunner, WhatALibraryCannotDoIsSaid) {
  auto blas = GemmRunner::open(GemmFamily::kBlas, folder_of("cuda"));
  ASSERT_TRUE(blas.has_value());
  GemmProblem p = product(GemmFamily::kBlas, 32, 32, 32, GemmType::kF8E4M3);
  ASSERT_TRUE((*blas)->prepare(p).has_value());
  const auto run = (*blas)->run(1);
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().code, ErrorCode::kUsage);
  p.d = GemmType::kF32;
  EXPECT_FALSE((*blas)->prepare(p).has_value()) << "no D of another type";
  auto light = GemmRunner::open(GemmFamily::kLight, folder_of("cuda"));
  ASSERT_TRUE(light.has_value());
  const auto no_algorithm =
      (*light)->prepare(product(GemmFamily::kLight, 32, 32, 32, GemmType::kF8E4M3));
  ASSERT_FALSE(no_algorithm.has_value());
  EXPECT_EQ(no_algorithm.error().code, ErrorCode::kUsage);
  auto rocblas = GemmRunner::open(GemmFamily::kBlas, folder_of("rocm"));
  ASSERT_TRUE(rocblas.has_value());
  const auto f8 = (*rocblas)->prepare(product(GemmFamily::kBlas, 8, 8, 8, GemmType::kF8E4M3));
  ASSERT_FALSE(f8.has_value());
  EXPECT_EQ(f8.error().code, ErrorCode::kUsage);
}

TEST(GemmRunner, WhatIsMissingIsNamed) {
  for (const auto& [folder, words] :
       std::vector<std::pair<std::string, std::string>>{{"cuda_no_matmul", "has no cublasLtMatmul"},
                                                        {"cuda_no_device", "no device is detected"},
                                                        {"none", "libamdhip64"}}) {
    const auto runner = GemmRunner::open(GemmFamily::kLight, folder_of(folder));
    ASSERT_FALSE(runner.has_value()) << folder;
    EXPECT_EQ(runner.error().code, ErrorCode::kMissingTool);
    EXPECT_NE(runner.error().message().find(words), std::string::npos) << runner.error().message();
  }
}

TEST(GemmOutcome, IsReadAmongWhatLibrariesPrint) {
  const GemmOutcome ok = parse_gemm_outcome("library: a warning\nrankscope-gemm vendor AMD\n"
                                            "no end of line rankscope-gemm backend rocblas\n"
                                            "rankscope-gemm time_us 2.5\nrankscope-gemm time_us 3\n"
                                            "rankscope-gemm status ok\n");
  EXPECT_EQ(ok.status, "ok");
  EXPECT_EQ(ok.vendor, "AMD");
  EXPECT_EQ(ok.backend, "rocblas");
  EXPECT_EQ(ok.times_us, (std::vector<double>{2.5, 3}));
  EXPECT_EQ(parse_gemm_outcome("rankscope-gemm time_us 0\nrankscope-gemm status ok\n").status,
            "failed");
  EXPECT_EQ(parse_gemm_outcome("rankscope-gemm time_us 1\n").status, "") << "it did not end";
}

TEST(GemmOutcome, ToldAsItIsMeasured) {
  const Fake fake("cuda");
  GemmRunOptions options;
  options.iters = 10;
  options.repeats = 3;
  options.libraries = folder_of("cuda");
  std::string outcome;
  measure_gemm_here(product(GemmFamily::kBlas, 100, 100, 100, GemmType::kF32), options,
                    [&](std::string_view text) { outcome += text; });
  const GemmOutcome out = parse_gemm_outcome(outcome);
  EXPECT_EQ(out.status, "ok") << outcome;
  ASSERT_EQ(out.times_us.size(), 3U);
  EXPECT_NEAR(out.times_us[0], 1.8, 1e-5); // the warm-up used the first pair of events
  EXPECT_NEAR(out.times_us[1], 2.0, 1e-5);
  EXPECT_NEAR(out.times_us[2], 2.2, 1e-5);
  outcome.clear();
  measure_gemm_here(product(GemmFamily::kBlas, 20000, 20000, 20000, GemmType::kF32), options,
                    [&](std::string_view text) { outcome += text; });
  EXPECT_EQ(parse_gemm_outcome(outcome).status, "unsupported") << outcome;
}

} // namespace
} // namespace rankscope
