// What the page of a single trace has besides its lanes: operators, kernels, launch queue.
#pragma once

#include "core/schema.h"
#include "pages/data/page_blob.h"
#include "pages/data/rank_page.h"

namespace rankscope {

/// Adds the members that a page of many ranks leaves out.
void add_details(PageBlob& page, const RankPage& rank);

/// Returns the page's table of kernels by name with the spread of their durations.
[[nodiscard]] Schema<KernelSpread> kernel_spread_schema(const StringPool& texts, double total_ns);

} // namespace rankscope
