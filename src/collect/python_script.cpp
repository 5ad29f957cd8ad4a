#include "collect/python_script.h"

namespace rankscope {
namespace {

// Both modules are loaded before Python puts the current folder into the path. An empty element of
// PYTHONPATH has become the folder's absolute path by then.
constexpr std::string_view kWithoutCurrentFolder =
    "import os, sys\n"
    "sys.path[:] = [p for p in sys.path if p and os.path.abspath(p) != os.getcwd()]\n";

} // namespace

std::vector<std::string> python_script_argv(std::string_view python, std::string_view script) {
  return {std::string(python), "-c", std::string(kWithoutCurrentFolder).append(script)};
}

} // namespace rankscope
