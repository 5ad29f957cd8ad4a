// cuBLASLt and hipBLASLt, which have the same functions with different names and constants.
// Values and signatures: cuBLAS reference (docs.nvidia.com/cuda/cublas, cublasLt* types and
// cudaDataType_t), hipBLASLt API reference (rocm.docs.amd.com/projects/hipBLASLt, since ROCm 6.0),
// hipblas-common.h and HIP's library_types.h.
#include "collect/gemm/gemm_library.h"

#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <vector>

namespace rankscope {
namespace {

/// The differences between the two libraries.
struct Dialect {
  const char *name, *front;
  std::array<int, kGemmTypes> types; ///< by GemmType
  std::array<int, 5> computes;       ///< by GemmCompute
  int no_transpose, transpose;
  int trans_a, trans_b;            ///< attributes of the product
  int batch_count, batch_stride;   ///< attributes of a matrix
  std::size_t workspace_at, state; ///< offsets in a heuristic's result, whose algorithm is first
  std::size_t result_bytes;        ///< size of a heuristic's result
  int not_supported, wrong_device, no_memory;
};
constexpr Dialect kCublasLt = {"cublasLt",
                               "cublasLt",
                               {1, 0, 2, 14, 28, 29, 3, 10}, // CUDA_R_64F ... CUDA_R_32I
                               {68, 77, 70, 64, 72},         // CUBLAS_COMPUTE_32F ... 32I
                               0,
                               1, // CUBLAS_OP_N, T
                               3,
                               4, // CUBLASLT_MATMUL_DESC_TRANSA, TRANSB
                               5,
                               6, // CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, STRIDED_BATCH_OFFSET
                               64,
                               72, // cublasLtMatmulAlgo_t: uint64_t[8]
                               96, // status, float waves, int[4] follow
                               15,
                               8,
                               3}; // CUBLAS_STATUS_NOT_SUPPORTED, ARCH_MISMATCH, ALLOC_FAILED
constexpr Dialect kHipblasLt = {"hipblasLt",
                                "hipblasLt",
                                {1, 0, 2, 14, 28, 29, 3, 10}, // HIP_R_64F ... HIP_R_32I
                                {2, 6, 7, 0, 9},              // HIPBLAS_COMPUTE_32F ... 32I
                                111,
                                112, // HIPBLAS_OP_N, T
                                0,
                                1, // HIPBLASLT_MATMUL_DESC_TRANSA, TRANSB
                                0,
                                1, // HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT, STRIDED_BATCH_OFFSET
                                24,
                                32, // hipblasLtMatmulAlgo_t: uint8_t[16], size_t
                                56, // status, float waves, int[4] follow
                                7,
                                8,
                                2}; // HIPBLAS_STATUS_NOT_SUPPORTED, ARCH_MISMATCH, ALLOC_FAILED
constexpr int kWorkspaceBytes = 1;  // ..._MATMUL_PREF_MAX_WORKSPACE_BYTES of both
constexpr int kFnuzE4M3 = 1000, kFnuzE5M2 = 1001; // HIP_R_8F_E4M3_FNUZ, the 8-bit types of gfx94

struct Api {
  int (*create)(void**);
  int (*destroy)(void*);
  int (*desc_create)(void**, int, int);
  int (*desc_destroy)(void*);
  int (*desc_set)(void*, int, const void*, std::size_t);
  int (*layout_create)(void**, int, std::uint64_t, std::uint64_t, std::int64_t);
  int (*layout_destroy)(void*);
  int (*layout_set)(void*, int, const void*, std::size_t);
  int (*preference_create)(void**);
  int (*preference_destroy)(void*);
  int (*preference_set)(void*, int, const void*, std::size_t);
  int (*heuristic)(void*, void*, void*, void*, void*, void*, void*, int, void*, int*);
  int (*matmul)(void*, void*, const void*, const void*, void*, const void*, void*, const void*,
                const void*, void*, void*, void*, const void*, void*, std::size_t, void*);
};

class LightLibrary : public GemmBackend {
public:
  LightLibrary(SharedLibrary library, const Dialect& dialect)
      : library_(std::move(library)), dialect_(dialect) {}
  ~LightLibrary() override {
    forget_problem();
    if (handle_ != nullptr)
      (void)api_.destroy(handle_);
  }

  Result<void> begin() {
    std::string missing;
    const auto find = [&](const char* name, auto*& function) {
      const std::string symbol = std::string(dialect_.front) + name;
      if (!library_.find(symbol.c_str(), function) && missing.empty())
        missing = symbol;
    };
    find("Create", api_.create);
    find("Destroy", api_.destroy);
    find("MatmulDescCreate", api_.desc_create);
    find("MatmulDescDestroy", api_.desc_destroy);
    find("MatmulDescSetAttribute", api_.desc_set);
    find("MatrixLayoutCreate", api_.layout_create);
    find("MatrixLayoutDestroy", api_.layout_destroy);
    find("MatrixLayoutSetAttribute", api_.layout_set);
    find("MatmulPreferenceCreate", api_.preference_create);
    find("MatmulPreferenceDestroy", api_.preference_destroy);
    find("MatmulPreferenceSetAttribute", api_.preference_set);
    find("MatmulAlgoGetHeuristic", api_.heuristic);
    find("Matmul", api_.matmul);
    if (!missing.empty())
      return Error{ErrorCode::kMissingTool, library_.name(), fmt::format("has no {}", missing), ""};
    return check(api_.create(&handle_), "Create");
  }

  /// Selects the 8-bit types of gfx94: they have no negative zero, and hipBLASLt has separate
  /// constants for them.
  void use_fnuz() {
    dialect_.types[static_cast<std::size_t>(GemmType::kF8E4M3)] = kFnuzE4M3;
    dialect_.types[static_cast<std::size_t>(GemmType::kF8E5M2)] = kFnuzE5M2;
  }

  Result<void> prepare(const GemmProblem& p, const GemmMemory& memory) override {
    forget_problem();
    memory_ = memory;
    alpha_ = gemm_scalar(p.compute, 1);
    beta_ = gemm_scalar(p.compute, p.beta ? 0.5 : 0);
    RS_CHECK(check(api_.desc_create(&desc_, dialect_.computes[static_cast<std::size_t>(p.compute)],
                                    type(gemm_scale_type(p.compute))),
                   "MatmulDescCreate"));
    const std::int32_t ta = p.trans_a ? dialect_.transpose : dialect_.no_transpose;
    const std::int32_t tb = p.trans_b ? dialect_.transpose : dialect_.no_transpose;
    RS_CHECK(check(api_.desc_set(desc_, dialect_.trans_a, &ta, sizeof ta), "transpose of A"));
    RS_CHECK(check(api_.desc_set(desc_, dialect_.trans_b, &tb, sizeof tb), "transpose of B"));
    RS_CHECK(add_layout(0, p.a, p.rows_a(), p.cols_a(), p.lda, p.batch, p.stride_a));
    RS_CHECK(add_layout(1, p.b, p.rows_b(), p.cols_b(), p.ldb, p.batch, p.stride_b));
    RS_CHECK(add_layout(2, p.c, p.m, p.n, p.ldc, p.batch, p.stride_c));
    RS_CHECK(add_layout(3, p.d, p.m, p.n, p.ldd, p.batch, p.stride_d));
    return choose_algorithm(p.solution);
  }

  Result<void> launch() override {
    return check(api_.matmul(handle_, desc_, &alpha_, memory_.a, layouts_[0], memory_.b,
                             layouts_[1], &beta_, memory_.c, layouts_[2], memory_.d, layouts_[3],
                             result_.data(), memory_.workspace, workspace_, nullptr),
                 "Matmul");
  }

  [[nodiscard]] const char* name() const override { return dialect_.name; }

private:
  [[nodiscard]] int type(GemmType t) const { return dialect_.types[static_cast<std::size_t>(t)]; }

  Result<void> add_layout(std::size_t i, GemmType t, std::int64_t rows, std::int64_t cols,
                          std::int64_t ld, std::int64_t batch, std::int64_t stride) {
    RS_CHECK(check(api_.layout_create(&layouts_[i], type(t), static_cast<std::uint64_t>(rows),
                                      static_cast<std::uint64_t>(cols), ld),
                   "MatrixLayoutCreate"));
    if (batch == 1)
      return {};
    if (batch > INT32_MAX)
      return Error{ErrorCode::kUsage, name(), "the number of matrices does not fit into 32 bits",
                   ""};
    const auto count = static_cast<std::int32_t>(batch);
    RS_CHECK(check(api_.layout_set(layouts_[i], dialect_.batch_count, &count, sizeof count),
                   "count of the batch"));
    return check(api_.layout_set(layouts_[i], dialect_.batch_stride, &stride, sizeof stride),
                 "stride of the batch");
  }

  /// Chooses the algorithm with index `solution` in the library's list for this product, best
  /// first.
  Result<void> choose_algorithm(std::int64_t solution) {
    constexpr std::int64_t kMost = 1024;
    if (solution < 0 || solution >= kMost)
      return Error{ErrorCode::kUsage, name(), fmt::format("has no algorithm {}", solution), ""};
    const int requested = static_cast<int>(solution) + 1;
    RS_CHECK(check(api_.preference_create(&preference_), "MatmulPreferenceCreate"));
    const std::uint64_t most = memory_.workspace_bytes;
    RS_CHECK(check(api_.preference_set(preference_, kWorkspaceBytes, &most, sizeof most),
                   "size of the workspace"));
    int found = 0;
    result_ = {};
    // vectors of char are aligned for any type
    std::vector<char> results(static_cast<std::size_t>(requested) * dialect_.result_bytes +
                              result_.size());
    RS_CHECK(check(api_.heuristic(handle_, desc_, layouts_[0], layouts_[1], layouts_[2],
                                  layouts_[3], preference_, requested, results.data(), &found),
                   "MatmulAlgoGetHeuristic"));
    if (found < requested)
      return Error{ErrorCode::kUsage, name(),
                   found < 1 ? "has no algorithm for it on this device"
                             : fmt::format("has {} algorithm{} for it on this device", found,
                                           found == 1 ? "" : "s"),
                   ""};
    const char* const chosen =
        results.data() + static_cast<std::size_t>(requested - 1) * dialect_.result_bytes;
    int state = 0;
    std::memcpy(&state, chosen + dialect_.state, sizeof state);
    if (state != 0)
      return Error{ErrorCode::kUsage, name(), "has no algorithm for it on this device", ""};
    std::memcpy(result_.data(), chosen, dialect_.result_bytes);
    std::memcpy(&workspace_, result_.data() + dialect_.workspace_at, sizeof workspace_);
    return {};
  }

  void forget_problem() {
    if (desc_ != nullptr)
      (void)api_.desc_destroy(desc_);
    if (preference_ != nullptr)
      (void)api_.preference_destroy(preference_);
    desc_ = preference_ = nullptr;
    for (void*& layout : layouts_) {
      if (layout != nullptr)
        (void)api_.layout_destroy(layout);
      layout = nullptr;
    }
  }

  [[nodiscard]] Result<void> check(int status, const char* what) const {
    if (status == 0)
      return {};
    if (status == dialect_.not_supported || status == dialect_.wrong_device)
      return Error{ErrorCode::kUsage, name(), fmt::format("does not support it ({})", what), ""};
    return Error{status == dialect_.no_memory ? ErrorCode::kOutput : ErrorCode::kInternal, name(),
                 fmt::format("{}: status {}", what, status), ""};
  }

  SharedLibrary library_;
  Dialect dialect_;
  Api api_ = {};
  void *handle_ = nullptr, *desc_ = nullptr, *preference_ = nullptr;
  std::array<void*, 4> layouts_ = {};
  GemmMemory memory_;
  GemmScalar alpha_, beta_;
  /// The heuristic's result for one algorithm, which begins with the algorithm. The array is longer
  /// than the result of either library.
  alignas(16) std::array<char, 256> result_ = {};
  std::size_t workspace_ = 0;
};

} // namespace

Result<std::unique_ptr<GemmBackend>> open_light_library(const GpuRuntime& runtime,
                                                        const std::string& folder) {
  const bool nvidia = runtime.vendor() == GpuVendor::kNvidia;
  auto library =
      nvidia ? open_library(folder, {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11",
                                     "libcublasLt.so"})
             : open_library(folder, {"libhipblaslt.so.1", "libhipblaslt.so.0", "libhipblaslt.so"});
  if (!library)
    return library.error();
  auto out = std::make_unique<LightLibrary>(std::move(*library), nvidia ? kCublasLt : kHipblasLt);
  if (runtime.architecture().starts_with("gfx94"))
    out->use_fnuz();
  RS_CHECK(out->begin());
  return std::unique_ptr<GemmBackend>(std::move(out));
}

} // namespace rankscope
