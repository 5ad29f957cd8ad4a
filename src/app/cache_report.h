// What `rankscope cache` says with --json.
#pragma once

#include "core/report.h"
#include "engine/fact_cache.h"

namespace rankscope {

/// A table `cache` with one row: folder, facts, bytes, and whether these were removed.
[[nodiscard]] Report cache_report(const FactCache& cache, const FactCache::Size& size,
                                  bool cleared);

} // namespace rankscope
