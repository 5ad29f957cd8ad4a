// Runs recorded operators again: by the libraries' bench programs, by the libraries themselves
// (collect/gemm), or by PyTorch. Each runs in a separate process, by argument list.
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
  kAuto,   ///< the bench program; products without one by the libraries; PyTorch where `python` is
  kBench,  ///< hipblaslt-bench and MIOpenDriver alone
  kNative, ///< cuBLASLt or hipBLASLt alone: products
  kTorch,  ///< PyTorch alone
  kNone,   ///< nothing is run
};

struct ReplayRunOptions {
  ReplayRunner runner = ReplayRunner::kAuto;
  std::string hipblaslt_bench, miopen_driver; ///< "" = by their names in PATH
  std::string python;    ///< interpreter with PyTorch; "" = not asked for (kTorch: python3)
  std::string libraries; ///< folder of the vendor's libraries, "" = where the loader looks
  std::string program = "/proc/self/exe"; ///< rankscope, which measures products in its child
  unsigned repeats = 1;                   ///< runs of each command, whose mean counts
  std::uint64_t torch_calls = 1000, torch_warm_up = 1000;
  std::chrono::milliseconds timeout{300'000}; ///< of one run
  CancelToken cancel;                         ///< calls not measured yet are "skipped"
};

/// An operator to be run. Views must outlive the call.
struct ReplayCall {
  const ReplayRequest* request = nullptr;
  std::string_view name, dims, types, strides, concrete; ///< as recorded: JSON texts
};

/// Gets each call that is done.
using ReplayProgress = std::function<void(std::size_t done, const ReplayTime&)>;

/// Measures by bench program or library: one result for each call, in their order. A call that
/// needs several commands (a gradient) gets their sum. Status "unsupported" without a command,
/// "skipped" where the runner is kTorch or kNone. A missing program is looked for once.
[[nodiscard]] std::vector<ReplayTime> replay_benches(std::span<const ReplayCall> calls,
                                                     const ReplayRunOptions& options,
                                                     const ReplayProgress& progress);

/// Measures by PyTorch; everything is empty if PyTorch was not requested.
[[nodiscard]] std::vector<ReplayTime> replay_torch(std::span<const ReplayCall> calls,
                                                   const ReplayRunOptions& options,
                                                   const ReplayProgress& progress);
/// Finds the script's result for one call in PyTorch's output: the time only if it is valid, the
/// status ok, missing, unsupported, failed, or "" if no line has one of these.
[[nodiscard]] ReplayTime parse_torch_outcome(std::string_view output);

} // namespace rankscope
