// The file that contains this code: the program, or librankscope.so in another program.
#pragma once

#include <string>

namespace rankscope {

/// Returns a path that opens it; /proc/self/exe for the program.
[[nodiscard]] std::string own_file();

} // namespace rankscope
