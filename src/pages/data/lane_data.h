// Writes the lanes of a rank as page data.
#pragma once

#include "pages/data/page_blob.h"
#include "pages/data/rank_page.h"

#include <cstdint>
#include <functional>

namespace rankscope {

/// Adds an element to the open list: the lanes and steps of a rank. `page_ns` converts a time in
/// the rank's file to the page's clock, with drift. It is applied to each event; columns and
/// durations keep the rank's clock. `alone`: events refer to their rows in the table of operators.
void add_rank(PageBlob& page, const RankPage& rank,
              const std::function<std::int64_t(std::int64_t)>& page_ns, bool alone);

} // namespace rankscope
