// Text of numbers as the reference tools print them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace rankscope {

/// Shortest decimal text that reads back as the same double, in Python's layout: 100000.0, 1e-05,
/// 1e+16; "nan", "inf", "-inf".
[[nodiscard]] std::string python_float(double value);

/// Rounded half to even at `digits` decimals of the decimal text, as Python's round().
[[nodiscard]] double round_decimals(double value, int digits);

/// "0-3, 5": ascending numbers, runs of three and more neighbours joined; `most` pieces, then
/// "...".
[[nodiscard]] std::string ranges_text(std::span<const std::int64_t> numbers, std::size_t most = 16);

} // namespace rankscope
