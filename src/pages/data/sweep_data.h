// The data of the page of a sweep: configurations against the best one, with what can be told.
#pragma once

#include "analyses/sweep/sweep.h"

#include <string>

namespace rankscope {

struct SweepPageInput {
  const SweepFacts* facts = nullptr;
  std::string title, command;
};

/// The blob of pages/data/page_blob.h. Differences and intervals are those of rank_by_steps().
[[nodiscard]] std::string sweep_page_data(const SweepPageInput& input);

} // namespace rankscope
