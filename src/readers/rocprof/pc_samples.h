// Counts program counter (PC) samples per kernel launch. The counts become values of the launch,
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
  /// Returns the index of the reason why a wave did not issue an instruction; -1 if it is not
  /// known. `text` is rocprofiler's name, with or without the common prefix
  /// ("..._NOT_ISSUED_REASON_WAITCNT"); `number` is rocprofiler's number.
  [[nodiscard]] static int reason(std::string_view text);
  [[nodiscard]] static int reason(std::int64_t number);

  /// Adds a sample of a kernel; `kernel` is an id that the caller chooses. `issued`: whether the
  /// wave issued an instruction; empty if the sampling method does not report it (only stochastic
  /// sampling does). `reason`: why it did not.
  void add(std::int64_t kernel, std::optional<bool> issued, int reason);

  /// Writes the values "PC samples", "PC samples issued", "PC samples stalled: WAITCNT", ... of
  /// each launch for which `event_of` returns an event. Returns the number of samples of all other
  /// launches.
  std::uint64_t put(TraceBuilder& out,
                    const std::function<std::optional<EventId>(std::int64_t)>& event_of) const;
  [[nodiscard]] bool empty() const { return counts_.empty(); }

private:
  /// Number of all samples, of issued ones, of those with each reason, and of those with another
  /// reason.
  using Counts = std::array<std::uint64_t, 3 + kReasons>;
  std::unordered_map<std::int64_t, Counts> counts_;
};

} // namespace rankscope
