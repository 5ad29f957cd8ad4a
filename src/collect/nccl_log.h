// Facts that NCCL or RCCL logs at NCCL_DEBUG=INFO: version, variables that it read, channels,
// ranks, warnings; and whether they match what a setting asked for.
#pragma once

#include "collect/sweep_settings.h"
#include "core/run_check.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Facts from all processes of a run.
struct NcclFacts {
  std::string library, version;                        ///< "RCCL", "2.22.3"; empty when not logged
  std::map<std::string, std::string> environment;      ///< variables "set by environment"
  std::optional<std::int64_t> channels, most_channels; ///< for collectives: least and most
  std::int64_t ranks = 0;                              ///< of the largest communicator
  std::vector<std::string> warnings;                   ///< the first eight different ones
  bool found = false;                                  ///< the log has a line of the library

  /// Reads one line of a log; lines without a fact are skipped.
  void read_line(std::string_view line);
  /// Reads a complete file in bounded memory; a file that cannot be opened counts as empty.
  void read_file(const std::string& path);
};

/// Whether a setting is what the library used.
[[nodiscard]] SettingCheck check_setting(const NcclFacts& seen, const SweepSetting& setting);

} // namespace rankscope
