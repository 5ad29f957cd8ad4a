// A small process between us and a child: the parent of every process that the child starts, also
// of those that leave its process group or their parent. So all of them can be ended, even when we
// are killed.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <sys/types.h>

namespace rankscope {

/// The arguments of exec and the other settings of a child. The guard is a fork, so nothing here is
/// freed before the child has started.
struct GuardedLaunch {
  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  const char* folder = nullptr; ///< nullptr = ours
  int in = 0, out = 1, err = 2; ///< become 0, 1 and 2 of the child
  bool own_group = true;
  bool lingers = false; ///< processes that the child leaves running live until an order
  std::chrono::milliseconds grace{2000}; ///< when we are gone, or the child leaves processes behind
};

/// A message from the guard to us.
struct GuardNote {
  enum Kind : std::int32_t {
    kStarted, ///< value = the child's process id
    kFailed,  ///< value = errno of exec
    kEnded,   ///< value = its wait status
    kGone,    ///< no process lives any more; value = processes that the child had left behind
  };
  Kind kind = kStarted;
  std::int32_t value = 0;
  std::int32_t killed = 0; ///< with kGone: processes that had not ended when the grace was over
};

/// Orders the guard to send `signal` to all, and SIGKILL after the grace; a second kills at once.
struct GuardOrder {
  std::int32_t signal = SIGTERM;
  std::int32_t grace_ms = 2000;
};

/// Kills at once the processes that the guard has asked to end; does nothing before that.
constexpr int kKillNowSignal = SIGUSR1;

/// Forks the guard, which starts the child. `socket`: our end, to read notes from and write orders
/// to (SOCK_SEQPACKET); if we close it, the guard ends everything. Returns the guard's process id,
/// or -1 with errno. The guard ends after kFailed or kGone; the caller must reap it. SIGTERM to the
/// guard is an order too: a second one kills at once.
pid_t fork_guard(const GuardedLaunch& launch, int& socket);

} // namespace rankscope
