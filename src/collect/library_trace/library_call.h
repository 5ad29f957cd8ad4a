// One call of a GPU library, as read from its log.
#pragma once

#include <cstdint>
#include <string>

namespace rankscope {

/// The kinds of logs. Their names are the values of column `library` in library_trace.csv.
enum class LogKind : std::uint8_t {
  kRocblas,           ///< rocblas: bench lines
  kRocblasFunction,   ///< rocblas_function: profile records, with their call_count
  kRocblasTrace,      ///< rocblas_trace: trace lines without their pointers
  kHipblaslt,         ///< hipblaslt: bench lines
  kHipblasltFunction, ///< hipblaslt_function: profile records
  kMiopen,            ///< miopen: calls
  kMiopenFind,        ///< miopen_find: searches for a solution, which are not executions
  kTensile,           ///< tensile: kernels that were chosen
  kRccl,              ///< rccl: collective and point-to-point calls
  kRcclKernel,        ///< rccl_kernel: launches of the kernel trace
  kCublas,            ///< cublas: calls
  kCublaslt,          ///< cublaslt: matmuls
  kCudnn,             ///< cudnn: calls
};
inline constexpr int kLogKinds = 13;
[[nodiscard]] const char* log_kind_name(LogKind kind);

/// A call: the fields that identify its configuration, and the cost of the call.
struct LibraryCall {
  LogKind kind = LogKind::kRocblas;
  std::string config;    ///< as printed in library_trace.csv: one text per configuration
  std::string operation; ///< gemm_ex, conv fwd, AllReduce
  std::string dtype;     ///< bf16_r, f16
  std::string problem;   ///< m=.. n=.. k=.. or count=.. nranks=..
  std::string layout;    ///< TN, NHWC
  std::string solution;  ///< index or algorithm, if logged
  std::string kernel;    ///< name, if logged
  double bytes = 0;      ///< read and written by one call, 0 = not known
  double flops = 0;      ///< of one call, 0 = not known
};

} // namespace rankscope
