// Paths of the sources, the program under test, and the reference data.
#pragma once

#include <filesystem>
#include <string>

namespace rankscope::test {

[[nodiscard]] std::filesystem::path source_dir();
[[nodiscard]] const std::string& binary();
/// $RANKSCOPE_GOLDEN; by default ../shared/golden next to the source folder.
[[nodiscard]] std::filesystem::path golden_dir();

} // namespace rankscope::test
