#include "collect/python_script.h"

namespace rankscope {
namespace {

// Python loads os and sys before it adds the current folder to sys.path. When this code runs, an
// empty element of PYTHONPATH has already been replaced by the absolute path of the current folder.
constexpr std::string_view kWithoutCurrentFolder =
    "import os, sys\n"
    "sys.path[:] = [p for p in sys.path if p and os.path.abspath(p) != os.getcwd()]\n";

} // namespace

std::vector<std::string> python_script_argv(std::string_view python, std::string_view script) {
  return {std::string(python), "-c", std::string(kWithoutCurrentFolder).append(script)};
}

} // namespace rankscope
