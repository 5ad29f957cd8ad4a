// What `collectives` says at its end, and `reduce --as collectives`.
#pragma once

#include "app/collectives.h"
#include "cli/command.h"

namespace rankscope {

/// Summary, stragglers, exposed time, findings and what was written; of many rows the first,
/// outliers before others.
void show_collectives(const Context& ctx, const CollectivesResult& result);

} // namespace rankscope
