// Runs child processes from an argument list, never through a shell. Their standard streams can be
// files, memory, functions, the streams of this process or /dev/null. Environment, working folder
// and deadline can be set. Ending a child also ends the processes that it started. In these
// comments, "we" and "our" mean this process.
#pragma once

#include "base/result.h"
#include "os/environment.h"
#include "os/tasks.h"

#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace rankscope {

class StreamPump;

/// The destination of a child's standard output or error.
enum class Stream {
  kDiscard,  ///< /dev/null
  kCapture,  ///< stored in ProcessEnd::out or ProcessEnd::err
  kOurError, ///< our standard error, so that our standard output contains only the result
  kOurs,     ///< our stream of the same name (standard output or error)
  kFile,     ///< out_file or err_file
  kPipe,     ///< passed on as bytes arrive: to on_out or on_err, to the file if there is one, and
             ///< to our stream if echo_out or echo_err is set
  kLikeOut,  ///< only for standard error: the same destination as standard output, in the order of
             ///< writing
};

struct ProcessSpec {
  std::vector<std::string> argv;    ///< argv[0] is searched in PATH
  std::optional<std::string> input; ///< bytes for its standard input; not set = /dev/null
  std::string input_file;           ///< file for its standard input
  bool our_input = false;           ///< use our standard input; if it is a terminal, the child
                                    ///< stays in our process group
  Stream out = Stream::kDiscard, err = Stream::kDiscard;
  std::string out_file, err_file;
  /// Called on a separate thread with bytes as they arrive; the two functions never run at the same
  /// time.
  std::function<void(std::string_view)> on_out, on_err;
  bool echo_out = false, echo_err = false; ///< for kPipe: also write the bytes to our stream
  EnvironmentChanges set_env;              ///< changes to our environment
  std::vector<std::string> unset_env;
  std::string folder; ///< working folder; "" = ours
  /// If set, a small guard process (os/process_guard.h) is an ancestor of all processes that the
  /// child starts. So no process outlives the child or us, even if we are killed. If not set, only
  /// the process group of the child is ended.
  bool guarded = false;
  /// With a guard: processes that the child started continue after its end, until wait() is called.
  /// wait_child() returns at the end of the child itself.
  bool lingers = false;
  std::size_t capture_limit = std::size_t{64} << 20; ///< stored bytes per captured stream
  std::chrono::milliseconds deadline{0};             ///< time from the child's start; 0 = no
                                                     ///< deadline
  std::chrono::milliseconds grace{2000};             ///< time between end_signal and SIGKILL
  int end_signal = SIGTERM;                          ///< signal that asks the child to end
  bool forward_signal = false;       ///< if we got a signal (os/signals.h), send that signal
                                     ///< instead of end_signal
  std::optional<CancelToken> cancel; ///< ends the child early
};

/// The result of a child that has ended.
struct ProcessEnd {
  int exit_code = -1; ///< -1: ended by a signal
  int signal = 0;
  bool timed_out = false; ///< we ended it at its deadline
  bool cancelled = false; ///< we ended it because the token was cancelled
  double seconds = 0;     ///< from the child's start to its end, without the processes that it
                          ///< started
  int left_behind = 0;    ///< with a guard: processes that ran longer than the child, and were
                          ///< ended
  int killed = 0;         ///< with a guard: processes that were still running after the grace time,
                          ///< and were killed
  std::string lost_text;  ///< why an output file is incomplete; "" = complete
  std::string out, err;

  [[nodiscard]] bool ok() const { return exit_code == 0; }
  /// Returns "exit code 3", "signal 9" or "it did not end in time".
  [[nodiscard]] std::string describe() const;
};

/// Returns the last line of a program's output, at most 200 bytes.
[[nodiscard]] std::string last_line(std::string_view text);

/// A running child. Destroying the object ends the child.
class Process {
public:
  /// Starts a child. Errors: kMissingTool if the program is not found, kOutput if the system cannot
  /// start the child.
  static Result<Process> start(ProcessSpec spec);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Waits for the end of the child. Ends the child at the deadline, or if the token is cancelled.
  Result<ProcessEnd> wait();
  /// Waits for the end of the child only; if it lingers, processes that it started continue.
  Result<ProcessEnd> wait_child();
  /// Sends end_signal to the process group of the child, and SIGKILL after the grace time. For a
  /// guarded child, the guard sends the signals. wait() returns the result.
  void terminate();

private:
  using Time = std::chrono::steady_clock::time_point;
  struct Ends; ///< descriptors of the child's streams until it has started

  Process() = default;
  Result<int> open_input(Ends& ends);
  Result<int> open_output(bool is_out, Ends& ends);
  Result<int> open_pipe(bool is_out, Ends& ends);
  Result<void> open_streams(Ends& ends);
  Result<void> begin(const Ends& ends);
  Result<void> begin_guarded(const Ends& ends, const std::string& program, char* const* argv,
                             char* const* environment);
  /// Waits until the child has ended, until the time `until`, or until the token is cancelled.
  /// Returns true if the child has ended; the child is not reaped yet.
  bool ended_by(std::optional<Time> until, bool watch_token);
  /// Waits like ended_by(), but reads the messages of the guard. `all`: waits until all processes
  /// below the guard have ended.
  bool guard_reported(std::optional<Time> until, bool watch_token, bool all);
  /// Sleeps until `until` at most, or a shorter time if the token is watched. Returns false if
  /// `until` has passed or the token is cancelled.
  bool nap(int fd, std::optional<Time> until, bool watch_token) const;
  int reap();
  [[nodiscard]] int end_signal() const;
  [[nodiscard]] std::optional<Time> deadline() const;
  [[nodiscard]] double seconds() const;
  void read_status(int status, ProcessEnd& end) const;
  void kill_group(int signal) const;
  void close_files();

  ProcessSpec spec_;
  pid_t pid_ = -1;
  pid_t ours_ = -1; ///< the process that we reap: the child, or its guard
  int pidfd_ = -1;
  int guard_ = -1;                    ///< socket to the guard
  std::optional<int> guarded_status_; ///< wait status of the child, as the guard reports it
  int left_behind_ = 0;
  int killed_ = 0;
  bool gone_ = false;       ///< the guard reported kGone, or has ended
  bool guard_lost_ = false; ///< the guard ended before it could report kGone
  bool new_group_ = true;
  int out_ = -1, err_ = -1; ///< memory files of captured streams
  std::unique_ptr<StreamPump> pump_;
  Time begin_, end_;
};

/// Calls start() and wait().
Result<ProcessEnd> run_process(ProcessSpec spec);

} // namespace rankscope
