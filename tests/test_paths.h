// Where the tests find the sources, the binary and the reference data.
#pragma once

#include <filesystem>
#include <string>

namespace rankscope::test {

[[nodiscard]] std::filesystem::path source_dir();
[[nodiscard]] const std::string& binary();
/// $RANKSCOPE_GOLDEN, else ../shared/golden beside the sources.
[[nodiscard]] std::filesystem::path golden_dir();

} // namespace rankscope::test
