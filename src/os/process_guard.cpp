// Code that runs in the forked process must not allocate, lock or throw: this process has several
// threads, and only one of them exists after the fork.
#include "os/process_guard.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rankscope {
namespace {

constexpr std::int64_t kPoliteMs = 100;    ///< time for processes that run longer than the child to
                                           ///< end by themselves
constexpr std::int64_t kKillAgainMs = 10;  ///< interval between two SIGKILLs
constexpr std::int64_t kGiveUpMs = 10'000; ///< a process that still exists after this time is
                                           ///< blocked in the kernel

std::int64_t now_ms() {
  timespec t = {};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1'000'000;
}

/// Closes all descriptors except `keep`.
void close_all_but(int keep) {
#ifdef SYS_close_range
  if ((keep == 0 || ::syscall(SYS_close_range, 0U, static_cast<unsigned>(keep - 1), 0U) == 0) &&
      ::syscall(SYS_close_range, static_cast<unsigned>(keep + 1), UINT_MAX, 0U) == 0)
    return;
#endif
  const long most = std::min(::sysconf(_SC_OPEN_MAX), 65'536L);
  for (int fd = 0; fd < most; ++fd)
    if (fd != keep)
      ::close(fd);
}

// ---- the processes below the guard

struct ProcessLine {
  pid_t pid, parent, group;
  bool zombie, ours;
};

constexpr std::size_t kMostProcesses = 65'536;
std::array<ProcessLine, kMostProcesses> table; ///< in .bss: uses no memory if there is no guard

/// Reads pid, parent and group from /proc/PID/stat. Returns false if the process no longer exists.
bool read_stat(const char* pid_text, ProcessLine& line) {
  std::array<char, 64> path = {"/proc/"};
  const std::size_t length = std::strlen(pid_text);
  if (length > 20)
    return false;
  std::memcpy(path.data() + 6, pid_text, length);
  std::memcpy(path.data() + 6 + length, "/stat", 6);
  const int fd = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  std::array<char, 512> text = {};
  const ssize_t n = ::read(fd, text.data(), text.size() - 1);
  ::close(fd);
  if (n <= 0)
    return false;
  // PID (NAME) STATE PPID PGRP ...; the name may contain any character, even parentheses
  const char* after = std::strrchr(text.data(), ')');
  if (after == nullptr || after[1] != ' ')
    return false;
  line.pid = static_cast<pid_t>(std::strtol(pid_text, nullptr, 10));
  line.zombie = after[2] == 'Z' || after[2] == 'X';
  char* end = nullptr;
  line.parent = static_cast<pid_t>(std::strtol(after + 3, &end, 10));
  line.group = static_cast<pid_t>(std::strtol(end, nullptr, 10));
  line.ours = false;
  return true;
}

struct DirectoryEntry { ///< layout of getdents64
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
  char name[1]; // NOLINT(modernize-avoid-c-arrays): the kernel's layout
};

/// Fills the table with all processes of the machine. Returns their number.
std::size_t read_processes() {
  const int proc = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0)
    return 0;
  alignas(DirectoryEntry) std::array<char, 8192> buffer;
  std::size_t count = 0;
  for (;;) {
    const long n = ::syscall(SYS_getdents64, proc, buffer.data(), buffer.size());
    if (n <= 0)
      break;
    for (long at = 0; at < n;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer.data() + at);
      const char* name = &entry->name[0];
      if (*name >= '1' && *name <= '9' && count < table.size() && read_stat(name, table[count]))
        ++count;
      at += entry->length;
    }
  }
  ::close(proc);
  return count;
}

/// Marks the descendants of this process in the table.
void mark_ours(std::size_t count) {
  const pid_t self = ::getpid();
  const auto end = table.begin() + static_cast<std::ptrdiff_t>(count);
  std::sort(table.begin(), end, [](const auto& a, const auto& b) { return a.pid < b.pid; });
  const auto is_ours = [&](pid_t pid) {
    const auto at = std::lower_bound(table.begin(), end, pid,
                                     [](const auto& line, pid_t want) { return line.pid < want; });
    return pid == self || (at != end && at->pid == pid && at->ours);
  };
  for (bool more = true; more;) {
    more = false;
    for (auto line = table.begin(); line != end; ++line)
      if (!line->ours && line->pid != self && is_ours(line->parent))
        line->ours = more = true;
  }
}

/// Counts the living descendants of this process.
int count_living() {
  const std::size_t count = read_processes();
  mark_ours(count);
  return static_cast<int>(
      std::count_if(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(count),
                    [](const auto& line) { return line.ours && !line.zombie; }));
}

/// Sends `signal` to all descendants: one call for the process group, then one for each process
/// outside of it.
void signal_all(pid_t group, int signal) {
  if (group > 0)
    ::kill(-group, signal);
  const std::size_t count = read_processes();
  mark_ours(count);
  for (std::size_t i = 0; i < count; ++i)
    if (table[i].ours && !table[i].zombie && (group <= 0 || table[i].group != group))
      ::kill(table[i].pid, signal);
}

// ---- the child

[[noreturn]] void become_child(const GuardedLaunch& launch, pid_t guard, int failure) {
  if (launch.new_group)
    ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL); // if the guard is killed, the child ends too
  if (::getppid() != guard)
    ::_exit(127);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ})
    ::signal(signal, SIG_DFL);
  // first duplicate them to numbers above 2: a descriptor to copy may have the number of a target
  std::array<int, 3> streams = {launch.in, launch.out, launch.err};
  for (int& fd : streams)
    fd = ::fcntl(fd, F_DUPFD, 3);
  for (int i = 0; i < 3; ++i) {
    ::dup2(streams[static_cast<std::size_t>(i)], i);
    ::close(streams[static_cast<std::size_t>(i)]);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (launch.folder == nullptr || ::chdir(launch.folder) == 0)
    ::execve(launch.path, launch.argv, launch.environment);
  const int err = errno;
  [[maybe_unused]] const auto n = ::write(failure, &err, sizeof err);
  ::_exit(127);
}

// ---- the guard

class Guard {
public:
  Guard(const GuardedLaunch& launch, int socket) : launch_(launch), socket_(socket) {}

  [[noreturn]] void run() {
    ::prctl(PR_SET_NAME, "rankscope-guard");
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    start();
    sigset_t watched;
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigaddset(&watched, SIGTERM);
    sigaddset(&watched, kKillNowSignal);
    signals_ = ::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    for (;;) {
      if (!reap())
        leave();
      step();
      wait();
    }
  }

private:
  enum class State { kRunning, kPolite, kEnding, kKilling };

  void tell(GuardNote::Kind kind, int value) const {
    const GuardNote note{kind, value, killed_};
    (void)::send(socket_, &note, sizeof note, MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  void start() {
    std::array<int, 2> failure = {-1, -1};
    const pid_t self = ::getpid();
    if (::pipe2(failure.data(), O_CLOEXEC) == 0)
      child_ = ::fork();
    int err = errno;
    if (child_ == 0)
      become_child(launch_, self, failure[1]);
    ::setpgid(0, 0); // only after the fork: a child without a new group stays in the caller's group
    if (child_ > 0) {
      ::close(failure[1]);
      const ssize_t n = ::read(failure[0], &err, sizeof err);
      close_all_but(socket_);
      if (n != static_cast<ssize_t>(sizeof err)) {
        tell(GuardNote::kStarted, child_);
        return;
      }
      ::waitpid(child_, nullptr, 0);
    }
    tell(GuardNote::kFailed, err);
    ::_exit(1);
  }

  /// Reaps the children that have ended. Returns false when no child is left.
  bool reap() {
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG);
      if (pid < 0 && errno == EINTR)
        continue;
      if (pid <= 0)
        return pid == 0;
      if (pid != child_)
        continue;
      ended_ = true;
      tell(GuardNote::kEnded, status);
      if (state_ == State::kRunning && !launch_.lingers)
        enter(State::kPolite, kPoliteMs);
    }
  }

  void enter(State state, std::int64_t for_ms) {
    state_ = state;
    until_ = now_ms() + for_ms;
  }

  void begin_end(int signal, std::int64_t grace_ms) {
    if (state_ == State::kEnding) {
      until_ = 0; // the second order kills at once
      return;
    }
    if (state_ == State::kKilling)
      return;
    count_left();
    signal_all(group(), signal);
    signal_all(group(), SIGCONT); // a stopped process does not handle the signal
    enter(State::kEnding, grace_ms);
  }

  void count_left() {
    if (ended_ && left_ < 0)
      left_ = count_living();
  }

  [[nodiscard]] pid_t group() const { return launch_.new_group ? child_ : -1; }

  /// Does the work for which the time has come.
  void step() {
    if (state_ == State::kPolite && now_ms() >= until_)
      begin_end(SIGTERM, launch_.grace.count());
    if (state_ == State::kEnding && now_ms() >= until_) {
      killed_ = count_living();
      enter(State::kKilling, kGiveUpMs);
    }
    if (state_ == State::kKilling) {
      signal_all(group(), SIGKILL);
      if (now_ms() >= until_)
        leave();
    }
  }

  void wait() {
    std::int64_t nap = -1;
    if (state_ == State::kKilling)
      nap = kKillAgainMs;
    else if (state_ != State::kRunning)
      nap = std::max<std::int64_t>(until_ - now_ms(), 0) + 1;
    std::array<pollfd, 2> watched = {pollfd{signals_, POLLIN, 0}, pollfd{socket_, POLLIN, 0}};
    if (::poll(watched.data(), watched.size(),
               static_cast<int>(std::min<std::int64_t>(nap, 60'000))) <= 0)
      return;
    if (watched[0].revents != 0)
      read_signals();
    if (watched[1].revents != 0)
      read_order();
  }

  void read_signals() {
    signalfd_siginfo info = {};
    while (::read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
      if (info.ssi_signo == static_cast<std::uint32_t>(SIGTERM))
        begin_end(SIGTERM, launch_.grace.count());
      else if (info.ssi_signo == static_cast<std::uint32_t>(kKillNowSignal) &&
               state_ == State::kEnding)
        until_ = 0;
  }

  void read_order() {
    GuardOrder order;
    const ssize_t n = ::recv(socket_, &order, sizeof order, MSG_DONTWAIT);
    if (n == static_cast<ssize_t>(sizeof order)) {
      begin_end(order.signal, order.grace_ms);
      return;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
      return;
    ::close(socket_); // the process that started the guard has ended
    socket_ = -1;
    if (state_ == State::kRunning || state_ == State::kPolite)
      begin_end(SIGTERM, launch_.grace.count());
  }

  [[noreturn]] void leave() {
    if (state_ == State::kKilling) // in other states no process is left, and reading /proc takes
                                   // milliseconds
      count_left();
    tell(GuardNote::kGone, std::max(left_, 0));
    ::_exit(0);
  }

  GuardedLaunch launch_;
  int socket_;
  int signals_ = -1;
  pid_t child_ = -1;
  State state_ = State::kRunning;
  std::int64_t until_ = 0;
  bool ended_ = false;
  int left_ = -1; ///< -1: not counted yet
  int killed_ = 0;
};

} // namespace

pid_t fork_guard(const GuardedLaunch& launch, int& socket) {
  std::array<int, 2> ends = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return -1;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[0]);
    Guard(launch, ends[1]).run();
  }
  const int err = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(ends[1]);
  if (pid < 0)
    ::close(ends[0]);
  else
    socket = ends[0];
  errno = err;
  return pid;
}

} // namespace rankscope
