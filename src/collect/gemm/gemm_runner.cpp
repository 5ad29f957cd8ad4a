#include "collect/gemm/gemm_runner.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr std::size_t kWorkspace = std::size_t{32} << 20; // PyTorch's workspace on Hopper

/// Returns elements of a type with random signs and fractions from 1/2 to 1. Zeros and constants
/// take less power and run faster than the values in training.
std::string random_elements(GemmType type) {
  constexpr std::size_t kBytes = std::size_t{1} << 20;
  std::string out(kBytes, '\0');
  std::uint64_t state = 0x9E3779B97F4A7C15; // xorshift64
  const auto random = [&] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  };
  /// Bits of 1/2, number of fraction bits, position of the sign bit.
  struct Layout {
    std::uint64_t half;
    int fraction, sign;
  };
  const auto layout = [&]() -> Layout {
    switch (type) {
    case GemmType::kF64:
      return {0x3FE0000000000000, 52, 63};
    case GemmType::kF32:
      return {0x3F000000, 23, 31};
    case GemmType::kF16:
      return {0x3800, 10, 15};
    case GemmType::kBf16:
      return {0x3F00, 7, 15};
    case GemmType::kF8E4M3:
      return {0x30, 3, 7};
    case GemmType::kF8E5M2:
      return {0x38, 2, 7};
    case GemmType::kI8:
      return {0, 7, 7};
    case GemmType::kI32:
      return {0, 7, 31};
    }
    return {0, 7, 7};
  }();
  const std::size_t size = gemm_type_bytes(type);
  for (std::size_t at = 0; at < kBytes; at += size) {
    const std::uint64_t r = random();
    const std::uint64_t value =
        layout.half | (r & ((std::uint64_t{1} << layout.fraction) - 1)) | (r >> 63) << layout.sign;
    std::memcpy(out.data() + at, &value, size); // little-endian
  }
  return out;
}

struct MatrixSize {
  GemmType type;
  std::int64_t ld, cols, stride;
  [[nodiscard]] std::size_t bytes(std::int64_t batch) const {
    return static_cast<std::size_t>(ld * cols + stride * (batch - 1)) * gemm_type_bytes(type);
  }
};

} // namespace

GemmType gemm_scale_type(GemmCompute compute) {
  switch (compute) {
  case GemmCompute::kF64:
    return GemmType::kF64;
  case GemmCompute::kF16:
    return GemmType::kF16;
  case GemmCompute::kI32:
    return GemmType::kI32;
  default:
    return GemmType::kF32;
  }
}

GemmScalar gemm_scalar(GemmCompute compute, double value) {
  GemmScalar out;
  const auto put = [&](auto number) { std::memcpy(out.bytes.data(), &number, sizeof number); };
  switch (gemm_scale_type(compute)) {
  case GemmType::kF64:
    put(value);
    break;
  case GemmType::kF16: // bits of 0, 1/2 and 1
    put(static_cast<std::uint16_t>(value == 0 ? 0 : value < 1 ? 0x3800 : 0x3C00));
    break;
  case GemmType::kI32:
    put(static_cast<std::int32_t>(value > 0 ? 1 : 0));
    break;
  default:
    put(static_cast<float>(value));
    break;
  }
  return out;
}

Result<std::unique_ptr<GemmRunner>> GemmRunner::open(GemmFamily family, const std::string& folder) {
  std::string missing;
  for (const GpuVendor vendor : {GpuVendor::kNvidia, GpuVendor::kAmd}) {
    std::unique_ptr<GemmRunner> out(new GemmRunner);
    auto runtime = GpuRuntime::open(vendor, folder);
    if (!runtime) {
      missing += (missing.empty() ? "" : "; ") + runtime.error().message();
      continue;
    }
    out->runtime_ = std::move(*runtime);
    auto library = family == GemmFamily::kLight   ? open_light_library(*out->runtime_, folder)
                   : vendor == GpuVendor::kNvidia ? open_cublas(folder)
                                                  : open_rocblas(folder);
    if (!library) {
      missing += (missing.empty() ? "" : "; ") + library.error().message();
      continue;
    }
    out->library_ = std::move(*library);
    return out;
  }
  return Error{ErrorCode::kMissingTool, "", missing, ""};
}

Result<void> GemmRunner::allocate(const GemmProblem& p) {
  for (GpuBuffer& buffer : buffers_)
    buffer = GpuBuffer();
  const std::array<MatrixSize, 4> matrices = {{{p.a, p.lda, p.cols_a(), p.stride_a},
                                               {p.b, p.ldb, p.cols_b(), p.stride_b},
                                               {p.c, p.ldc, p.n, p.stride_c},
                                               {p.d, p.ldd, p.n, p.stride_d}}};
  // D is also used as C if C is not read and both have the same layout. D has room for C's layout
  // too, because libraries without a separate D write with C's dimensions.
  const bool separate_c = p.beta || p.c != p.d || p.ldc != p.ldd || p.stride_c != p.stride_d;
  double bytes = static_cast<double>(kWorkspace);
  for (std::size_t i = 0; i < matrices.size(); ++i)
    if (i != 2 || separate_c)
      bytes += static_cast<double>(matrices[i].bytes(p.batch));
  const double free = static_cast<double>(runtime_->free_bytes());
  if (bytes > free)
    return Error{ErrorCode::kOutput, device(),
                 fmt::format("needs {:.2f} GB of memory, but only {:.2f} GB are free", bytes / 1e9,
                             free / 1e9),
                 ""};
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    if (i == 2 && !separate_c)
      continue;
    const std::size_t size = i == 3
                                 ? std::max(matrices[3].bytes(p.batch), matrices[2].bytes(p.batch))
                                 : matrices[i].bytes(p.batch);
    RS_TRY(buffers_[i], GpuBuffer::make(*runtime_, size, random_elements(matrices[i].type)));
  }
  RS_TRY(buffers_[4], GpuBuffer::make(*runtime_, kWorkspace, ""));
  return {};
}

Result<void> GemmRunner::prepare(const GemmProblem& p) {
  if (const std::string why = p.problem(); !why.empty())
    return Error{ErrorCode::kUsage, "", why, ""};
  RS_CHECK(allocate(p));
  GemmMemory memory;
  memory.a = buffers_[0].data();
  memory.b = buffers_[1].data();
  memory.d = buffers_[3].data();
  memory.c = buffers_[2].data() != nullptr ? buffers_[2].data() : memory.d;
  memory.workspace = buffers_[4].data();
  memory.workspace_bytes = kWorkspace;
  return library_->prepare(p, memory);
}

Result<double> GemmRunner::run(std::uint64_t iters) {
  RS_TRY(const double all, runtime_->time_us([&]() -> Result<void> {
    for (std::uint64_t i = 0; i < iters; ++i)
      RS_CHECK(library_->launch());
    return {};
  }));
  return all / static_cast<double>(std::max<std::uint64_t>(iters, 1));
}

const char* GemmRunner::vendor() const {
  return runtime_->vendor() == GpuVendor::kNvidia ? "NVIDIA" : "AMD";
}

} // namespace rankscope
