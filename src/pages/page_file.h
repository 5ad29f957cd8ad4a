// The interactive page as a file: the template, styles and scripts of pages/assets, ECharts, and
// the data, all in one HTML text that needs no network.
#pragma once

#include "base/result.h"

#include <string>

namespace rankscope {

/// Checks that this program contains ECharts, which every page needs. Errors: kMissingTool.
[[nodiscard]] Result<void> can_make_pages();

/// Returns the page of a blob (pages/data/page_blob.h); escapes `title`. Errors: those of
/// can_make_pages().
[[nodiscard]] Result<std::string> page_text(const std::string& title, const std::string& blob);

} // namespace rankscope
