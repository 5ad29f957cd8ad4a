// RS_ASSERT checks a condition that is false only if the program has a bug. It is active in every
// build and is not used in loops over events. Invalid input is reported as an Error; it never makes
// the condition false.
#pragma once

#include <stdexcept>
#include <string>

namespace rankscope {

/// Throws std::logic_error; main() and the tasks of the pool report "internal error, please report"
/// (exit code 70).
[[noreturn]] inline void fail_invariant(const char* file, int line, const char* condition) {
  throw std::logic_error(std::string(file) + ":" + std::to_string(line) + ": " + condition);
}

} // namespace rankscope

/// The message is the text of the condition; `x && "why"` adds an explanation.
#define RS_ASSERT(condition)                                                                       \
  static_cast<void>(                                                                               \
      (condition) ? 0 : (::rankscope::fail_invariant(__FILE_NAME__, __LINE__, #condition), 0))
