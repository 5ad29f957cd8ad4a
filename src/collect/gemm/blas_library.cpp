// cuBLAS (cublasGemmEx, cublasGemmStridedBatchedEx) and rocBLAS (rocblas_gemm_ex,
// rocblas_gemm_strided_batched_ex). Values and signatures: cuBLAS reference
// (docs.nvidia.com/cuda/cublas) and rocBLAS API reference (rocm.docs.amd.com/projects/rocBLAS).
#include "collect/gemm/gemm_library.h"

#include <cstdint>
#include <fmt/format.h>

namespace rankscope {
namespace {

/// Sizes as int, the type that both libraries use.
struct Sizes {
  int m = 0, n = 0, k = 0, lda = 0, ldb = 0, ldc = 0, ldd = 0, batch = 1;
};
Result<Sizes> small_sizes(const GemmProblem& p, const char* library) {
  if (p.solution != 0)
    return Error{ErrorCode::kUsage, library, "chooses its algorithm itself", ""};
  for (const std::int64_t size : {p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.ldd, p.batch})
    if (size > INT32_MAX)
      return Error{ErrorCode::kUsage, library, "a size does not fit into 32 bits", ""};
  const auto small = [](std::int64_t size) { return static_cast<int>(size); };
  return Sizes{small(p.m),   small(p.n),   small(p.k),   small(p.lda),
               small(p.ldb), small(p.ldc), small(p.ldd), small(p.batch)};
}

class Cublas : public GemmBackend {
public:
  explicit Cublas(SharedLibrary library) : library_(std::move(library)) {}
  ~Cublas() override {
    if (handle_ != nullptr)
      (void)destroy_(handle_);
  }
  Result<void> begin() {
    for (const bool found :
         {library_.find("cublasCreate_v2", create_), library_.find("cublasDestroy_v2", destroy_),
          library_.find("cublasGemmEx", gemm_),
          library_.find("cublasGemmStridedBatchedEx", batched_)})
      if (!found)
        return Error{ErrorCode::kMissingTool, library_.name(),
                     "has no cublasCreate_v2, cublasDestroy_v2, cublasGemmEx or "
                     "cublasGemmStridedBatchedEx",
                     ""};
    return check(create_(&handle_), "cublasCreate");
  }
  Result<void> prepare(const GemmProblem& p, const GemmMemory& memory) override {
    if (p.c != p.d)
      return Error{ErrorCode::kUsage, name(), "needs the same type for the matrices C and D", ""};
    RS_TRY(sizes_, small_sizes(p, name()));
    problem_ = p;
    memory_ = memory;
    alpha_ = gemm_scalar(p.compute, 1);
    beta_ = gemm_scalar(p.compute, p.beta ? 0.5 : 0);
    return {};
  }
  Result<void> launch() override {
    // CUDA_R_64F, 32F, 16F, 16BF, 8F_E4M3, 8F_E5M2, 8I, 32I
    static constexpr std::array<int, kGemmTypes> kTypes = {1, 0, 2, 14, 28, 29, 3, 10};
    // CUBLAS_COMPUTE_32F, 32F_FAST_TF32, 64F, 16F, 32I
    static constexpr std::array<int, 5> kComputes = {68, 77, 70, 64, 72};
    constexpr int kDefault = -1; // CUBLAS_GEMM_DEFAULT
    const GemmProblem& p = problem_;
    const Sizes& s = sizes_;
    const auto type = [](GemmType t) { return kTypes[static_cast<std::size_t>(t)]; };
    const int ta = p.trans_a ? 1 : 0, tb = p.trans_b ? 1 : 0; // CUBLAS_OP_T, N
    const int compute = kComputes[static_cast<std::size_t>(p.compute)];
    if (p.batch == 1)
      return check(gemm_(handle_, ta, tb, s.m, s.n, s.k, &alpha_, memory_.a, type(p.a), s.lda,
                         memory_.b, type(p.b), s.ldb, &beta_, memory_.d, type(p.d), s.ldc, compute,
                         kDefault),
                   "cublasGemmEx");
    return check(batched_(handle_, ta, tb, s.m, s.n, s.k, &alpha_, memory_.a, type(p.a), s.lda,
                          p.stride_a, memory_.b, type(p.b), s.ldb, p.stride_b, &beta_, memory_.d,
                          type(p.d), s.ldc, p.stride_c, s.batch, compute, kDefault),
                 "cublasGemmStridedBatchedEx");
  }
  [[nodiscard]] const char* name() const override { return "cublas"; }

private:
  [[nodiscard]] Result<void> check(int status, const char* what) const {
    // CUBLAS_STATUS_ALLOC_FAILED, ARCH_MISMATCH, NOT_SUPPORTED
    constexpr int kNoMemory = 3, kWrongDevice = 8, kNotSupported = 15;
    if (status == 0)
      return {};
    if (status == kNotSupported || status == kWrongDevice)
      return Error{ErrorCode::kUsage, name(), fmt::format("does not support it ({})", what), ""};
    return Error{status == kNoMemory ? ErrorCode::kOutput : ErrorCode::kInternal, name(),
                 fmt::format("{}: status {}", what, status), ""};
  }

  SharedLibrary library_;
  int (*create_)(void**) = nullptr;
  int (*destroy_)(void*) = nullptr;
  int (*gemm_)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int,
               int, const void*, void*, int, int, int, int) = nullptr;
  int (*batched_)(void*, int, int, int, int, int, const void*, const void*, int, int, long long,
                  const void*, int, int, long long, const void*, void*, int, int, long long, int,
                  int, int) = nullptr;
  void* handle_ = nullptr;
  GemmProblem problem_;
  Sizes sizes_;
  GemmMemory memory_;
  GemmScalar alpha_, beta_;
};

class Rocblas : public GemmBackend {
public:
  explicit Rocblas(SharedLibrary library) : library_(std::move(library)) {}
  ~Rocblas() override {
    if (handle_ != nullptr)
      (void)destroy_(handle_);
  }
  Result<void> begin() {
    for (const bool found : {library_.find("rocblas_create_handle", create_),
                             library_.find("rocblas_destroy_handle", destroy_),
                             library_.find("rocblas_gemm_ex", gemm_),
                             library_.find("rocblas_gemm_strided_batched_ex", batched_)})
      if (!found)
        return Error{ErrorCode::kMissingTool, library_.name(),
                     "has no rocblas_create_handle, rocblas_destroy_handle, rocblas_gemm_ex or "
                     "rocblas_gemm_strided_batched_ex",
                     ""};
    return check(create_(&handle_), "rocblas_create_handle");
  }
  Result<void> prepare(const GemmProblem& p, const GemmMemory& memory) override {
    for (const GemmType t : {p.a, p.b, p.c, p.d})
      if (type(t) == 0)
        return Error{ErrorCode::kUsage, name(),
                     fmt::format("has no {} in this function", gemm_type_name(t)), ""};
    if (p.compute == GemmCompute::kTf32)
      return Error{ErrorCode::kUsage, name(), "has no tf32 in this function", ""};
    RS_TRY(sizes_, small_sizes(p, name()));
    problem_ = p;
    memory_ = memory;
    alpha_ = gemm_scalar(p.compute, 1);
    beta_ = gemm_scalar(p.compute, p.beta ? 0.5 : 0);
    return {};
  }
  Result<void> launch() override {
    constexpr int kStandard = 0; // rocblas_gemm_algo_standard
    const GemmProblem& p = problem_;
    const Sizes& s = sizes_;
    // rocblas_operation_transpose, none
    const int ta = p.trans_a ? 112 : 111, tb = p.trans_b ? 112 : 111;
    const int compute = type(gemm_scale_type(p.compute));
    if (p.batch == 1)
      return check(gemm_(handle_, ta, tb, s.m, s.n, s.k, &alpha_, memory_.a, type(p.a), s.lda,
                         memory_.b, type(p.b), s.ldb, &beta_, memory_.c, type(p.c), s.ldc,
                         memory_.d, type(p.d), s.ldd, compute, kStandard, 0, 0),
                   "rocblas_gemm_ex");
    return check(batched_(handle_, ta, tb, s.m, s.n, s.k, &alpha_, memory_.a, type(p.a), s.lda,
                          p.stride_a, memory_.b, type(p.b), s.ldb, p.stride_b, &beta_, memory_.c,
                          type(p.c), s.ldc, p.stride_c, memory_.d, type(p.d), s.ldd, p.stride_d,
                          s.batch, compute, kStandard, 0, 0),
                 "rocblas_gemm_strided_batched_ex");
  }
  [[nodiscard]] const char* name() const override { return "rocblas"; }

private:
  static int type(GemmType t) {
    // rocblas_datatype_f64_r, f32_r, f16_r, bf16_r, no 8-bit floats, i8_r, i32_r
    static constexpr std::array<int, kGemmTypes> kTypes = {152, 151, 150, 168, 0, 0, 160, 162};
    return kTypes[static_cast<std::size_t>(t)];
  }
  [[nodiscard]] Result<void> check(int status, const char* what) const {
    // rocblas_status_not_implemented, memory_error, excluded_from_build, arch_mismatch
    constexpr int kNotImplemented = 2, kNoMemory = 5, kExcluded = 14, kWrongDevice = 15;
    if (status == 0)
      return {};
    if (status == kNotImplemented || status == kExcluded || status == kWrongDevice)
      return Error{ErrorCode::kUsage, name(), fmt::format("does not support it ({})", what), ""};
    return Error{status == kNoMemory ? ErrorCode::kOutput : ErrorCode::kInternal, name(),
                 fmt::format("{}: status {}", what, status), ""};
  }

  SharedLibrary library_;
  int (*create_)(void**) = nullptr;
  int (*destroy_)(void*) = nullptr;
  int (*gemm_)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int,
               int, const void*, const void*, int, int, void*, int, int, int, int, std::int32_t,
               std::uint32_t) = nullptr;
  int (*batched_)(void*, int, int, int, int, int, const void*, const void*, int, int, std::int64_t,
                  const void*, int, int, std::int64_t, const void*, const void*, int, int,
                  std::int64_t, void*, int, int, std::int64_t, int, int, int, std::int32_t,
                  std::uint32_t) = nullptr;
  void* handle_ = nullptr;
  GemmProblem problem_;
  Sizes sizes_;
  GemmMemory memory_;
  GemmScalar alpha_, beta_;
};

template <class Library> Result<std::unique_ptr<GemmBackend>> begun(Result<SharedLibrary> library) {
  if (!library)
    return library.error();
  auto out = std::make_unique<Library>(std::move(*library));
  RS_CHECK(out->begin());
  return std::unique_ptr<GemmBackend>(std::move(out));
}

} // namespace

Result<std::unique_ptr<GemmBackend>> open_cublas(const std::string& folder) {
  return begun<Cublas>(open_library(
      folder, {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"}));
}

Result<std::unique_ptr<GemmBackend>> open_rocblas(const std::string& folder) {
  return begun<Rocblas>(open_library(
      folder, {"librocblas.so.5", "librocblas.so.4", "librocblas.so.3", "librocblas.so"}));
}

} // namespace rankscope
