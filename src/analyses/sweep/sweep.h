// A sweep as facts: what its tables, its findings and its page are made of.
#pragma once

#include "analyses/gemm/gemm_facts.h"
#include "analyses/sweep/nccl_master.h"
#include "analyses/sweep/sweep_facts.h"
#include "core/finding.h"

#include <vector>

namespace rankscope {

struct SweepFacts {
  std::vector<RankRecord> records; ///< by configuration, then rank
  std::size_t top_k = 0;           ///< GEMMs of each rank
  GemmFacts gemms;
  std::vector<ConfigurationCollectives> collectives;
  std::vector<Finding> findings; ///< by sweep_findings(): the answer first

  /// No rank could be analysed.
  [[nodiscard]] bool empty() const;
};

} // namespace rankscope
