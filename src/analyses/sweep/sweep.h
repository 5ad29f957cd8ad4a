// The facts of a sweep, from which its tables, findings and page are made.
#pragma once

#include "analyses/gemm/gemm_facts.h"
#include "analyses/sweep/nccl_master.h"
#include "analyses/sweep/sweep_facts.h"
#include "core/finding.h"

#include <vector>

namespace rankscope {

struct SweepFacts {
  std::vector<RankRecord> records; ///< ordered by configuration, then by rank
  std::size_t top_k = 0;           ///< number of GEMMs per rank
  GemmFacts gemms;
  std::vector<ConfigurationCollectives> collectives;
  std::vector<Finding> findings; ///< findings of sweep_findings(): the main answer first

  /// Returns true if no rank could be analysed.
  [[nodiscard]] bool empty() const;
};

} // namespace rankscope
