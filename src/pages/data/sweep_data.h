// The data of the page of a sweep: configurations against the best one, with what can be told.
#pragma once

#include "analyses/sweep/sweep.h"
#include "pages/data/page_head.h"

#include <string>
#include <vector>

namespace rankscope {

struct SweepPageInput {
  const SweepFacts* facts = nullptr;
  std::string title, command;
  std::vector<PageLink> links = {}; ///< of files beside the page
};

/// The blob of pages/data/page_blob.h. Differences and intervals are those of rank_by_steps().
[[nodiscard]] std::string sweep_page_data(const SweepPageInput& input);

} // namespace rankscope
