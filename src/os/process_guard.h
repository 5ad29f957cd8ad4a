// A small process between us and a child. It is the parent of every process that the child starts,
// including those that leave their process group or their parent. So all of them can be ended, even
// when we are killed.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <sys/types.h>

namespace rankscope {

/// The arguments of exec and the other settings of a child. The guard is a fork of us, so this data
/// must stay valid until the child has started.
struct GuardedLaunch {
  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  const char* folder = nullptr; ///< nullptr = ours
  int in = 0, out = 1, err = 2; ///< become 0, 1 and 2 of the child
  bool own_group = true;
  bool lingers = false; ///< processes that the child leaves running continue until an order
  std::chrono::milliseconds grace{2000}; ///< used when we end, or for left-behind processes
};

/// A message from the guard to us.
struct GuardNote {
  enum Kind : std::int32_t {
    kStarted, ///< value = the child's process id
    kFailed,  ///< value = errno of exec
    kEnded,   ///< value = its wait status
    kGone,    ///< no process is left; value = processes that the child had left behind
  };
  Kind kind = kStarted;
  std::int32_t value = 0;
  std::int32_t killed = 0; ///< for kGone: processes that still ran after the grace
};

/// An order to the guard: send `signal` to all processes, and SIGKILL after the grace. A second
/// order kills them at once.
struct GuardOrder {
  std::int32_t signal = SIGTERM;
  std::int32_t grace_ms = 2000;
};

/// A signal to the guard: kill at once the processes that it has asked to end. It has no effect
/// before an order.
constexpr int kKillNowSignal = SIGUSR1;

/// Forks the guard, which starts the child. `socket` (SOCK_SEQPACKET) gets our end: we read notes
/// from it and write orders to it; if we close it, the guard ends everything. Returns the guard's
/// process id, or -1 with errno. The guard ends after kFailed or kGone; the caller must reap it.
/// SIGTERM to the guard is an order too: a second one kills at once.
pid_t fork_guard(const GuardedLaunch& launch, int& socket);

} // namespace rankscope
