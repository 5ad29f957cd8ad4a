// Python scripts that are built into this program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Returns the argument list that runs `script` with `python`. Modules are not imported from the
/// current folder, which `python -c` would search first: its files may be untrusted, such as files
/// that came with a trace. (Python's options are not suitable: -P needs Python 3.11, -I hides the
/// user's own packages.)
[[nodiscard]] std::vector<std::string> python_script_argv(std::string_view python,
                                                          std::string_view script);

} // namespace rankscope
