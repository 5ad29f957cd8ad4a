// Facts that NCCL or RCCL logs at NCCL_DEBUG=INFO: version, variables that the library read,
// channels, ranks, warnings. Also checks whether these facts match a setting.
#pragma once

#include "collect/sweep_settings.h"
#include "core/run_check.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Facts from all processes of a run.
struct NcclFacts {
  std::string library, version; ///< "RCCL", "2.22.3"; empty when not logged
  /// Variables "set by environment": the processes that read each value, as "HOST:PID".
  std::map<std::string, std::map<std::string, std::set<std::string>>> environment;
  /// Lowest and highest number for collectives.
  std::optional<std::int64_t> channels, most_channels;
  std::int64_t ranks = 0;            ///< size of the largest communicator
  std::vector<std::string> warnings; ///< the first eight different warnings
  bool found = false;                ///< the log has a line of the library

  /// Reads one line of a log; lines without a fact are skipped. `source` names the process of a
  /// line without "HOST:PID".
  void read_line(std::string_view line, const std::string& source);
  /// Reads a complete file in bounded memory; a file that cannot be opened counts as empty.
  void read_file(const std::string& path);
};

/// Checks whether the library used the values of the setting in each process that read variables.
[[nodiscard]] SettingCheck check_setting(const NcclFacts& seen, const SweepSetting& setting);

} // namespace rankscope
