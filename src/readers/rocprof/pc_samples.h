// Counts the samples of the program counter by kernel. The counts become values of kernel launches,
// like hardware counters.
#pragma once

#include "core/trace_builder.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace rankscope {

class PcSamples {
public:
  static constexpr int kReasons = 10;
  /// Returns the reason why a wave did not issue; -1 if it is unknown. It is given by rocprofiler's
  /// number, or by its name with or without the common prefix ("..._NOT_ISSUED_REASON_WAITCNT").
  [[nodiscard]] static int reason(std::string_view text);
  [[nodiscard]] static int reason(std::int64_t number);

  /// Adds a sample of a kernel; `kernel` is the caller's id for it. `issued`: whether the wave
  /// issued an instruction, if the method reports it (stochastic sampling). `reason`: why it did
  /// not issue.
  void add(std::int64_t kernel, std::optional<bool> issued, int reason);

  /// Writes the values "PC samples", "PC samples issued", "PC samples stalled: WAITCNT", ... of
  /// each launch that `event_of` knows. Returns the number of samples of other kernels.
  std::uint64_t put(TraceBuilder& out,
                    const std::function<std::optional<EventId>(std::int64_t)>& event_of) const;
  [[nodiscard]] bool empty() const { return counts_.empty(); }

private:
  /// Counts of all samples, of issued ones, by reason, and by other reasons.
  using Counts = std::array<std::uint64_t, 3 + kReasons>;
  std::unordered_map<std::int64_t, Counts> counts_;
};

} // namespace rankscope
