// What analyze and merge have left beside the data of a page, as links of that page.
#pragma once

#include "pages/data/page_head.h"

#include <string>
#include <vector>

namespace rankscope {

/// Workbooks, the sweep's report and merged traces that lie in `folder` (of a run or a sweep) where
/// analyze and merge write them; those of all ranks first, at most 200. Addresses are relative to
/// the page's folder, so that both can be moved together.
[[nodiscard]] std::vector<PageLink> links_beside(const std::string& folder,
                                                 const std::string& page);

} // namespace rankscope
