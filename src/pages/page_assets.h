// The files of pages that the build embeds in the program (pages/assets, web/node_modules).
#pragma once

#include <string_view>

namespace rankscope {

/// Returns page.html from the source folder, unchanged.
[[nodiscard]] std::string_view page_template();
[[nodiscard]] std::string_view page_css();
/// Returns all scripts, joined in their order.
[[nodiscard]] std::string_view page_script();
/// Returns echarts.min.js as a gzip member. The functions below return its version, licence and
/// notice. All are empty in a build without ECharts.
[[nodiscard]] std::string_view echarts_gzip();
[[nodiscard]] std::string_view echarts_version();
[[nodiscard]] std::string_view echarts_licence();

} // namespace rankscope
