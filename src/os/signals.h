// Handles SIGINT, SIGTERM and SIGHUP on a separate thread that waits for them. So the handling code
// may lock, allocate and wait like any other code.
#pragma once

#include "base/noncopyable.h"
#include "os/tasks.h"

#include <chrono>

namespace rankscope {

/// Starts the thread that handles the signals. A signal cancels interrupt_token(), ends the
/// children, removes temporary files and scratch folders, and exits with 130. If SIGHUP is ignored
/// at the start (nohup), it stays ignored. SIGPIPE is ignored: writing to a closed pipe fails with
/// an error. Call it in main before other threads start; further calls do nothing.
void install_interrupt_handler();

/// Returns the token that the first signal cancels.
[[nodiscard]] CancelToken interrupt_token();

/// Returns the number of the first signal; 0 before a signal arrives.
[[nodiscard]] int interrupt_signal();

/// Sleeps for `seconds`. Returns false if a signal ended the sleep early.
[[nodiscard]] bool sleep_unless_interrupted(double seconds);

/// The effect of a second signal while an InterruptGrace exists.
enum class SecondSignal {
  kExits,
  kKillsChildren, ///< kills the children that were asked to end; the process continues, and a third
                  ///< signal exits
};

/// Gives work the time to end by itself (for example, a recording saves its data). While the object
/// exists, the first signal only cancels the token; a second signal, or the end of the grace time,
/// exits. If the same signal is repeated within 300 ms, the second one is ignored.
class InterruptGrace : NonCopyable {
public:
  explicit InterruptGrace(std::chrono::milliseconds grace,
                          SecondSignal second = SecondSignal::kExits);
  ~InterruptGrace();
};

} // namespace rankscope
