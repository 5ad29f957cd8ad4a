// What a sweep varies: named parameters, what each value sets in the environment or the arguments
// of a run, and the folder that belongs to it.
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
  /// Below the sweep: <T>thread/nccl_<C>channels, <CU>cu_<T>threads, name=value; one in the other
  /// where there are several.
  std::string folder;
  /// Variables by parameter. Several of one parameter are spellings of the same thing for different
  /// libraries.
  std::map<std::string, EnvironmentChanges> environment;
  std::vector<std::string> unset; ///< where a value is the library's own

  bool operator==(const SweepSetting&) const = default;
};

/// "28,42,56" as positive numbers without repetition. Errors: kUsage naming `flag`.
Result<std::vector<std::int64_t>> number_list(std::string_view text, const std::string& flag);
/// "56,256 37,384" as pairs of compute units and threads. Errors: kUsage.
struct CuPair {
  std::int64_t cus = 0, threads = 0;
  bool operator==(const CuPair&) const = default;
};
Result<std::vector<CuPair>> pair_list(std::string_view text);

/// Every combination, threads outer, channels inner, as given. Channels are NCCL_MAX_NCHANNELS (an
/// upper bound), with `exact` NCCL_MIN_NCHANNELS too.
[[nodiscard]] std::vector<SweepSetting> grid_settings(const std::vector<std::int64_t>& threads,
                                                      const std::vector<std::int64_t>& channels,
                                                      bool exact);
/// RCCL's warp speed: compute units and threads.
[[nodiscard]] std::vector<SweepSetting> pair_settings(const std::vector<CuPair>& pairs);

/// A file of named parameters (docs/sweep.md), all combinations or a list of them. Errors:
/// kUnreadable; kUsage naming the member that is wrong.
Result<std::vector<SweepSetting>> matrix_settings(const std::string& path);

/// Combines each of `outer` with each of `inner`. Errors: kUsage when a parameter is in both or two
/// settings would share a folder.
Result<std::vector<SweepSetting>> combined(const std::vector<SweepSetting>& outer,
                                           const std::vector<SweepSetting>& inner);

/// Fills in label and folder by the parameters.
void name_setting(SweepSetting& setting);

} // namespace rankscope
