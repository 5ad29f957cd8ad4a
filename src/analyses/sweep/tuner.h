// Writes a tuner file for the tuner plugins of NCCL and RCCL (CSV; the plugin examples read the
// same format). It sets algorithm, protocol and channels per collective and size, from a sweep over
// these.
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

/// The tuner values of a setting, with the names that the file uses.
struct TunerChoice {
  std::string algorithm, protocol; ///< "ring", "ll128"
  std::int64_t channels = 0;
  bool operator==(const TunerChoice&) const = default;
};

/// Parses values of NCCL_ALGO and NCCL_PROTO. nullopt unless both are a single known name (not a
/// list, an exclusion or "") and `channels` is above 0.
[[nodiscard]] std::optional<TunerChoice>
tuner_choice(std::string_view algorithm, std::string_view protocol, std::int64_t channels);

/// Returns the name that the file uses for a collective; "" if it has no name for it.
[[nodiscard]] std::string_view tuner_collective(std::string_view name);

/// A setting of the sweep, identified by its label, and its choice.
struct TunerSetting {
  std::string label;
  TunerChoice choice;
};

/// A configuration's collectives and its setting. The label of the setting is the configuration's
/// label without the parameter `repeat`.
struct TunerSource {
  std::size_t setting = 0; ///< index
  const ConfigurationCollectives* collectives = nullptr;
};

/// Returns the content of the tuner file. For each measured collective, number of ranks and size,
/// the file names the setting with the shortest latency if that is significantly shorter than with
/// the default, else the default. The test is Welch's over the steps, with wider intervals if steps
/// depend on each other, at 95 % for all such comparisons together; a trace without steps is one
/// sample. Sizes between two measured sizes belong to the nearer one. Rows reach from half the
/// smallest to twice the largest measured size. There are no rows beyond that, or for collectives
/// that were not measured. Every row sets the number of channels. An algorithm that does not
/// support the collective is never named. Errors: kUnreadable if nothing was measured with the
/// default.
Result<std::string> tuner_file(const std::vector<TunerSetting>& settings,
                               std::size_t default_setting,
                               const std::vector<TunerSource>& sources);

} // namespace rankscope
