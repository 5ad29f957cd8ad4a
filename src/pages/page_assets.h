// What the program carries for its pages, put in at build (pages/assets, web/node_modules).
#pragma once

#include <string_view>

namespace rankscope {

/// As they lie in the source folder.
[[nodiscard]] std::string_view page_template();
[[nodiscard]] std::string_view page_css();
/// All scripts in their order.
[[nodiscard]] std::string_view page_script();
/// echarts.min.js as a gzip member, its version, its licence and notice; empty in a build without
/// it.
[[nodiscard]] std::string_view echarts_gzip();
[[nodiscard]] std::string_view echarts_version();
[[nodiscard]] std::string_view echarts_licence();

} // namespace rankscope
