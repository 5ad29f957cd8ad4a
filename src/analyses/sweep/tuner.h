// A tuner file for the tuner plugins of NCCL and RCCL (CSV; their examples read the same format):
// which algorithm, protocol and channels for which collective and size, from a sweep over those.
#pragma once

#include "analyses/sweep/nccl_master.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// The choice of a setting, with the names of the file.
struct TunerChoice {
  std::string algorithm, protocol; ///< "ring", "ll128"
  std::int64_t channels = 0;
  bool operator==(const TunerChoice&) const = default;
};

/// Parses values of NCCL_ALGO and NCCL_PROTO. nullopt unless both are a single known name (not a
/// list, an exclusion or "") and `channels` is above 0.
[[nodiscard]] std::optional<TunerChoice>
tuner_choice(std::string_view algorithm, std::string_view protocol, std::int64_t channels);

/// Returns the file's name of a collective; "" if the file has no name for it.
[[nodiscard]] std::string_view tuner_collective(std::string_view name);

/// A setting of the sweep by its label, and its choice.
struct TunerSetting {
  std::string label;
  TunerChoice choice;
};

/// Configurations belong to the setting whose label theirs is, without a parameter `repeat`.
struct TunerSource {
  std::size_t setting = 0; ///< index
  const ConfigurationCollectives* collectives = nullptr;
};

/// The file. For each collective, number of ranks and size that was measured it names the setting
/// with the shortest latency if it is significantly shorter than with the default (Welch over the
/// steps, widened where steps depend on each other, at 95 % over all such comparisons; a trace
/// without steps is one sample), else the default; sizes between two measured ones
/// belong to the nearer. Rows reach from half the smallest to twice the largest measured size;
/// beyond that, and for collectives that were not measured, there is no row. Every row has
/// channels. Algorithms that a collective does not have are never named. Errors: kUnreadable when
/// nothing was measured with the default.
Result<std::string> tuner_file(const std::vector<TunerSetting>& settings,
                               std::size_t default_setting,
                               const std::vector<TunerSource>& sources);

} // namespace rankscope
