#include "os/process.h"

#include "os/cleanup.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace rankscope {
namespace {

constexpr auto kLook = std::chrono::milliseconds(20); ///< how often a token is looked at

void close_file(int& fd) {
  if (fd >= 0)
    ::close(fd);
  fd = -1;
}

Error system_error(const std::string& where, int err) {
  return {ErrorCode::kOutput, where, std::strerror(err), ""};
}

/// A file in memory with these bytes, read from its start: a pipe would make us wait.
Result<int> file_in_memory(const std::string& bytes, const std::string& name) {
  const int fd = ::memfd_create("rankscope", MFD_CLOEXEC);
  if (fd < 0)
    return system_error(name, errno);
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t n = ::write(fd, bytes.data() + at, bytes.size() - at);
    if (n < 0 && errno != EINTR) {
      const int err = errno;
      ::close(fd);
      return system_error(name, err);
    }
    at += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  ::lseek(fd, 0, SEEK_SET);
  return fd;
}

std::string bytes_of(int fd, std::size_t limit) {
  std::string out;
  if (fd < 0)
    return out;
  const off_t size = ::lseek(fd, 0, SEEK_END);
  out.resize(std::min(limit, static_cast<std::size_t>(std::max<off_t>(size, 0))));
  std::size_t at = 0;
  while (at < out.size()) {
    const ssize_t n = ::pread(fd, out.data() + at, out.size() - at, static_cast<off_t>(at));
    if (n <= 0)
      break;
    at += static_cast<std::size_t>(n);
  }
  out.resize(at);
  return out;
}

/// The actions and attributes of a spawn, released at the end of a scope.
struct SpawnPlan {
  posix_spawn_file_actions_t actions = {};
  posix_spawnattr_t attributes = {};
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }

  void output(int target, Stream stream, const std::string& file, int captured) {
    switch (stream) {
    case Stream::kDiscard:
      posix_spawn_file_actions_addopen(&actions, target, "/dev/null", O_WRONLY, 0);
      break;
    case Stream::kCapture:
      posix_spawn_file_actions_adddup2(&actions, captured, target);
      break;
    case Stream::kOurError:
      if (target != STDERR_FILENO)
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, target);
      break;
    case Stream::kFile:
      posix_spawn_file_actions_addopen(&actions, target, file.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                       0666);
      break;
    }
  }

  /// A group of its own, and none of the signals that we block or ignore.
  void own_group() {
    sigset_t none;
    sigemptyset(&none);
    sigset_t usual;
    sigemptyset(&usual);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ})
      sigaddset(&usual, signal);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
  }
};

} // namespace

std::string ProcessEnd::describe() const {
  if (timed_out)
    return "it did not end in time";
  if (cancelled)
    return "it was ended";
  return signal != 0 ? fmt::format("signal {}", signal) : fmt::format("exit code {}", exit_code);
}

Result<Process> Process::start(ProcessSpec spec) {
  Process child;
  child.spec_ = std::move(spec);
  const ProcessSpec& s = child.spec_;
  if (s.argv.empty())
    return Error{ErrorCode::kInternal, "", "no program to start", ""};
  const std::string& name = s.argv.front();
  int in = -1;
  if (s.input) {
    RS_TRY(in, file_in_memory(*s.input, name));
  }
  struct Closer {
    int& fd;
    ~Closer() { close_file(fd); }
  } const closer{in};
  if (s.out == Stream::kCapture) {
    RS_TRY(child.out_, file_in_memory("", name));
  }
  if (s.err == Stream::kCapture) {
    RS_TRY(child.err_, file_in_memory("", name));
  }
  SpawnPlan plan;
  if (in >= 0)
    posix_spawn_file_actions_adddup2(&plan.actions, in, STDIN_FILENO);
  else
    posix_spawn_file_actions_addopen(&plan.actions, STDIN_FILENO,
                                     s.input_file.empty() ? "/dev/null" : s.input_file.c_str(),
                                     O_RDONLY, 0);
  plan.output(STDOUT_FILENO, s.out, s.out_file, child.out_);
  plan.output(STDERR_FILENO, s.err, s.err_file, child.err_);
  plan.own_group();
  std::vector<char*> argv;
  for (const std::string& argument : s.argv)
    argv.push_back(const_cast<char*>(argument.c_str())); // spawn copies them
  argv.push_back(nullptr);
  int failed = 0;
  {
    const auto lock = cleanup::lock_children();
    failed =
        ::posix_spawnp(&child.pid_, argv[0], &plan.actions, &plan.attributes, argv.data(), environ);
    if (failed == 0)
      cleanup::add_child(child.pid_);
  }
  if (failed != 0) {
    child.pid_ = -1;
    if (failed == ENOENT || failed == EACCES)
      return Error{ErrorCode::kMissingTool, name, "no such program", ""};
    return system_error(name, failed);
  }
  child.begin_ = std::chrono::steady_clock::now();
  child.pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, child.pid_, 0U));
  return child;
}

Process::Process(Process&& other) noexcept
    : spec_(std::move(other.spec_)), pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::exchange(other.pidfd_, -1)), out_(std::exchange(other.out_, -1)),
      err_(std::exchange(other.err_, -1)), begin_(other.begin_) {}

Process::~Process() {
  if (pid_ > 0) {
    terminate();
    (void)wait();
  }
  close_files();
}

void Process::close_files() {
  for (int* fd : {&pidfd_, &out_, &err_})
    close_file(*fd);
}

void Process::kill_group(int signal) const {
  if (pid_ > 0)
    ::kill(-pid_, signal);
}

bool Process::ended_by(std::optional<std::chrono::steady_clock::time_point> until,
                       bool watch_token) {
  using namespace std::chrono;
  for (;;) {
    siginfo_t info = {};
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == pid_)
      return true;
    const auto now = steady_clock::now();
    if (until && now >= *until)
      return false;
    if (watch_token && spec_.cancel && spec_.cancel->cancelled())
      return false;
    const bool watching = watch_token && spec_.cancel.has_value();
    milliseconds nap = watching ? kLook : milliseconds(-1);
    if (until) {
      const auto left = duration_cast<milliseconds>(*until - now) + milliseconds(1);
      nap = nap.count() < 0 ? left : std::min(nap, left);
    }
    if (pidfd_ >= 0) {
      pollfd poller{pidfd_, POLLIN, 0};
      (void)::poll(&poller, 1, static_cast<int>(std::min<std::int64_t>(nap.count(), 60'000)));
    } else { // a kernel older than 5.3
      std::this_thread::sleep_for(nap.count() < 0 ? kLook : std::min(nap, kLook));
    }
  }
}

void Process::terminate() {
  if (pid_ <= 0)
    return;
  kill_group(SIGTERM);
  if (!ended_by(std::chrono::steady_clock::now() + spec_.grace, false))
    kill_group(SIGKILL);
}

Result<ProcessEnd> Process::wait() {
  ProcessEnd end;
  if (pid_ <= 0)
    return Error{ErrorCode::kInternal, "", "waited twice for a process", ""};
  std::optional<std::chrono::steady_clock::time_point> until;
  if (spec_.deadline.count() > 0)
    until = begin_ + spec_.deadline;
  if (!ended_by(until, true)) {
    end.cancelled = spec_.cancel && spec_.cancel->cancelled();
    end.timed_out = !end.cancelled;
    terminate();
    (void)ended_by(std::nullopt, false);
  }
  int status = 0;
  {
    // not reaped before: until here its number cannot be another process's
    const auto lock = cleanup::lock_children();
    ::kill(-pid_, SIGKILL); // what it left running
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR)
      ;
    cleanup::remove_child(pid_);
  }
  pid_ = -1;
  if (WIFEXITED(status))
    end.exit_code = WEXITSTATUS(status);
  else if (WIFSIGNALED(status))
    end.signal = WTERMSIG(status);
  end.out = bytes_of(out_, spec_.capture_limit);
  end.err = bytes_of(err_, spec_.capture_limit);
  close_files();
  return end;
}

Result<ProcessEnd> run_process(ProcessSpec spec) {
  RS_TRY(Process child, Process::start(std::move(spec)));
  return child.wait();
}

} // namespace rankscope
