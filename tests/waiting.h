// Waits until another process has reached a state: returns as soon as it has, and allows for a busy
// machine.
#pragma once

#include "temp_folder.h"

#include <chrono>
#include <functional>
#include <string>
#include <sys/types.h>
#include <thread>

namespace rankscope::test {

/// Whether `holds` returns true within a minute.
inline bool soon(const std::function<bool()>& holds) {
  for (int i = 0; i < 6000; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(10)))
    if (holds())
      return true;
  return false;
}

/// Whether the process exists and has not ended.
inline bool alive(pid_t pid) {
  const std::string stat = bytes_of("/proc/" + std::to_string(pid) + "/stat");
  return !stat.empty() && stat.find(") Z ") == std::string::npos;
}

} // namespace rankscope::test
