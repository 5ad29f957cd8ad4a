// Settings of a sweep: named parameters, the environment or arguments that each value sets in a
// run, and the folder of each setting.
#pragma once

#include "base/result.h"
#include "core/run.h"
#include "os/environment.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// One point of a sweep.
struct SweepSetting {
  Configuration configuration;
  /// Path below the sweep's folder: <T>thread/nccl_<C>channels, <CU>cu_<T>threads, or name=value.
  /// Several parts are nested folders.
  std::string folder;
  /// Variables by parameter. Several variables of one parameter mean the same thing for different
  /// libraries.
  std::map<std::string, EnvironmentChanges> environment;
  std::vector<std::string> unset; ///< variables with the library's default value

  bool operator==(const SweepSetting&) const = default;
};

/// Parses "28,42,56" as positive numbers without repetition. Errors: kUsage naming `flag`.
Result<std::vector<std::int64_t>> number_list(std::string_view text, const std::string& flag);
/// Pairs of compute units and threads, parsed from "56,256 37,384". Errors: kUsage.
struct CuPair {
  std::int64_t cus = 0, threads = 0;
  bool operator==(const CuPair&) const = default;
};
Result<std::vector<CuPair>> pair_list(std::string_view text);

/// Returns every combination in the given order, threads outer, channels inner. Channels set
/// NCCL_MAX_NCHANNELS (an upper bound); with `exact` they also set NCCL_MIN_NCHANNELS.
[[nodiscard]] std::vector<SweepSetting> grid_settings(const std::vector<std::int64_t>& threads,
                                                      const std::vector<std::int64_t>& channels,
                                                      bool exact);
/// Returns settings of RCCL's warp speed: compute units and threads.
[[nodiscard]] std::vector<SweepSetting> pair_settings(const std::vector<CuPair>& pairs);

/// Reads a file of named parameters (docs/sweep.md): all combinations or a list of them. Errors:
/// kUnreadable; kUsage naming the invalid member.
Result<std::vector<SweepSetting>> matrix_settings(const std::string& path);

/// Combines each of `outer` with each of `inner`. Errors: kUsage when a parameter is in both or two
/// settings would share a folder.
Result<std::vector<SweepSetting>> combined(const std::vector<SweepSetting>& outer,
                                           const std::vector<SweepSetting>& inner);

/// Sets label and folder from the parameters.
void name_setting(SweepSetting& setting);

} // namespace rankscope
