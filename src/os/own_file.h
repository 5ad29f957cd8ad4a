// The file that contains this code: the program, or librankscope.so when another program loads it.
#pragma once

#include <string>

namespace rankscope {

/// Returns a path that opens this file: that of the library, or /proc/self/exe for the program.
[[nodiscard]] std::string this_binary();

} // namespace rankscope
