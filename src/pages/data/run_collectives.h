// The collectives of a run as data of a page: which were when, bandwidths, who is late, groups.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "pages/data/page_blob.h"
#include "pages/data/shown_ranks.h"

#include <cstdint>

namespace rankscope {

/// `origin_ns`: the first GPU event of the run on the common clock.
void add_run_collectives(PageBlob& page, const CollectiveFacts& facts, std::int64_t origin_ns,
                         const ShownRanks& shown);

} // namespace rankscope
