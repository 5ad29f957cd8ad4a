// Samples of the program counter, counted by the kernel that they fell into: they become values of
// its launches, as hardware counters are.
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
  /// Why a wave did not issue, by rocprofiler's number or by its name with or without the common
  /// beginning ("..._NOT_ISSUED_REASON_WAITCNT"); -1 for another one.
  [[nodiscard]] static int reason(std::string_view text);
  [[nodiscard]] static int reason(std::int64_t number);

  /// Adds a sample of the kernel that the caller knows by `kernel`. `issued`: whether the wave
  /// issued an instruction, if the method reports it (stochastic sampling); `reason`: why not.
  void add(std::int64_t kernel, std::optional<bool> issued, int reason);

  /// Writes "PC samples", "PC samples issued", "PC samples stalled: WAITCNT", ... of each launch
  /// that `event_of` knows. Returns the number of samples of kernels that it does not know.
  std::uint64_t put(TraceBuilder& out,
                    const std::function<std::optional<EventId>(std::int64_t)>& event_of) const;
  [[nodiscard]] bool empty() const { return counts_.empty(); }

private:
  /// All, issued, by reason, by another reason.
  using Counts = std::array<std::uint64_t, 3 + kReasons>;
  std::unordered_map<std::int64_t, Counts> counts_;
};

} // namespace rankscope
