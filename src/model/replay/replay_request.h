// Makes the arguments with which a recorded matrix product or convolution can be run again: shapes,
// layouts and types as PyTorch passes them to hipBLASLt (cuBLASLt) and MIOpen. Only the recorded
// arguments are used. Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rankscope {

class ParsedArgs;

/// D = alpha op(A) op(B) + beta C, column-major: op(A) is m x k, op(B) is k x n. Types are names of
/// hipblaslt-bench ("bf16_r") in static memory.
struct GemmReplay {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  bool trans_a = false, trans_b = false;
  std::int64_t lda = 0, ldb = 0, ldd = 0;                ///< ldd applies to C and D
  std::int64_t stride_a = 0, stride_b = 0, stride_d = 0; ///< number of elements from one matrix to
                                                         ///< the next; 0 if batch is 1
  double alpha = 1, beta = 0;
  std::string_view type_a, type_b, type_d; ///< type_d applies to C and D
  std::string_view compute, scale;
  std::string_view bias_type; ///< type of a vector of m elements added to each column; "" = no bias
  int scale_a = 0,
      scale_b = 0; ///< 0: no scale; 1: one value; 2: one value per row of op(A) or per column of
                   ///< op(B)
};

/// A convolution with the names of MIOpen (a transposed convolution is the gradient of an ordinary
/// one). Extents are depth, height, width; for two dimensions, the depth is 1.
struct ConvReplay {
  std::string_view program; ///< first argument of MIOpenDriver: conv, convfp16, convbfp16
  int spatial = 2;
  std::int64_t n = 0, c = 0, k = 0, groups = 1;
  std::array<std::int64_t, 3> in{1, 1, 1}, filter{1, 1, 1}, pad{0, 0, 0}, stride{1, 1, 1},
      dilation{1, 1, 1};
  bool channels_last = false;
  std::vector<int> directions; ///< 1 forward, 2 gradient of the data, 4 gradient of the weights
};

struct ReplayRequest {
  std::variant<std::monostate, GemmReplay, ConvReplay> call;
  std::string note; ///< other work that the operator does, and values that the trace does not
                    ///< contain
  std::string why;  ///< why there is no call
};

/// Makes the request for an operator of the families GEMM and CONV. `kernel`: name of the kernel
/// that the operator launched, which shows whether TF32 or f32 was used; may be empty. Strides must
/// be recorded, because otherwise a transposed matrix cannot be distinguished. Formulas:
/// docs/replay.md. Worked example: aten::mm of (8944, 1024) and (1024, 2816), both row-major, in
/// bf16. The row-major result is the transposed column-major result, so A and B are swapped: m
/// 2816, n 8944, k 1024, lda 2816, ldb 1024, ldd 2816, no transposes.
[[nodiscard]] ReplayRequest replay_request(std::string_view name, const ParsedArgs& args,
                                           std::string_view kernel);

/// Returns whether operators of the family can be replayed ("GEMM", "CONV").
[[nodiscard]] bool can_replay_family(std::string_view family);

/// Returns the command lines of the library's benchmark program, one for each call of the library;
/// empty if there is no call. They contain only numbers and fixed words; no text is copied from the
/// trace.
[[nodiscard]] std::vector<std::string> replay_commands(const ReplayRequest& request);

/// Returns the library of the commands, by its name in library_trace.csv: hipblaslt, miopen; "" if
/// there is no call.
[[nodiscard]] std::string_view replay_library(const ReplayRequest& request);

/// The measured time of a request, or the reason why it is missing.
struct ReplayTime {
  std::optional<double> us; ///< time per call
  std::string status;       ///< ok, missing, unsupported, failed, skipped
  std::string detail;       ///< if the status is not ok: the reason; otherwise the work that was
                            ///< left out
  std::string runner;       ///< hipblaslt-bench, cublasLt, torch; "" = not run
};

namespace replay {
/// The implementations of replay_request() for each family.
ReplayRequest gemm(std::string_view name, const ParsedArgs& args, std::string_view kernel);
ReplayRequest conv(std::string_view name, const ParsedArgs& args);
[[nodiscard]] inline ReplayRequest no_call(std::string why) {
  return {{}, "", std::move(why)};
}
} // namespace replay

} // namespace rankscope
