// Final output of `collectives` and `reduce --as collectives`.
#pragma once

#include "app/collectives.h"
#include "cli/command.h"

namespace rankscope {

/// Prints the summary, stragglers, exposed time, findings and output paths. Of a long table it
/// prints the first rows, with outliers before others.
void show_collectives(const Context& ctx, const CollectivesResult& result);

} // namespace rankscope
