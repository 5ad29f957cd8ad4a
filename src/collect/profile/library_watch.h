// Polls which libraries are loaded in the processes of a run.
#pragma once

#include "base/noncopyable.h"
#include "collect/profile/plan.h"

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <sys/types.h>
#include <thread>

namespace rankscope {

/// Library name to the environment of the first process that loaded the library.
using SeenLibraries = std::map<std::string, EnvPairs>;

/// Returns the libraries whose logs the plan's tools read.
[[nodiscard]] std::set<std::string> watched_libraries(const Plan& plan);

class LibraryWatch : NonCopyable {
public:
  /// Polls `root` and its descendants, often in the first second, then four times per second. Does
  /// nothing if `names` is empty.
  LibraryWatch(pid_t root, std::set<std::string> names);
  ~LibraryWatch();
  SeenLibraries stop();

private:
  void poll(pid_t root);

  std::set<std::string> names_;
  SeenLibraries seen_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

} // namespace rankscope
