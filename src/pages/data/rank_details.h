// The details that only the page of a single trace has: operators, kernels, launch queue.
#pragma once

#include "core/schema.h"
#include "pages/data/page_blob.h"
#include "pages/data/rank_page.h"

namespace rankscope {

/// Adds the members that a page of many ranks does not have.
void add_details(PageBlob& page, const RankPage& rank);

/// Returns the schema of the page's table of kernels by name, with the spread of their durations.
[[nodiscard]] Schema<KernelSpread> kernel_spread_schema(const StringPool& texts, double total_ns);

} // namespace rankscope
