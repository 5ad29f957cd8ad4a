// Facts about a run of a sweep in addition to its exit code: processes that outlived it, its log,
// and what the library of collectives used of its setting.
#pragma once

#include "core/energy_doubt.h"

#include <string>
#include <vector>

namespace rankscope {

/// What a setting asked for against the library's log.
struct SettingCheck {
  enum class Kind {
    kValue,    ///< the library read another value of a variable
    kUnread,   ///< it read none of the variables of a parameter
    kChannels, ///< it used another number of channels
  };
  struct Difference {
    Kind kind = Kind::kValue;
    std::string name;  ///< the variable, or those of the parameter
    std::string asked; ///< kUnread: the parameter and its value
    std::string used;  ///< "" of kUnread
  };
  bool silent = false; ///< something was asked of the library, and its log has no line
  std::vector<Difference> differences;
  std::vector<std::string> warnings; ///< of the library
  /// The log does not show another value than the one asked for.
  [[nodiscard]] bool took_effect() const { return differences.empty(); }
};

struct RunCheck {
  int left_behind = 0;             ///< processes that still ran after the end of the command
  int killed = 0;                  ///< of those: they did not end when they were asked to
  double grace_s = 0;              ///< how long they had
  std::string lost_output;         ///< why run_output.log is incomplete; "" = it is complete
  std::string no_energy;           ///< why power was not sampled; "" = it was, or it was not wanted
  std::string lost_samples;        ///< why the samples are incomplete; "" = they are complete
  std::vector<EnergyDoubt> energy; ///< why the joules are uncertain
  SettingCheck library;
};

} // namespace rankscope
