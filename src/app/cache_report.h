// The output of `rankscope cache --json`.
#pragma once

#include "core/report.h"
#include "engine/fact_cache.h"

namespace rankscope {

/// Returns a table `cache` with one row: folder, number of facts, bytes, and whether they were
/// removed.
[[nodiscard]] Report cache_report(const FactCache& cache, const FactCache::Size& size,
                                  bool cleared);

} // namespace rankscope
