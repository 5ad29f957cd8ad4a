// What the sheets of a batch report do not say by themselves.
#pragma once

#include "analyses/batch/batch_facts.h"
#include "app/batch.h"

namespace rankscope {

/// Groups without events and what there is instead, calls that were left out, launchers of no
/// group, GPU work without a launch, disagreements between ranks.
void add_batch_notes(const BatchFacts& facts, BatchReport& to);

} // namespace rankscope
