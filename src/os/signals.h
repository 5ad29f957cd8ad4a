// SIGINT, SIGTERM and SIGHUP: a thread waits for them, so that what they cause may lock, allocate
// and wait like any other code.
#pragma once

#include "base/noncopyable.h"
#include "os/tasks.h"

#include <chrono>

namespace rankscope {

/// From now on these signals cancel interrupt_token(), end the children, remove temporaries and
/// scratch folders, and exit with 130. A SIGHUP that was ignored at the start (nohup) stays so.
/// SIGPIPE is ignored: a closed pipe shows as an error of writing. From main, before any
/// other thread begins; another call does nothing.
void install_interrupt_handler();

/// Cancelled by the first signal.
[[nodiscard]] CancelToken interrupt_token();

/// The first signal; 0 while there is none.
[[nodiscard]] int interrupt_signal();

/// False when a signal came before the time was over.
[[nodiscard]] bool sleep_unless_interrupted(double seconds);

/// What the second signal does within the grace of an InterruptGrace.
enum class SecondSignal {
  kExits,
  kKillsChildren, ///< those that were asked to end are killed; the work goes on, a third one exits
};

/// While one lives, the first signal only cancels the token: the work has `grace` to end by itself
/// (a recording that wants to keep what it has). A second signal, or the end of the grace, exits;
/// the same one within 300 ms is the first one still.
class InterruptGrace : NonCopyable {
public:
  explicit InterruptGrace(std::chrono::milliseconds grace,
                          SecondSignal second = SecondSignal::kExits);
  ~InterruptGrace();
};

} // namespace rankscope
