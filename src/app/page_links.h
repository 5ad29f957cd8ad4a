// Links from a page to files that analyze and merge wrote next to the page's data.
#pragma once

#include "pages/data/page_head.h"

#include <string>
#include <vector>

namespace rankscope {

/// Returns links to the workbooks, the sweep's report and the merged traces that analyze and merge
/// wrote in `folder` (a run or a sweep). Links to files about all ranks are first; at most 200
/// links are returned. Addresses are relative to the page's folder, so that both can be moved
/// together.
[[nodiscard]] std::vector<PageLink> links_to_outputs(const std::string& folder,
                                                     const std::string& page);

} // namespace rankscope
