// The lanes of a rank as data of a page.
#pragma once

#include "pages/data/page_blob.h"
#include "pages/data/rank_page.h"

#include <cstdint>
#include <functional>

namespace rankscope {

/// Adds an element to the open list: the rank's lanes and steps. `page_ns`: a time of its file on
/// the page's clock, whose drift is followed event by event (columns and durations keep the rank's
/// own); `alone`: events name their rows of the table of operators.
void add_rank(PageBlob& page, const RankPage& rank,
              const std::function<std::int64_t(std::int64_t)>& page_ns, bool alone);

} // namespace rankscope
