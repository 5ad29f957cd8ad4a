// The interactive page as one HTML text that needs no network. It contains the template, styles and
// scripts of pages/assets, ECharts, and the data.
#pragma once

#include "base/result.h"

#include <string>

namespace rankscope {

/// Checks that this program contains ECharts, which every page needs. Errors: kMissingTool.
[[nodiscard]] Result<void> can_make_pages();

/// Returns the page with the data of a blob (pages/data/page_blob.h). It escapes `title`. Errors:
/// those of can_make_pages().
[[nodiscard]] Result<std::string> page_text(const std::string& title, const std::string& blob);

} // namespace rankscope
