#include "os/process.h"

#include "base/ascii.h"
#include "base/noncopyable.h"
#include "os/cleanup.h"
#include "os/close_file.h"
#include "os/environment.h"
#include "os/process_guard.h"
#include "os/signals.h"
#include "os/stream_pump.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace rankscope {
namespace {

constexpr auto kPollInterval =
    std::chrono::milliseconds(20); ///< interval between checks of a token
constexpr int kWriteAnew = O_WRONLY | O_CREAT | O_TRUNC;

Error system_error(const std::string& where, int err) {
  return {ErrorCode::kOutput, where, std::strerror(err), ""};
}

/// Creates a file in memory with these bytes, positioned at its start. With a pipe we would have to
/// wait for the reader.
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

/// Opens a file for one of a child's streams.
Result<int> open_file(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (fd < 0)
    return Error{(flags & O_ACCMODE) == O_RDONLY ? ErrorCode::kUnreadable : ErrorCode::kOutput,
                 path, std::strerror(errno), ""};
  return fd;
}

/// Returns pointers into `texts` in the form that exec needs.
std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts)
    out.push_back(const_cast<char*>(text.c_str())); // exec copies them
  out.push_back(nullptr);
  return out;
}

/// The actions and attributes of a posix_spawn call. The destructor releases them.
struct SpawnPlan : NonCopyable {
  posix_spawn_file_actions_t actions = {};
  posix_spawnattr_t attributes = {};
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }

  /// Resets signals: the child blocks no signal, and it does not ignore the signals that we ignore.
  /// With `new_group`, the child leads a new process group.
  void plain_signals(bool new_group) {
    sigset_t none;
    sigemptyset(&none);
    sigset_t usual;
    sigemptyset(&usual);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ})
      sigaddset(&usual, signal);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    const int group = new_group ? POSIX_SPAWN_SETPGROUP : 0;
    posix_spawnattr_setflags(
        &attributes, static_cast<short>(group | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }
};

Error start_error(const std::string& name, int err) {
  if (err == ENOENT || err == EACCES)
    return Error{ErrorCode::kMissingTool, name, "no such program", ""};
  return system_error(name, err);
}

} // namespace

std::string ProcessEnd::describe() const {
  if (timed_out)
    return "it did not end in time";
  if (cancelled)
    return "it was stopped";
  return signal != 0 ? fmt::format("signal {}", signal) : fmt::format("exit code {}", exit_code);
}

/// The descriptors that become 0, 1 and 2 of the child. The descriptors in `closed` are closed when
/// the child has started.
struct Process::Ends {
  std::array<int, 3> child_fds = {-1, -1, -1};
  std::vector<int> closed;
  std::array<PumpLane, 2> lanes; ///< moved to the pump later

  ~Ends() {
    for (int& fd : closed)
      close_file(fd);
    for (PumpLane& lane : lanes) {
      close_file(lane.from);
      close_file(lane.file);
    }
  }
  int keep(int fd) {
    closed.push_back(fd);
    return fd;
  }
};

Result<int> Process::open_input(Ends& ends) {
  if (spec_.our_input) {
    new_group_ = ::isatty(STDIN_FILENO) == 0; // a child in another process group cannot read from
                                              // the terminal
    return STDIN_FILENO;
  }
  if (spec_.input) {
    RS_TRY(const int in, file_in_memory(*spec_.input, spec_.argv.front()));
    return ends.keep(in);
  }
  RS_TRY(const int in,
         open_file(spec_.input_file.empty() ? "/dev/null" : spec_.input_file, O_RDONLY));
  return ends.keep(in);
}

Result<int> Process::open_pipe(bool is_out, Ends& ends) {
  PumpLane& lane = ends.lanes[is_out ? 0 : 1];
  if (const std::string& file = is_out ? spec_.out_file : spec_.err_file; !file.empty()) {
    RS_TRY(lane.file, open_file(file, kWriteAnew));
    lane.file_name = file;
  }
  std::array<int, 2> both = {-1, -1};
  if (::pipe2(both.data(), O_CLOEXEC) != 0)
    return system_error(spec_.argv.front(), errno);
  lane.from = both[0];
  lane.on_bytes = is_out ? spec_.on_out : spec_.on_err;
  if (is_out ? spec_.echo_out : spec_.echo_err)
    lane.echo = is_out ? STDOUT_FILENO : STDERR_FILENO;
  return ends.keep(both[1]);
}

Result<int> Process::open_output(bool is_out, Ends& ends) {
  switch (is_out ? spec_.out : spec_.err) {
  case Stream::kDiscard:
    break;
  case Stream::kOurError:
    return STDERR_FILENO;
  case Stream::kOurs:
    return is_out ? STDOUT_FILENO : STDERR_FILENO;
  case Stream::kLikeOut:
    return ends.child_fds[1];
  case Stream::kCapture: {
    RS_TRY(const int fd, file_in_memory("", spec_.argv.front()));
    return (is_out ? out_ : err_) = fd;
  }
  case Stream::kFile: {
    RS_TRY(const int fd, open_file(is_out ? spec_.out_file : spec_.err_file, kWriteAnew));
    return ends.keep(fd);
  }
  case Stream::kPipe:
    return open_pipe(is_out, ends);
  }
  RS_TRY(const int fd, open_file("/dev/null", O_WRONLY));
  return ends.keep(fd);
}

Result<void> Process::open_streams(Ends& ends) {
  RS_TRY(ends.child_fds[0], open_input(ends));
  RS_TRY(ends.child_fds[1], open_output(true, ends));
  RS_TRY(ends.child_fds[2], open_output(false, ends));
  if (ends.lanes[0].from >= 0 || ends.lanes[1].from >= 0) {
    RS_TRY(pump_, StreamPump::start(std::exchange(ends.lanes, {})));
  }
  return {};
}

Result<void> Process::begin(const Ends& ends) {
  const std::string& name = spec_.argv.front();
  if (struct stat info = {};
      !spec_.folder.empty() && (::stat(spec_.folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)))
    return Error{ErrorCode::kUnreadable, spec_.folder, "the working directory does not exist", ""};
  const std::vector<std::string> environment = changed_environment(spec_.set_env, spec_.unset_env);
  const std::string program = find_program(name, path_variable(environment));
  if (program.empty())
    return start_error(name, ENOENT);
  const std::vector<char*> argv = pointers(spec_.argv);
  const std::vector<char*> variables = pointers(environment);
  begin_ = std::chrono::steady_clock::now(); // set it first: a short program may end before
                                             // posix_spawn returns
  if (spec_.guarded)
    return begin_guarded(ends, program, argv.data(), variables.data());
  SpawnPlan plan;
  // first duplicate them to numbers above 2: a descriptor to copy may have the number of a target
  std::array<int, 3> moved = ends.child_fds;
  Ends copies;
  for (int& fd : moved) {
    fd = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    copies.keep(fd);
  }
  for (int i = 0; i < 3; ++i)
    posix_spawn_file_actions_adddup2(&plan.actions, moved[static_cast<std::size_t>(i)], i);
  if (!spec_.folder.empty())
    posix_spawn_file_actions_addchdir_np(&plan.actions, spec_.folder.c_str());
  plan.plain_signals(new_group_);
  int failed = 0;
  {
    const auto lock = cleanup::lock_children();
    failed = ::posix_spawn(&ours_, program.c_str(), &plan.actions, &plan.attributes, argv.data(),
                           variables.data());
    if (failed == 0)
      cleanup::add_child(ours_);
  }
  if (failed != 0) {
    ours_ = -1;
    return start_error(name, failed);
  }
  pid_ = ours_;
  pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0U));
  return {};
}

Result<void> Process::begin_guarded(const Ends& ends, const std::string& program, char* const* argv,
                                    char* const* environment) {
  GuardedLaunch launch;
  launch.path = program.c_str();
  launch.argv = argv;
  launch.environment = environment;
  launch.folder = spec_.folder.empty() ? nullptr : spec_.folder.c_str();
  launch.in = ends.child_fds[0];
  launch.out = ends.child_fds[1];
  launch.err = ends.child_fds[2];
  launch.new_group = new_group_;
  launch.grace = spec_.grace;
  launch.lingers = spec_.lingers;
  {
    const auto lock = cleanup::lock_children();
    ours_ = fork_guard(launch, guard_);
    if (ours_ < 0)
      return system_error(spec_.argv.front(), errno);
    cleanup::add_guard(ours_);
  }
  GuardNote note;
  ssize_t n = 0;
  do
    n = ::recv(guard_, &note, sizeof note, 0);
  while (n < 0 && errno == EINTR);
  if (n == static_cast<ssize_t>(sizeof note) && note.kind == GuardNote::kStarted) {
    pid_ = note.value;
    return {};
  }
  (void)reap();
  close_files();
  return start_error(spec_.argv.front(), n > 0 ? note.value : ECHILD);
}

Result<Process> Process::start(ProcessSpec spec) {
  Process child;
  child.spec_ = std::move(spec);
  if (child.spec_.argv.empty())
    return Error{ErrorCode::kInternal, "", "no program to start", ""};
  Ends ends;
  RS_CHECK(child.open_streams(ends));
  RS_CHECK(child.begin(ends));
  return child;
}

Process::Process(Process&& other) noexcept
    : spec_(std::move(other.spec_)), pid_(std::exchange(other.pid_, -1)),
      ours_(std::exchange(other.ours_, -1)), pidfd_(std::exchange(other.pidfd_, -1)),
      guard_(std::exchange(other.guard_, -1)), guarded_status_(other.guarded_status_),
      left_behind_(other.left_behind_), killed_(other.killed_), gone_(other.gone_),
      guard_lost_(other.guard_lost_), new_group_(other.new_group_),
      out_(std::exchange(other.out_, -1)), err_(std::exchange(other.err_, -1)),
      pump_(std::move(other.pump_)), begin_(other.begin_), end_(other.end_) {}

Process::~Process() {
  if (ours_ > 0) {
    terminate();
    (void)wait();
  }
  close_files();
}

void Process::close_files() {
  for (int* fd : {&pidfd_, &guard_, &out_, &err_})
    close_file(*fd);
}

void Process::kill_group(int signal) const {
  if (pid_ > 0)
    ::kill(new_group_ ? -pid_ : pid_, signal);
}

bool Process::nap(int fd, std::optional<Time> until, bool watch_token) const {
  using namespace std::chrono;
  const auto now = steady_clock::now();
  if ((until && now >= *until) || (watch_token && spec_.cancel && spec_.cancel->cancelled()))
    return false;
  milliseconds time = watch_token && spec_.cancel ? kPollInterval : milliseconds(-1);
  if (until) {
    const auto left = duration_cast<milliseconds>(*until - now) + milliseconds(1);
    time = time.count() < 0 ? left : std::min(time, left);
  }
  if (fd >= 0) {
    pollfd poller{fd, POLLIN, 0};
    (void)::poll(&poller, 1, static_cast<int>(std::min<std::int64_t>(time.count(), 60'000)));
  } else { // kernels before 5.3 have no pidfd
    std::this_thread::sleep_for(time.count() < 0 ? kPollInterval : std::min(time, kPollInterval));
  }
  return true;
}

bool Process::ended_by(std::optional<Time> until, bool watch_token) {
  for (;;) {
    siginfo_t info = {};
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == pid_) {
      end_ = std::chrono::steady_clock::now();
      return true;
    }
    if (!nap(pidfd_, until, watch_token))
      return false;
  }
}

bool Process::guard_reported(std::optional<Time> until, bool watch_token, bool all) {
  for (;;) {
    GuardNote note;
    const ssize_t n = gone_ ? 0 : ::recv(guard_, &note, sizeof note, MSG_DONTWAIT);
    if (n == static_cast<ssize_t>(sizeof note) && note.kind == GuardNote::kEnded) {
      guarded_status_ = note.value;
      end_ = std::chrono::steady_clock::now();
    } else if (n == static_cast<ssize_t>(sizeof note) && note.kind == GuardNote::kGone) {
      left_behind_ = note.value;
      killed_ = note.killed;
      gone_ = true;
    } else if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
      gone_ = guard_lost_ = true; // the guard was killed; then the kernel kills the child too
    }
    if (gone_ || (guarded_status_ && !all))
      return true;
    if (n < 0 && !nap(guard_, until, watch_token))
      return false;
  }
}

int Process::end_signal() const {
  const int got = spec_.forward_signal ? interrupt_signal() : 0;
  return got != 0 ? got : spec_.end_signal;
}

std::optional<Process::Time> Process::deadline() const {
  if (spec_.deadline.count() > 0)
    return begin_ + spec_.deadline;
  return std::nullopt;
}

double Process::seconds() const {
  const Time end = end_ == Time() ? std::chrono::steady_clock::now() : end_;
  return std::chrono::duration<double>(end - begin_).count();
}

Result<ProcessEnd> Process::wait_child() {
  if (guard_ < 0 || !spec_.lingers)
    return wait();
  ProcessEnd end;
  if (!guard_reported(deadline(), true, false)) {
    end.cancelled = spec_.cancel && spec_.cancel->cancelled();
    end.timed_out = !end.cancelled;
    terminate();
    (void)guard_reported(std::nullopt, false, true);
  }
  read_status(guarded_status_.value_or(SIGKILL), end);
  end.seconds = seconds();
  return end;
}

void Process::terminate() {
  if (ours_ <= 0)
    return;
  if (guard_ >= 0) {
    const GuardOrder order{end_signal(), static_cast<std::int32_t>(spec_.grace.count())};
    (void)::send(guard_, &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT);
    return;
  }
  kill_group(end_signal());
  if (!ended_by(std::chrono::steady_clock::now() + spec_.grace, false))
    kill_group(SIGKILL);
}

/// Reaps the child; the system may then reuse its process id.
int Process::reap() {
  int status = 0;
  const auto lock = cleanup::lock_children();
  if (guard_ < 0 || guard_lost_) // processes that the child started may still run
    kill_group(SIGKILL);
  while (::waitpid(ours_, &status, 0) < 0 && errno == EINTR)
    ;
  cleanup::remove_child(ours_);
  ours_ = pid_ = -1;
  return status;
}

void Process::read_status(int status, ProcessEnd& end) const {
  if (WIFEXITED(status))
    end.exit_code = WEXITSTATUS(status);
  else if (WIFSIGNALED(status))
    end.signal = WTERMSIG(status);
}

Result<ProcessEnd> Process::wait() {
  ProcessEnd end;
  if (ours_ <= 0)
    return Error{ErrorCode::kInternal, "", "waited twice for a process", ""};
  const bool guarded = guard_ >= 0;
  const std::optional<Time> until = deadline();
  if (!(guarded ? guard_reported(until, true, false) : ended_by(until, true))) {
    end.cancelled = spec_.cancel && spec_.cancel->cancelled();
    end.timed_out = !end.cancelled;
    terminate();
    if (!guarded)
      (void)ended_by(std::nullopt, false);
  } else if (guarded && spec_.lingers && !gone_) {
    terminate();
  }
  if (guarded)
    (void)guard_reported(std::nullopt, false, true);
  const int status = reap();
  read_status(guarded ? guarded_status_.value_or(SIGKILL) : status, end);
  end.left_behind = left_behind_;
  end.killed = killed_;
  end.seconds = seconds();
  if (pump_) {
    end.lost_text = pump_->finish(!end.cancelled && !end.timed_out);
    pump_.reset();
  }
  end.out = bytes_of(out_, spec_.capture_limit);
  end.err = bytes_of(err_, spec_.capture_limit);
  close_files();
  return end;
}

std::string last_line(std::string_view text) {
  text = trimmed(text, "\n ");
  return std::string(trimmed(text.substr(text.rfind('\n') + 1)).substr(0, 200));
}

Result<ProcessEnd> run_process(ProcessSpec spec) {
  RS_TRY(Process child, Process::start(std::move(spec)));
  return child.wait();
}

} // namespace rankscope
