// The lanes of a rank as page data.
#pragma once

#include "pages/data/page_blob.h"
#include "pages/data/rank_page.h"

#include <cstdint>
#include <functional>

namespace rankscope {

/// Adds an element to the open list: the rank's lanes and steps. `page_ns`: converts a time of its
/// file to the page's clock, with drift, for each event (columns and durations keep the rank's
/// clock). `alone`: events name their rows of the table of operators.
void add_rank(PageBlob& page, const RankPage& rank,
              const std::function<std::int64_t(std::int64_t)>& page_ns, bool alone);

} // namespace rankscope
