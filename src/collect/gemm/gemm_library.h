// A vendor's library of matrix products, opened at run time.
#pragma once

#include "base/noncopyable.h"
#include "base/result.h"
#include "collect/gemm/gemm_problem.h"
#include "collect/gemm/gpu_runtime.h"

#include <array>
#include <cstddef>
#include <memory>
#include <string>

namespace rankscope {

/// Addresses on the device.
struct GemmMemory {
  const void *a = nullptr, *b = nullptr, *c = nullptr;
  void* d = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

/// alpha or beta in the type of the library's scalars.
struct GemmScalar {
  alignas(8) std::array<char, 8> bytes = {};
};
/// Returns the type of alpha and beta.
[[nodiscard]] GemmType gemm_scale_type(GemmCompute compute);
/// Converts `value` (0, 0.5 or 1) to the type of alpha and beta; for integers, 0.5 becomes 1.
[[nodiscard]] GemmScalar gemm_scalar(GemmCompute compute, double value);

/// A library of matrix products. Errors of prepare() and launch(): kUsage if the library does not
/// support the product, kOutput if there is not enough memory, kInternal for other errors of the
/// library.
class GemmBackend : public Interface {
public:
  virtual Result<void> prepare(const GemmProblem& problem, const GemmMemory& memory) = 0;
  /// Starts one product on the default stream.
  virtual Result<void> launch() = 0;
  [[nodiscard]] virtual const char* name() const = 0; ///< cublasLt
};

/// Opens a library. Errors: kMissingTool.
Result<std::unique_ptr<GemmBackend>> open_light_library(const GpuRuntime& runtime,
                                                        const std::string& folder);
Result<std::unique_ptr<GemmBackend>> open_cublas(const std::string& folder);
Result<std::unique_ptr<GemmBackend>> open_rocblas(const std::string& folder);

} // namespace rankscope
