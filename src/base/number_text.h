// Text of numbers as the reference tools print them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace rankscope {

/// Returns the shortest decimal text that reads back as the same double, in Python's layout:
/// 100000.0, 1e-05, 1e+16; "nan", "inf", "-inf".
[[nodiscard]] std::string python_float(double value);

/// Rounds the decimal text half to even at `digits` decimals, like Python's round().
[[nodiscard]] double round_decimals(double value, int digits);

/// Returns ascending numbers as "0-3, 5": runs of three or more neighbours are joined. After `most`
/// pieces follows "...".
[[nodiscard]] std::string ranges_text(std::span<const std::int64_t> numbers, std::size_t most = 16);

/// Returns "3 steps" or "1 step".
[[nodiscard]] std::string counted(std::size_t n, std::string_view one, std::string_view many);

} // namespace rankscope
