// Writes the collectives of a run as page data: members with start times, bandwidths, late ranks,
// groups.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "pages/data/page_blob.h"
#include "pages/data/shown_ranks.h"

#include <cstdint>

namespace rankscope {

/// Adds the collectives of a run. `origin_ns`: the first GPU event of the run, on the common clock.
void add_run_collectives(PageBlob& page, const CollectiveFacts& facts, std::int64_t origin_ns,
                         const ShownRanks& shown);

} // namespace rankscope
