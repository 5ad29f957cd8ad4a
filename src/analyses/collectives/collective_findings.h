// What the collectives of a run say, in sentences.
#pragma once

#include "analyses/collectives/collective_facts.h"

namespace rankscope {

/// From the facts (their `findings` are not looked at).
[[nodiscard]] std::vector<Finding> collective_findings(const CollectiveFacts& facts);

} // namespace rankscope
