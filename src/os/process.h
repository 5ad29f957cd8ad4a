// Child processes by argument list, never through a shell: standard streams to files, memory or
// nothing, a deadline, a process group of their own that ends with us.
#pragma once

#include "base/result.h"
#include "os/tasks.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace rankscope {

/// Where a child's standard output or error goes.
enum class Stream {
  kDiscard,  ///< /dev/null
  kCapture,  ///< ProcessEnd::out or err
  kOurError, ///< our standard error, so that our standard output keeps the result alone
  kFile,     ///< the file of the spec
};

struct ProcessSpec {
  std::vector<std::string> argv;    ///< argv[0] is looked up in PATH
  std::optional<std::string> input; ///< bytes on its standard input; none = /dev/null
  std::string input_file;           ///< or a file
  Stream out = Stream::kDiscard, err = Stream::kDiscard;
  std::string out_file, err_file;
  std::size_t capture_limit = std::size_t{64} << 20; ///< bytes kept of each captured stream
  std::chrono::milliseconds deadline{0};             ///< from its start, 0 = none
  std::chrono::milliseconds grace{2000};             ///< between SIGTERM and SIGKILL
  std::optional<CancelToken> cancel;                 ///< ends it early
};

/// How a child ended.
struct ProcessEnd {
  int exit_code = -1; ///< -1: by a signal
  int signal = 0;
  bool timed_out = false; ///< ended by us, at its deadline
  bool cancelled = false; ///< ended by us, on the token
  std::string out, err;

  [[nodiscard]] bool ok() const { return exit_code == 0; }
  /// "exit code 3", "signal 9", "no end within 5 s".
  [[nodiscard]] std::string describe() const;
};

/// A child that runs. Destroyed before its end, it is ended.
class Process {
public:
  /// Errors: kMissingTool when the program is not there, kOutput when the system refuses.
  static Result<Process> start(ProcessSpec spec);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Waits for its end (at most until the deadline or the token, then ends it).
  Result<ProcessEnd> wait();
  /// SIGTERM to its group, SIGKILL after the grace. wait() tells how it ended.
  void terminate();

private:
  Process() = default;
  /// Until it has ended, `until`, or the token; true = it has ended (and is still to be reaped).
  bool ended_by(std::optional<std::chrono::steady_clock::time_point> until, bool watch_token);
  void kill_group(int signal) const;
  void close_files();

  ProcessSpec spec_;
  pid_t pid_ = -1;
  int pidfd_ = -1;
  int out_ = -1, err_ = -1; ///< files in memory of captured streams
  std::chrono::steady_clock::time_point begin_;
};

/// start() and wait().
Result<ProcessEnd> run_process(ProcessSpec spec);

} // namespace rankscope
