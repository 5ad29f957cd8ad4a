// Text of numbers as the reference tools print them.
#pragma once

#include <string>

namespace rankscope {

/// Shortest decimal text that reads back as the same double, in Python's layout: 100000.0, 1e-05,
/// 1e+16; "nan", "inf", "-inf".
[[nodiscard]] std::string python_float(double value);

/// Rounded half to even at `digits` decimals of the decimal text, as Python's round().
[[nodiscard]] double round_decimals(double value, int digits);

} // namespace rankscope
