// Collects the allocations of GPU memory that a tool recorded, and computes the memory in use after
// each.
#pragma once

#include "core/trace_builder.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace rankscope {

/// The name of the samples; there is one sample per change and GPU.
inline constexpr std::string_view kMemoryInUse = "GPU memory in use";
/// The name of samples of scratch memory, which the runtime uses for spilled registers, per queue.
inline constexpr std::string_view kScratchInUse = "GPU scratch memory in use";

class MemoryLog {
public:
  explicit MemoryLog(std::string_view name) : name_(name) {}

  /// Adds an allocation. `device` -1: unknown (a release), or host memory, which is not counted.
  void allocate(std::int64_t at_ns, std::uint64_t address, std::int64_t bytes, std::int64_t device);
  void release(std::int64_t at_ns, std::uint64_t address);

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Writes the memory in use as samples in bytes, one track per device. Sums begin at 0, because
  /// the tool does not know memory from before its first record. Returns the number of releases of
  /// addresses that were never allocated.
  std::uint64_t put(TraceBuilder& out);

private:
  struct Row {
    std::int64_t at_ns = 0;
    std::uint64_t address = 0;
    std::int64_t bytes = 0; ///< -1 = released
    std::int64_t device = -1;
  };
  std::string_view name_; ///< name of the samples
  std::vector<Row> rows_;
};

} // namespace rankscope
