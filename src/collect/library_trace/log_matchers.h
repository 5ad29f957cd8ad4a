// Parses one log line into the library call that it records. Any text may precede the call (ranks,
// hosts, colours), but the call itself must parse completely.
#pragma once

#include "collect/library_trace/library_call.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rankscope {

/// Kind of a line, recognized by a text that only such lines contain.
enum class LogMarker : std::uint8_t {
  kRocblasBench,
  kRocblasFunction,
  kRocblasTrace,
  kHipblasltBench,
  kHipblasltFunction,
  kMiopenDriver,
  kTensileKernel,
  kTensileSolution, ///< the index that belongs to the next kernel
  kNccl,
  kCublaslt,
  kCublasBegin, ///< a record of several lines: I! cuBLAS (...) function ... called:
  kCudnnBegin,
  kCudaField, ///< i!  m: type=int; val=1024
};

struct FoundMarker {
  LogMarker marker = LogMarker::kNccl;
  std::size_t begin = 0; ///< where the library's own text begins
};

/// Returns the first marker of a line; empty for lines of no library. Linear, one pass.
[[nodiscard]] std::optional<FoundMarker> find_marker(std::string_view line);

/// A parsed line. `calls` is the line's call_count if it has one.
struct ParsedCall {
  LibraryCall call;
  std::uint64_t calls = 1;
  std::string_view process; ///< HOST:PID if the line has it; a view into the line
  std::string_view rank;
};

/// Parses `text`, the line from its marker on, without trailing blanks. Empty = the line is
/// damaged.
[[nodiscard]] std::optional<ParsedCall> parse_rocblas_bench(std::string_view text);
[[nodiscard]] std::optional<ParsedCall> parse_rocblas_function(std::string_view text);
[[nodiscard]] std::optional<ParsedCall> parse_rocblas_trace(std::string_view text);
[[nodiscard]] std::optional<ParsedCall> parse_hipblaslt_bench(std::string_view text);
[[nodiscard]] std::optional<ParsedCall> parse_hipblaslt_function(std::string_view text);
/// Returns whether MIOpen logged the line. `before` is the line up to the driver's path and
/// ends with the logging function: "MIOpen(HIP): Command [LogCmdConvolution]", in very old builds
/// "LogCmdConvolution:".
[[nodiscard]] bool is_miopen_log(std::string_view before);
/// Returns whether the line is a search for a solution, not an execution.
[[nodiscard]] bool is_miopen_find(std::string_view before);
[[nodiscard]] std::optional<ParsedCall> parse_miopen(std::string_view before,
                                                     std::string_view text);
[[nodiscard]] std::optional<ParsedCall> parse_tensile(std::string_view text);
[[nodiscard]] std::optional<ParsedCall> parse_cublaslt(std::string_view text);

/// Kind of an NCCL INFO line: a call or the launch of a kernel, a damaged line, or another message.
enum class NcclLine : std::uint8_t { kOther, kCall, kDamaged };
[[nodiscard]] NcclLine parse_nccl(std::string_view before, std::string_view text, ParsedCall& out);

/// The launch (KL) or the end (KE) of a kernel in RCCL's kernel trace.
struct KernelEvent {
  bool end = false;
  double t_s = 0; ///< time of the device's clock
  /// Process, rank and block, operation, device, communicator; same for launch and end.
  std::string key;
};
/// Parses a launch or an end; empty for other lines.
[[nodiscard]] std::optional<KernelEvent> parse_kernel_event(std::string_view before,
                                                            std::string_view text);

/// A record of cuBLAS or cuDNN, which has several lines.
struct CudaRecord {
  LogKind kind = LogKind::kCublas;
  std::string function;
  std::string fields;    ///< "name=value " of the fields that identify a configuration
  bool returned = false; ///< the second record of a call, with its status
};
/// Begins a record with its first line; empty for functions that start no work (create, set, get).
[[nodiscard]] std::optional<CudaRecord> begin_cuda_record(LogKind kind, std::string_view text);
/// Adds a line to the record. Returns false at its last line ("Process=").
bool add_cuda_field(CudaRecord& record, std::string_view text);
[[nodiscard]] std::optional<ParsedCall> finish_cuda_record(const CudaRecord& record);

} // namespace rankscope
