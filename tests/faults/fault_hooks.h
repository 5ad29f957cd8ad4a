// Failures on demand, for test executables only: the nth allocation, the nth start of a thread, or
// the nth call that writes a file fails. fault_hooks.cpp replaces operator new and overrides
// functions of the C library. It has no effect until a fault is armed.
#pragma once

#include <cstdint>

namespace rankscope::test {

enum class Fault : unsigned { kAllocation, kThread, kWrite };
inline constexpr unsigned kFaults = 3;

/// Starts to count the calls of this kind from 1. The calls from `nth` to `nth + times - 1` fail
/// (nth 0: no call): with std::bad_alloc, std::system_error, or for writes with `error` (an errno).
void arm_fault(Fault kind, std::uint64_t nth, std::uint64_t times = 1, int error = 0);
/// Stops counting; returns the number of calls.
std::uint64_t disarm_fault(Fault kind);

/// Arms from RS_FAULT = "KIND NTH TIMES ERROR" and writes the number of calls to the file
/// RS_FAULT_CALLS when the process exits.
void arm_from_environment();

} // namespace rankscope::test
