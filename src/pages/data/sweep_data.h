// The data of a sweep page: configurations against the best one, and which differ significantly.
#pragma once

#include "analyses/sweep/sweep.h"
#include "pages/data/page_head.h"

#include <string>
#include <vector>

namespace rankscope {

struct SweepPageInput {
  const SweepFacts* facts = nullptr;
  std::string title, command;
  std::vector<PageLink> links = {}; ///< to files of the same data
};

/// Returns the blob of pages/data/page_blob.h, with differences and intervals of rank_by_steps().
[[nodiscard]] std::string sweep_page_data(const SweepPageInput& input);

} // namespace rankscope
