// Measures a matrix product with the libraries of this machine's GPU, in this process. A library
// that crashes ends this process too; gemm_process.h does the same in a separate process.
#pragma once

#include "base/result.h"
#include "collect/gemm/gemm_library.h"
#include "collect/gemm/gemm_problem.h"
#include "collect/gemm/gpu_runtime.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace rankscope {

class GemmRunner {
public:
  /// Opens NVIDIA's libraries, else AMD's. `folder` contains them; "" = the loader's search path.
  /// Errors: kMissingTool with the missing parts of both vendors.
  static Result<std::unique_ptr<GemmRunner>> open(GemmFamily family, const std::string& folder);

  /// Allocates and fills the matrices (values of both signs from 1/2 to 1), frees the previous
  /// matrices, and lets the library choose its algorithm. Errors: kOutput: not enough memory on the
  /// device; kUsage: the library cannot do it; kInternal: any other error of the library.
  Result<void> prepare(const GemmProblem& problem);
  /// Returns the microseconds per call, from device events around `iters` calls. Errors: as in
  /// prepare().
  Result<double> run(std::uint64_t iters);

  [[nodiscard]] const char* vendor() const; ///< NVIDIA, AMD
  [[nodiscard]] const std::string& device() const { return runtime_->device(); }
  [[nodiscard]] const std::string& architecture() const { return runtime_->architecture(); }
  [[nodiscard]] const char* backend() const { return library_->name(); }

private:
  GemmRunner() = default;
  Result<void> allocate(const GemmProblem& problem);

  // members are destroyed from the last to the first
  std::unique_ptr<GpuRuntime> runtime_;
  std::array<GpuBuffer, 5> buffers_; ///< A, B, C, D, workspace
  std::unique_ptr<GemmBackend> library_;
};

} // namespace rankscope
