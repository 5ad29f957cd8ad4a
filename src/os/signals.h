// Handles SIGINT, SIGTERM and SIGHUP on a thread that waits for them. So the handling code may
// lock, allocate and wait like any other code.
#pragma once

#include "base/noncopyable.h"
#include "os/tasks.h"

#include <chrono>

namespace rankscope {

/// Starts to handle the signals. A signal cancels interrupt_token(), ends the children, removes
/// temporary files and scratch folders, and exits with 130. A SIGHUP that was ignored at the start
/// (nohup) stays ignored. SIGPIPE is ignored: a closed pipe gives a write error. Call it in main
/// before other threads start; further calls do nothing.
void install_interrupt_handler();

/// Returns the token that the first signal cancels.
[[nodiscard]] CancelToken interrupt_token();

/// Returns the number of the first signal; 0 before a signal arrives.
[[nodiscard]] int interrupt_signal();

/// Sleeps for `seconds`. Returns false if a signal ended the sleep early.
[[nodiscard]] bool sleep_unless_interrupted(double seconds);

/// The effect of a second signal during the grace of an InterruptGrace.
enum class SecondSignal {
  kExits,
  kKillsChildren, ///< kills the children that were asked to end; we continue, a third signal exits
};

/// Gives work time to end by itself (a recording saves its data): while the object exists, the
/// first signal only cancels the token. A second signal, or the end of the grace, exits. The same
/// signal within 300 ms counts as part of the first one.
class InterruptGrace : NonCopyable {
public:
  explicit InterruptGrace(std::chrono::milliseconds grace,
                          SecondSignal second = SecondSignal::kExits);
  ~InterruptGrace();
};

} // namespace rankscope
