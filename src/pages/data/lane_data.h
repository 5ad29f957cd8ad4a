// The lanes of a rank as data of a page.
#pragma once

#include "pages/data/page_blob.h"
#include "pages/data/rank_page.h"

namespace rankscope {

/// Adds an element to the open list: the rank's lanes and steps. `shift_ns`: its first GPU event on
/// the page's clock; `alone`: events name their rows of the table of operators.
void add_rank(PageBlob& page, const RankPage& rank, std::int64_t shift_ns, bool alone);

} // namespace rankscope
