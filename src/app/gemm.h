// Use cases of `rankscope gemm`: the GEMM steps of analyze as separate commands, from traces.
#pragma once

#include "analyses/gemm/gemm_facts.h"
#include "base/result.h"
#include "core/finding.h"
#include "engine/session.h"
#include "readers/discovery.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope {

/// Selects traces or reports of a sweep; an empty list selects all.
struct RankFilter {
  std::vector<std::int64_t> threads, channels, ranks;
  [[nodiscard]] bool takes(const RunKey& key) const;
};

struct GemmRequest {
  std::string sweep;
  std::string output; ///< folder; empty: tracelens_analysis below the sweep
  GemmTable table = GemmTable::kVariance;
  std::size_t top_k = 5;
  GemmRanking rank_by = GemmRanking::kRange;
  RankFilter filter;
  DiscoverOptions discover;
};

/// A table that was written.
struct WrittenTable {
  Table table;
  std::string path;
  std::vector<Finding> findings;
};

/// Returns the plans of a sweep with the ranks that the filter selects. Plans without such a rank
/// are left out. Errors: those of discover_sweep(), kUsage if no plan remains.
Result<std::vector<RunPlan>> chosen_runs(Session& ctx, const std::string& sweep,
                                         const DiscoverOptions& discover, const RankFilter& filter);

/// Writes one of the three tables, from traces. Errors: kUnreadable if no trace has a GEMM,
/// kOutput.
Result<WrittenTable> gemm_from_traces(Session& ctx, const GemmRequest& request);

} // namespace rankscope
