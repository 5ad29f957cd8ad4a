// Facts about a run of a sweep in addition to its exit code: processes that outlived it, its log,
// and the settings that the collective library used.
#pragma once

#include "core/energy_doubt.h"

#include <string>
#include <vector>

namespace rankscope {

/// The requested setting compared with the library's log.
struct SettingCheck {
  enum class Kind {
    kValue,        ///< the library read a different value of a variable
    kUnread,       ///< the library read no variable of a parameter
    kChannelCount, ///< the library used a different number of channels
  };
  struct Difference {
    Kind kind = Kind::kValue;
    std::string name;  ///< the variable, or the variables of the parameter
    std::string asked; ///< kUnread: the parameter and its value
    std::string used;  ///< "" for kUnread
  };
  bool silent = false; ///< a setting was requested, but the log has no line of the library
  std::vector<Difference> differences;
  std::vector<std::string> warnings; ///< warnings in the library's log
  /// Returns true if the log shows no difference from the requested setting.
  [[nodiscard]] bool took_effect() const { return differences.empty(); }
};

struct RunCheck {
  int left_behind = 0;      ///< processes that still ran after the end of the command
  int killed = 0;           ///< those of left_behind that did not end when they were asked to
  double grace_s = 0;       ///< time that those processes had to end
  std::string lost_output;  ///< why run_output.log is incomplete; "" = it is complete
  std::string no_energy;    ///< why power was not sampled; "" = it was sampled or not requested
  std::string lost_samples; ///< why the samples are incomplete; "" = they are complete
  std::vector<EnergyDoubt> energy; ///< why the joules are uncertain
  SettingCheck library;
};

} // namespace rankscope
