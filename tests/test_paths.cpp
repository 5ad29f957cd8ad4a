#include "test_paths.h"

#include <cstdlib>

namespace rankscope::test {

std::filesystem::path source_dir() {
  return RANKSCOPE_SOURCE_DIR;
}

const std::string& binary() {
  static const char* const env = std::getenv("RANKSCOPE_BINARY");
  static const std::string path = env != nullptr ? env : RANKSCOPE_BINARY;
  return path;
}

std::filesystem::path golden_dir() {
  const char* env = std::getenv("RANKSCOPE_GOLDEN");
  return env != nullptr ? std::filesystem::path(env) : source_dir() / ".." / "shared" / "golden";
}

} // namespace rankscope::test
