// Formats numbers as the reference tools print them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace rankscope {

/// Returns the shortest decimal text that converts back to the same double, in Python's format:
/// 100000.0, 1e-05, 1e+16; "nan", "inf", "-inf".
[[nodiscard]] std::string python_float(double value);

/// How a number above zero begins in fixed_text().
enum class Plus { kOmitted, kWritten };

/// Returns a finite number with this number of decimals. A number that rounds to zero has no sign.
[[nodiscard]] std::string fixed_text(double value, int decimals, Plus plus = Plus::kOmitted);

/// Rounds to `digits` decimals; ties are rounded to even, like Python's round().
[[nodiscard]] double round_decimals(double value, int digits);

/// Returns ascending numbers as text, with successive numbers as a range: "0-3, 5". After `most`
/// ranges and single numbers, the rest is "...".
[[nodiscard]] std::string ranges_text(std::span<const std::int64_t> numbers, std::size_t most = 16);

/// Returns "3 steps" or "1 step".
[[nodiscard]] std::string counted(std::size_t n, std::string_view singular,
                                  std::string_view plural);

} // namespace rankscope
