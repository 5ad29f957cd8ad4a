// A small process between us (this process) and a child. It is an ancestor of every process that
// the child starts, including those that leave their process group or whose parent ends. So all of
// them can be ended, even if we are killed.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <sys/types.h>

namespace rankscope {

/// The arguments of exec and other settings of a child. The guard is a fork of this process, so
/// this data must stay valid until the child has started.
struct GuardedLaunch {
  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  const char* folder = nullptr; ///< nullptr = ours
  int in = 0, out = 1, err = 2; ///< become 0, 1 and 2 of the child
  bool new_group = true;
  bool lingers = false; ///< processes that the child started continue until an order arrives
  std::chrono::milliseconds grace{2000}; ///< used for processes that run longer than the child, or
                                         ///< if we end
};

/// A message from the guard to us.
struct GuardNote {
  enum Kind : std::int32_t {
    kStarted, ///< value = the child's process id
    kFailed,  ///< value = errno of exec
    kEnded,   ///< value = wait status of the child
    kGone,    ///< no process is left; value = number of processes that ran longer than the child
  };
  Kind kind = kStarted;
  std::int32_t value = 0;
  std::int32_t killed = 0; ///< for kGone: processes that were still running after the grace time
};

/// An order to the guard: send `signal` to all processes below it, and SIGKILL after the grace
/// time. A second order kills the processes immediately.
struct GuardOrder {
  std::int32_t signal = SIGTERM;
  std::int32_t grace_ms = 2000;
};

/// A signal to the guard: immediately kill the processes that it has asked to end. It has no effect
/// before an order.
constexpr int kKillNowSignal = SIGUSR1;

/// Forks the guard, which starts the child. `socket` (SOCK_SEQPACKET) becomes our end of the
/// connection: we read notes from it and write orders to it; if we close it, the guard ends all
/// processes. Returns the process id of the guard, or -1 with errno. The guard ends after kFailed
/// or kGone; the caller must reap it. SIGTERM to the guard is an order too, so a second SIGTERM
/// kills the processes immediately.
pid_t fork_guard(const GuardedLaunch& launch, int& socket);

} // namespace rankscope
