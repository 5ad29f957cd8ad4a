// Allocations of GPU memory as a tool recorded them, and how much was in use after each.
#pragma once

#include "core/trace_builder.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace rankscope {

/// The name of the samples, of which there is one per change and GPU.
inline constexpr std::string_view kMemoryInUse = "GPU memory in use";
/// The same of what the runtime holds for registers that kernels spill, by queue.
inline constexpr std::string_view kScratchInUse = "GPU scratch memory in use";

class MemoryLog {
public:
  explicit MemoryLog(std::string_view name) : name_(name) {}

  /// `device` -1: not told (a release), or the host's, which is not counted.
  void allocate(std::int64_t at_ns, std::uint64_t address, std::int64_t bytes, std::int64_t device);
  void release(std::int64_t at_ns, std::uint64_t address);

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// The sum of what was allocated and not released, by device, as samples in bytes on a track of
  /// each device. Memory from before the first record is not known to the tool: sums begin at 0.
  /// Gives the number of releases of addresses that were never allocated.
  std::uint64_t put(TraceBuilder& out);

private:
  struct Row {
    std::int64_t at_ns = 0;
    std::uint64_t address = 0;
    std::int64_t bytes = 0; ///< -1 = released
    std::int64_t device = -1;
  };
  std::string_view name_; ///< of the samples
  std::vector<Row> rows_;
};

} // namespace rankscope
