// Logs that GPU libraries print about their calls (rocBLAS, hipBLASLt, MIOpen, Tensile, RCCL/NCCL,
// cuBLAS, cuBLASLt, cuDNN): the variables that turn them on, and two tables. library_trace.csv has
// one row per configuration and library with its calls; library_trace_detail.csv has details of the
// same rows.
#pragma once

#include "base/noncopyable.h"
#include "base/result.h"
#include "collect/library_trace/library_call.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// A library whose log can be turned on. Lines of all libraries are read in any case.
enum class TracedLibrary : std::uint8_t {
  kRocblas,
  kHipblaslt,
  kMiopen,
  kTensile,
  kRccl, ///< and NCCL, which has the same lines
  kCublas,
  kCublaslt,
  kCudnn,
};
/// Parses rocblas, hipblaslt, miopen, tensile, rccl or nccl, cublas, cublaslt, cudnn.
[[nodiscard]] std::optional<TracedLibrary> traced_library(std::string_view name);

struct LibraryTraceOptions {
  std::vector<TracedLibrary> libraries; ///< libraries whose logs environment() turns on
  bool rccl_kernels = false;            ///< also turn on RCCL's kernel trace, which is expensive
  std::string log_folder;               ///< folder for log files per process; "" = none
  std::string csv;                      ///< library_trace.csv
  std::string detail_csv;               ///< library_trace_detail.csv, "" = none
  std::string model;                    ///< column model
  std::string job_id = "0";             ///< column jobid
  std::string created;                  ///< column created_date, "" = now, local time
  bool crlf = false;                    ///< CRLF line ends, as written by the older script
  std::size_t max_configs = 1'000'000;  ///< of one library in memory; more are stored in a file
};

/// Changes to the environment of the child.
struct EnvironmentChange {
  std::map<std::string, std::string> set;
  std::vector<std::string> unset;
  std::vector<std::string> notes; ///< values of the user that were merged or replaced
};

/// Counts of one kind of lines.
struct LibraryCount {
  LogKind kind = LogKind::kRocblas;
  std::uint64_t lines = 0;
  std::uint64_t calls = 0;   ///< call_count of profile records, else lines
  std::uint64_t configs = 0; ///< different configurations
  std::uint64_t damaged = 0; ///< lines of this kind that do not parse: torn, interleaved, unknown
  std::string first_damaged; ///< at most 200 bytes of the first damaged line
};

struct LibraryTraceSummary {
  std::uint64_t bytes = 0, lines = 0;
  std::uint64_t long_lines = 0;     ///< lines longer than 1 MiB, which are cut there
  std::vector<LibraryCount> counts; ///< kinds with lines, in the order of LogKind
  std::vector<std::string> silent;  ///< traced libraries without a line
};

class LibraryTrace : NonCopyable {
public:
  explicit LibraryTrace(LibraryTraceOptions options);
  ~LibraryTrace();

  /// Returns the changes to the child's environment that turn the logs on. The user's masks are
  /// combined with ours (OR), and NCCL_DEBUG_SUBSYS is extended. Our files are used instead of the
  /// user's, and a note says so.
  [[nodiscard]] EnvironmentChange
  environment(const std::map<std::string, std::string>& child) const;

  /// Adds the next bytes of a stream (0, 1, 2...: stdout, stderr, a file), in pieces of any size.
  /// `t_s` is the time since the start of the run, empty if there is no run. Lines that belong to
  /// no library are appended to `others` if given, with their line ends. A stream belongs to one
  /// thread at a time; different streams may not be fed at the same time.
  void feed(std::size_t stream, std::string_view bytes, std::optional<double> t_s = {},
            std::string* others = nullptr);
  /// Ends a stream. A last line without a line end is read too.
  void end(std::size_t stream, std::string* others = nullptr);
  /// Sets the process of a stream (the pid in the name of its file). Call before its bytes are fed.
  void name_process(std::size_t stream, const std::string& process);

  /// Reads the libraries' files in log_folder, ends all streams and writes the tables, even if they
  /// have no rows. Errors: kOutput, kUnreadable.
  Result<LibraryTraceSummary> finish();

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace rankscope
