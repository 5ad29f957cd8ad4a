// SIGINT, SIGTERM and SIGHUP: a thread waits for them, so that the code that handles them may lock,
// allocate and wait like any other code.
#pragma once

#include "base/noncopyable.h"
#include "os/tasks.h"

#include <chrono>

namespace rankscope {

/// From now on these signals cancel interrupt_token(), end the children, remove temporaries and
/// scratch folders, and exit with 130. A SIGHUP that was ignored at the start (nohup) stays
/// ignored. SIGPIPE is ignored: a closed pipe shows as a write error. Call it in main before any
/// other thread starts; further calls do nothing.
void install_interrupt_handler();

/// Cancelled by the first signal.
[[nodiscard]] CancelToken interrupt_token();

/// Returns the first signal; 0 before it arrives.
[[nodiscard]] int interrupt_signal();

/// Returns false when a signal came before the time was over.
[[nodiscard]] bool sleep_unless_interrupted(double seconds);

/// What the second signal does within the grace of an InterruptGrace.
enum class SecondSignal {
  kExits,
  kKillsChildren, ///< kills those that were asked to end; work continues, a third one exits
};

/// While an object exists, the first signal only cancels the token: the work has `grace` to end by
/// itself (so that a recording can save its data). A second signal, or the end of the grace, exits;
/// the same signal within 300 ms still counts as the first one.
class InterruptGrace : NonCopyable {
public:
  explicit InterruptGrace(std::chrono::milliseconds grace,
                          SecondSignal second = SecondSignal::kExits);
  ~InterruptGrace();
};

} // namespace rankscope
