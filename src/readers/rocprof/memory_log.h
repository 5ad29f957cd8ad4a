// Collects the allocations and releases of GPU memory in a recording, and computes the memory in
// use after each of them.
#pragma once

#include "core/trace_builder.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace rankscope {

/// The name of the samples; there is one sample per change and GPU.
inline constexpr std::string_view kMemoryInUse = "GPU memory in use";
/// The name of the samples of scratch memory, which the runtime allocates per queue for spilled
/// registers.
inline constexpr std::string_view kScratchInUse = "GPU scratch memory in use";

class MemoryLog {
public:
  explicit MemoryLog(std::string_view name) : name_(name) {}

  /// Adds an allocation. `device` -1: unknown (only the release was recorded), or host memory,
  /// which is not counted.
  void allocate(std::int64_t at_ns, std::uint64_t address, std::int64_t bytes, std::int64_t device);
  void release(std::int64_t at_ns, std::uint64_t address);

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Writes the memory in use as samples in bytes, on one track per device. Sums begin at 0,
  /// because memory that was allocated before the recording is unknown. Returns the number of
  /// releases of addresses whose allocation was not recorded.
  std::uint64_t put(TraceBuilder& out);

private:
  struct Row {
    std::int64_t at_ns = 0;
    std::uint64_t address = 0;
    std::int64_t bytes = 0; ///< -1: the memory was released
    std::int64_t device = -1;
  };
  std::string_view name_; ///< name of the samples
  std::vector<Row> rows_;
};

} // namespace rankscope
