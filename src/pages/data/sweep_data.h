// The data of a sweep page: configurations compared with the best one, and significant differences.
#pragma once

#include "analyses/sweep/sweep.h"
#include "pages/data/page_head.h"

#include <string>
#include <vector>

namespace rankscope {

struct SweepPageInput {
  const SweepFacts* facts = nullptr;
  std::string title, command;
  std::vector<PageLink> links = {}; ///< links to files with the same data
};

/// Returns the data as a blob (pages/data/page_blob.h). Differences and intervals are those of
/// rank_by_steps().
[[nodiscard]] std::string sweep_page_data(const SweepPageInput& input);

} // namespace rankscope
