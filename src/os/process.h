// Child processes from an argument list, never through a shell. Their standard streams go to files,
// memory, functions, our streams or nowhere. Environment, folder and deadline can be set, and
// ending a child also ends the processes that it started.
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

/// Where a child's standard output or error goes.
enum class Stream {
  kDiscard,  ///< /dev/null
  kCapture,  ///< ProcessEnd::out or err
  kOurError, ///< our standard error, so that our standard output keeps the result alone
  kOurs,     ///< our stream of the same name
  kFile,     ///< the file of the spec
  kPipe,     ///< as bytes come: to on_out or on_err, the file (if named) and ours (if echoed)
  kLikeOut,  ///< standard error only: goes where the output goes, in the order of writing
};

struct ProcessSpec {
  std::vector<std::string> argv;    ///< argv[0] is looked up in PATH
  std::optional<std::string> input; ///< bytes on its standard input; not set = /dev/null
  std::string input_file;           ///< or a file
  bool our_input = false;           ///< or ours; with a terminal, the child stays in our group
  Stream out = Stream::kDiscard, err = Stream::kDiscard;
  std::string out_file, err_file;
  /// Called by a thread of the process with bytes as they come, one call at a time for both.
  std::function<void(std::string_view)> on_out, on_err;
  bool echo_out = false, echo_err = false; ///< also write a kPipe's bytes to ours
  EnvironmentChanges set_env;              ///< over our environment
  std::vector<std::string> unset_env;
  std::string folder; ///< to work in; "" = ours
  /// No process that the child starts outlives it or us, even if we are killed: a small guard
  /// process is the parent of all of them. Without it we end only the child's process group.
  bool guarded = false;
  /// Guarded: processes that the child leaves running continue until wait() is called; wait_child()
  /// reports the child's own end before that.
  bool lingers = false;
  std::size_t capture_limit = std::size_t{64} << 20; ///< bytes stored of each captured stream
  std::chrono::milliseconds deadline{0};             ///< from its start, 0 = no deadline
  std::chrono::milliseconds grace{2000};             ///< between end_signal and SIGKILL
  int end_signal = SIGTERM;                          ///< how it is asked to end
  bool forward_signal = false;       ///< end it with the signal that we got (os/signals.h), if any
  std::optional<CancelToken> cancel; ///< ends it early
};

/// How a child ended.
struct ProcessEnd {
  int exit_code = -1; ///< -1: ended by a signal
  int signal = 0;
  bool timed_out = false; ///< ended by us, at its deadline
  bool cancelled = false; ///< ended by us, on the token
  double seconds = 0;     ///< from its start to its own end
  int left_behind = 0;    ///< guarded: processes that it left running, which were ended
  int killed = 0;         ///< guarded: processes that were not gone when the grace was over
  std::string lost_text;  ///< why a file lacks some of its output; "" = complete
  std::string out, err;

  [[nodiscard]] bool ok() const { return exit_code == 0; }
  /// Returns "exit code 3", "signal 9", "it did not end in time".
  [[nodiscard]] std::string describe() const;
};

/// Returns the last line of a program's output, at most 200 bytes.
[[nodiscard]] std::string last_line(std::string_view text);

/// A running child. Destroying the object ends the child.
class Process {
public:
  /// Errors: kMissingTool when the program is not found, kOutput when the system refuses.
  static Result<Process> start(ProcessSpec spec);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Waits for its end (at most until the deadline or the token, then ends it).
  Result<ProcessEnd> wait();
  /// Does the same for a child that lingers, without ending the processes that it left running.
  Result<ProcessEnd> wait_child();
  /// Sends end_signal to its group and SIGKILL after the grace; the guard of a guarded child does
  /// that without us. wait() returns how it ended.
  void terminate();

private:
  using Time = std::chrono::steady_clock::time_point;
  struct Ends; ///< descriptors of its streams, until it has started

  Process() = default;
  Result<int> open_input(Ends& ends);
  Result<int> open_output(bool is_out, Ends& ends);
  Result<int> open_pipe(bool is_out, Ends& ends);
  Result<void> open_streams(Ends& ends);
  Result<void> begin(const Ends& ends);
  Result<void> begin_guarded(const Ends& ends, const std::string& program, char* const* argv,
                             char* const* environment);
  /// Waits until it has ended, `until`, or the token; true = it has ended (and is not yet reaped).
  bool ended_by(std::optional<Time> until, bool watch_token);
  /// Does the same with the guard's notes; with `all`, waits until all its processes have ended.
  bool guard_told(std::optional<Time> until, bool watch_token, bool all);
  /// Sleeps at most until then, shorter when a token is watched; false when `until` is over or the
  /// token is cancelled.
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
  std::optional<int> guarded_status_; ///< the child's, reported by the guard
  int left_behind_ = 0;
  int killed_ = 0;
  bool gone_ = false;       ///< the guard reported kGone, or has ended
  bool guard_lost_ = false; ///< it ended before it could report kGone
  bool own_group_ = true;
  int out_ = -1, err_ = -1; ///< files in memory of captured streams
  std::unique_ptr<StreamPump> pump_;
  Time begin_, end_;
};

/// Calls start() and wait().
Result<ProcessEnd> run_process(ProcessSpec spec);

} // namespace rankscope
