// A matrix product: the arguments of a library call, read from a trace or from a node of a graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rankscope {

enum class GemmType : std::uint8_t { kF64, kF32, kF16, kBf16, kF8E4M3, kF8E5M2, kI8, kI32 };
inline constexpr int kGemmTypes = 8;
/// Returns f64, f32, f16, bf16, f8e4m3, f8e5m2, i8 or i32.
[[nodiscard]] const char* gemm_type_name(GemmType type);
/// Parses a type. Also accepts f16_r, R_16F, CUDA_R_16F, h, f8_r, bf8_r; empty for others (complex,
/// 4 bits).
[[nodiscard]] std::optional<GemmType> gemm_type(std::string_view text);
[[nodiscard]] std::uint64_t gemm_type_bytes(GemmType type);

/// The compute type (as in cublasComputeType_t): the type of the accumulation; kTf32: TF32
/// products, f32 accumulation.
enum class GemmCompute : std::uint8_t { kF32, kTf32, kF64, kF16, kI32 };
/// Returns f32, tf32, f64, f16 or i32. gemm_compute() also accepts f32_r, xf32_r, COMPUTE_32F,
/// CUBLAS_COMPUTE_32F_FAST_TF32.
[[nodiscard]] const char* gemm_compute_name(GemmCompute compute);
[[nodiscard]] std::optional<GemmCompute> gemm_compute(std::string_view text);

/// A vendor's library: BLAS (cuBLAS, rocBLAS) or the light library (cuBLASLt, hipBLASLt).
enum class GemmFamily : std::uint8_t { kBlas, kLight };

/// D = op(A) op(B) + beta C, column-major: op(A) m x k, op(B) k x n, D and C m x n. There are
/// `batch` products, whose matrices are `stride` elements apart.
struct GemmProblem {
  GemmFamily family = GemmFamily::kBlas;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  bool trans_a = false, trans_b = false;
  bool beta = false; ///< C is read
  GemmType a = GemmType::kF32, b = GemmType::kF32, c = GemmType::kF32, d = GemmType::kF32;
  GemmCompute compute = GemmCompute::kF32;
  std::int64_t lda = 0, ldb = 0, ldc = 0, ldd = 0;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0, stride_d = 0;
  /// The index of the algorithm in the light library's list for this product; 0 = the library's
  /// choice.
  std::int64_t solution = 0;

  /// Returns the size of a matrix as stored. A: m x k, or k x m if transposed.
  [[nodiscard]] std::int64_t rows_a() const { return trans_a ? k : m; }
  [[nodiscard]] std::int64_t cols_a() const { return trans_a ? m : k; }
  [[nodiscard]] std::int64_t rows_b() const { return trans_b ? n : k; }
  [[nodiscard]] std::int64_t cols_b() const { return trans_b ? k : n; }
  /// Sets leading dimensions and strides of 0 to the values of matrices without gaps.
  void fill_gaps();
  /// Returns why no library can run the product: a size of 0, a negative value, a leading dimension
  /// that is too small, a matrix above 2^62 bytes. "" = the problem is valid.
  [[nodiscard]] std::string problem() const;
  /// Returns 2 m n k batch.
  [[nodiscard]] double flops() const;
  /// Returns the bytes of all matrices. Each matrix counts once, C only with beta.
  [[nodiscard]] double bytes() const;
};

/// Converts to one line `family=blas m=8 n=8 k=8 ...` and back. Every field is written, but
/// `solution` only if it is not 0.
[[nodiscard]] std::string to_text(const GemmProblem& problem);
[[nodiscard]] std::optional<GemmProblem> gemm_from_text(std::string_view text);

/// A matrix product from a configuration of a library trace (`library`, `config` of
/// library_trace.csv).
struct TracedGemm {
  std::optional<GemmProblem> problem;
  std::string why;  ///< why `problem` is empty
  std::string note; ///< what `problem` leaves out, such as an epilogue
};
[[nodiscard]] TracedGemm gemm_of_trace(std::string_view library, std::string_view config);

} // namespace rankscope
