// The files for pages that the build embeds in the program (pages/assets, web/node_modules).
#pragma once

#include <string_view>

namespace rankscope {

/// Returns the file of the source folder unchanged.
[[nodiscard]] std::string_view page_template();
[[nodiscard]] std::string_view page_css();
/// Returns all scripts in their order.
[[nodiscard]] std::string_view page_script();
/// Returns echarts.min.js as a gzip member; below, its version, its licence and notice. Empty in a
/// build without it.
[[nodiscard]] std::string_view echarts_gzip();
[[nodiscard]] std::string_view echarts_version();
[[nodiscard]] std::string_view echarts_licence();

} // namespace rankscope
