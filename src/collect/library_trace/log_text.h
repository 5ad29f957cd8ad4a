// Words, numbers and GEMMs of log lines.
#pragma once

#include "base/ascii.h"
#include "base/to_number.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Returns the text after the first `size` bytes; "" if the line is cut off there.
[[nodiscard]] inline std::string_view behind(std::string_view text, std::size_t size) {
  return size < text.size() ? text.substr(size) : std::string_view();
}

/// Removes the first word (separated by blanks) from `text` and returns it; "" at the end of the
/// text.
[[nodiscard]] inline std::string_view next_word(std::string_view& text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  const std::size_t end = text.find(' ');
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(word.size());
  return word;
}

/// Returns the text between the first `before` and the next `after`; empty if one is missing.
[[nodiscard]] inline std::optional<std::string_view>
between(std::string_view text, std::string_view before, std::string_view after) {
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos)
    return std::nullopt;
  text.remove_prefix(at + before.size());
  const std::size_t end = text.find(after);
  if (end == std::string_view::npos)
    return std::nullopt;
  return text.substr(0, end);
}

/// Reads `-m 64 --transA N --bias_vector` as options with their values in order. Empty when a word
/// is out of place: a value without option, an option that is not a name, or several values per
/// option without `several_values`.
struct CommandOption {
  std::string_view name; ///< with its dashes
  std::vector<std::string_view> values;
};
[[nodiscard]] std::optional<std::vector<CommandOption>> parse_options(std::string_view text,
                                                                      bool several_values);
/// Returns the first value of an option; "" when the option is missing.
[[nodiscard]] std::string_view option_value(const std::vector<CommandOption>& options,
                                            std::string_view name);

/// Returns HOST:PID of `HOST:PID:TID [DEV]` in front of NCCL INFO; "" without it. Open MPI's
/// --tag-output adds "[job,rank]<stderr>:" without a blank.
[[nodiscard]] std::string_view nccl_process(std::string_view before);

/// Returns the bytes per element of a type in the libraries' spelling: f32_r, bf16, s, R_16BF,
/// f8_fnuz_r, f64_c; 0 = unknown.
[[nodiscard]] double element_bytes(std::string_view type);

/// Returns whether a type in the libraries' spelling is complex: f64_c, z, C_32F.
[[nodiscard]] bool is_complex(std::string_view type);

/// Returns whether a function of rocBLAS or cuBLAS is a GEMM: gemm_ex, rocblas_zgemm,
/// cublasGemmEx; not gemmt, which computes a triangle and has no m.
[[nodiscard]] bool is_gemm(std::string_view function);

/// Returns the letter of the type in the name of a GEMM: "z" of rocblas_zgemm and cublasZgemm_v2,
/// "" of gemm_ex.
[[nodiscard]] std::string gemm_type_letter(std::string_view function);

/// The sizes of `batch` products of an m x k and a k x n matrix.
struct GemmSize {
  double m = 0, n = 0, k = 0, batch = 1;
  /// Returns "m=64 n=32 k=16", and " batch=8" if there are several products.
  [[nodiscard]] std::string text() const;
  /// Returns 2 m n k flops per product, 8 m n k for complex types. Example: m = n = k = 1024 in
  /// f16: 2^31 flops.
  [[nodiscard]] double flops(std::string_view type) const;
};

} // namespace rankscope
