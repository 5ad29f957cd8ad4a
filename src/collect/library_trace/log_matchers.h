// Reads one line of a log as the library call that it records. Lines may have anything in front
// (ranks, hosts, colours): the call may begin anywhere, but it must parse completely.
#pragma once

#include "collect/library_trace/library_call.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rankscope {

/// Kind of a line, by a text that only such lines have.
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

/// A parsed line. `calls` is its call_count where it has one.
struct ParsedCall {
  LibraryCall call;
  std::uint64_t calls = 1;
  std::string_view process; ///< HOST:PID if the line has it; a view into the line
  std::string_view rank;
};

/// `text`: the line from its marker on, without trailing blanks. None = damaged.
[[nodiscard]] std::optional<ParsedCall> parse_rocblas_bench(std::string_view text);
[[nodiscard]] std::optional<ParsedCall> parse_rocblas_function(std::string_view text);
[[nodiscard]] std::optional<ParsedCall> parse_rocblas_trace(std::string_view text);
[[nodiscard]] std::optional<ParsedCall> parse_hipblaslt_bench(std::string_view text);
[[nodiscard]] std::optional<ParsedCall> parse_hipblaslt_function(std::string_view text);
/// `before`: the line up to the driver's path, which ends with the function that logs it:
/// "MIOpen(HIP): Command [LogCmdConvolution]", in very old builds "LogCmdConvolution:".
[[nodiscard]] bool is_miopen_log(std::string_view before);
/// Returns whether it is a search for a solution, not an execution.
[[nodiscard]] bool is_miopen_find(std::string_view before);
[[nodiscard]] std::optional<ParsedCall> parse_miopen(std::string_view before,
                                                     std::string_view text);
[[nodiscard]] std::optional<ParsedCall> parse_tensile(std::string_view text);
[[nodiscard]] std::optional<ParsedCall> parse_cublaslt(std::string_view text);

/// Lines of NCCL INFO: a call, the launch of a kernel, damage, or another message.
enum class NcclLine : std::uint8_t { kOther, kCall, kDamaged };
[[nodiscard]] NcclLine parse_nccl(std::string_view before, std::string_view text, ParsedCall& out);

/// The launch (KL) or the end (KE) of a kernel in RCCL's kernel trace.
struct KernelEvent {
  bool end = false;
  double t_s = 0;  ///< of the device's clock
  std::string key; ///< process, rank and block, operation, device, communicator: both have it
};
/// None for other lines.
[[nodiscard]] std::optional<KernelEvent> parse_kernel_event(std::string_view before,
                                                            std::string_view text);

/// A record of cuBLAS or cuDNN from its first line on.
struct CudaRecord {
  LogKind kind = LogKind::kCublas;
  std::string function;
  std::string fields;    ///< "name=value " of those that make a configuration
  bool returned = false; ///< the second record of a call, with its status
};
/// None for functions that start no work (create, set, get).
[[nodiscard]] std::optional<CudaRecord> begin_cuda_record(LogKind kind, std::string_view text);
/// A line of it; false at its last ("Process=").
bool add_cuda_field(CudaRecord& record, std::string_view text);
[[nodiscard]] std::optional<ParsedCall> finish_cuda_record(const CudaRecord& record);

} // namespace rankscope
