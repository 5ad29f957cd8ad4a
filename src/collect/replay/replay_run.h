// Runs recorded operators again with the libraries' bench programs, with the libraries themselves
// (collect/gemm), or with PyTorch. Each runs in a separate process, started by argument list.
#pragma once

#include "model/replay/replay_request.h"
#include "os/tasks.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

enum class ReplayRunner : std::uint8_t {
  /// Bench program; if it is missing, products call the libraries; also PyTorch if `python` is set.
  kAuto,
  kBench,  ///< hipblaslt-bench and MIOpenDriver alone
  kNative, ///< cuBLASLt or hipBLASLt alone, for products
  kTorch,  ///< PyTorch alone
  kNone,   ///< nothing is run
};

struct ReplayRunOptions {
  ReplayRunner runner = ReplayRunner::kAuto;
  std::string hipblaslt_bench, miopen_driver; ///< "" = searched for in PATH
  std::string python;    ///< interpreter with PyTorch; "" = not used (kTorch: python3)
  std::string libraries; ///< folder of the vendor's libraries, "" = where the loader looks
  std::string program = "/proc/self/exe"; ///< rankscope, started as a child that measures
  unsigned repeats = 1;                   ///< runs of each command; the result is their mean
  std::uint64_t torch_calls = 1000, torch_warm_up = 1000;
  std::chrono::milliseconds timeout{300'000}; ///< limit for one run
  CancelToken cancel;                         ///< calls not measured yet are "skipped"
};

/// An operator to be run. Its views must outlive the call.
struct ReplayCall {
  const ReplayRequest* request = nullptr;
  std::string_view name, dims, types, strides, concrete; ///< as recorded: JSON texts
};

/// Called for each finished call.
using ReplayProgress = std::function<void(std::size_t done, const ReplayTime&)>;

/// Measures by bench program or library. Returns one result per call, in the order of `calls`. The
/// time of a call with several commands (a gradient) is their sum. Status "unsupported" without a
/// command, "skipped" if the runner is kTorch or kNone. A missing program is searched for only
/// once.
[[nodiscard]] std::vector<ReplayTime> replay_benches(std::span<const ReplayCall> calls,
                                                     const ReplayRunOptions& options,
                                                     const ReplayProgress& progress);

/// Measures by PyTorch; all results are empty if PyTorch was not requested.
[[nodiscard]] std::vector<ReplayTime> replay_torch(std::span<const ReplayCall> calls,
                                                   const ReplayRunOptions& options,
                                                   const ReplayProgress& progress);
/// Finds the script's result for one call in PyTorch's output. The time is set only if it is valid.
/// The status is ok, missing, unsupported, failed, or "" if no line has one of these.
[[nodiscard]] ReplayTime parse_torch_outcome(std::string_view output);

} // namespace rankscope
