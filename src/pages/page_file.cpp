#include "pages/page_file.h"

#include "base/base64.h"
#include "base/xml_text.h"
#include "os/gzip.h"
#include "pages/page_assets.h"

#include <array>
#include <string_view>
#include <utility>

namespace rankscope {
namespace {

/// Returns the title for the browser's tab: the last three parts of a path, without the folders
/// before them.
std::string tab_title(std::string_view title) {
  std::size_t slash = title.size();
  for (int part = 0; part < 3 && slash != std::string_view::npos; ++part)
    slash = slash == 0 ? std::string_view::npos : title.rfind('/', slash - 1);
  if (slash != std::string_view::npos)
    title.remove_prefix(slash + 1);
  return std::string(title) + " - rankscope";
}

} // namespace

Result<void> can_make_pages() {
  if (!echarts_gzip().empty())
    return {};
  return Error{ErrorCode::kMissingTool, "page", "this rankscope was built without ECharts",
               "run scripts/web_parts.sh, then build again"};
}

Result<std::string> page_text(const std::string& title, const std::string& blob) {
  RS_CHECK(can_make_pages());
  // base64 and escaped text have no '<', so no data can end an element early
  const std::array<std::pair<std::string_view, std::string>, 7> parts = {{
      {"@TITLE@", xml_escaped(tab_title(title))},
      {"@CSS@", std::string(page_css())},
      {"@ECHARTS_VERSION@", xml_escaped(echarts_version())},
      {"@ECHARTS_LICENCE@", xml_escaped(echarts_licence())},
      {"@DATA@", base64(gzip_of(blob))},
      {"@ECHARTS@", base64(echarts_gzip())},
      {"@SCRIPT@", std::string(page_script())},
  }};
  std::string out;
  std::string_view rest = page_template();
  for (const auto& [name, text] : parts) { // in the order of the template's placeholders
    const std::size_t at = rest.find(name);
    if (at == std::string_view::npos)
      return Error{ErrorCode::kInternal, "page.html", "lacks " + std::string(name), ""};
    out += rest.substr(0, at);
    out += text;
    rest.remove_prefix(at + name.size());
  }
  out += rest;
  return out;
}

} // namespace rankscope
