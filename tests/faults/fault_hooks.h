// Failures on demand, for test executables only: the nth allocation, the nth start of a thread, the
// nth call that writes a file. fault_hooks.cpp replaces operator new and stands before the
// library's functions; linked into a program, it does nothing until it is armed.
#pragma once

#include <cstdint>

namespace rankscope::test {

enum class Fault : unsigned { kAllocation, kThread, kWrite };
inline constexpr unsigned kFaults = 3;

/// From now on the calls of this kind are counted from 1; those from `nth` to `nth + times - 1`
/// fail (nth 0: none): std::bad_alloc, std::system_error, and for writes `error` (an errno).
void arm_fault(Fault kind, std::uint64_t nth, std::uint64_t times = 1, int error = 0);
/// Stops counting; how many calls there were.
std::uint64_t disarm_fault(Fault kind);

/// Arms from RS_FAULT = "KIND NTH TIMES ERROR" and writes the number of calls to the file
/// RS_FAULT_CALLS when the process exits.
void arm_from_environment();

} // namespace rankscope::test
