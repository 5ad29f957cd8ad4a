// A small process between us and a child: the parent of all that the child begins, also of what
// leaves its process group or its parent, so that all of it can be ended and none is left behind,
// even when we are killed ourselves.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <sys/types.h>

namespace rankscope {

/// What exec takes, and the rest of a child. The guard is forked, so that nothing here is freed
/// before it has begun.
struct GuardedLaunch {
  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  const char* folder = nullptr; ///< nullptr = ours
  int in = 0, out = 1, err = 2; ///< become 0, 1 and 2 of the child
  bool own_group = true;
  bool lingers = false;                  ///< what the child leaves running lives until an order
  std::chrono::milliseconds grace{2000}; ///< when we are gone, or it leaves others behind
};

/// Guard to us.
struct GuardNote {
  enum Kind : std::int32_t {
    kStarted, ///< value = the child's process id
    kFailed,  ///< value = errno of exec
    kEnded,   ///< value = its wait status
    kGone,    ///< nothing lives any more; value = processes that the child had left behind
  };
  Kind kind = kStarted;
  std::int32_t value = 0;
  std::int32_t killed = 0; ///< of kGone: processes that had not ended when the grace was over
};

/// Us to the guard: send `signal` to all, SIGKILL after the grace; a second order kills at once.
struct GuardOrder {
  std::int32_t signal = SIGTERM;
  std::int32_t grace_ms = 2000;
};

/// Kills at once what the guard has asked to end; does nothing before.
constexpr int kKillNowSignal = SIGUSR1;

/// Forks the guard, which starts the child. `socket`: our end, notes to be read and orders to be
/// written (SOCK_SEQPACKET); closed, the guard ends everything. Returns the guard's process id, or
/// -1 with errno. The guard ends after kFailed or kGone, and is to be reaped. Ends it: SIGTERM as
/// an order, a second one kills at once.
pid_t fork_guard(const GuardedLaunch& launch, int& socket);

} // namespace rankscope
