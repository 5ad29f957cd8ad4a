// What is known about a run of a sweep in addition to its exit code: processes that ran longer than
// its command, its log, and the settings that the collective library used.
#pragma once

#include "core/energy_doubt.h"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace rankscope {

/// Compares the requested setting with the log of the collective library.
struct SettingCheck {
  enum class Kind {
    kValue,        ///< the value that the library read for a variable differs from the requested
                   ///< value
    kUnread,       ///< processes of the run read no variable of the parameter
    kChannelCount, ///< the number of channels that the library used differs from the requested
                   ///< number
  };
  struct Difference {
    Kind kind = Kind::kValue;
    std::string name;  ///< the variable; for kUnread all variables of the parameter
    std::string asked; ///< the requested value; for kUnread: the parameter and its value
    std::string used;  ///< "" for kUnread
    std::set<std::string> processes; ///< those with the difference; empty for kChannelCount
    std::size_t all_processes = 0;   ///< number of processes that read any variable
  };
  bool silent = false; ///< a setting was requested, but the library wrote no line to the log
  std::vector<Difference> differences;
  std::vector<std::string> warnings; ///< warnings in the library's log
  /// Returns true if the log shows no difference from the requested setting.
  [[nodiscard]] bool took_effect() const { return differences.empty(); }
};

struct RunCheck {
  int left_behind = 0;      ///< number of processes that were still running after the end of the
                            ///< command
  int killed = 0;           ///< number of these processes that had to be killed, because they did
                            ///< not end when asked
  double grace_s = 0;       ///< time that these processes had to end
  std::string lost_output;  ///< why run_output.log is incomplete; "" = it is complete
  std::string no_energy;    ///< why power was not sampled; "" = it was sampled or not requested
  std::string lost_samples; ///< why the samples are incomplete; "" = they are complete
  std::vector<EnergyDoubt> energy; ///< why the energy values are uncertain
  SettingCheck library;
};

} // namespace rankscope
