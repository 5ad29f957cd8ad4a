// Notes on facts that the sheets of a batch report do not show.
#pragma once

#include "analyses/batch/batch_facts.h"
#include "app/batch.h"

namespace rankscope {

/// Adds notes on groups without events (with the operators that have shapes), omitted calls,
/// launchers in no group, GPU work without a launch, and disagreements between ranks.
void add_batch_notes(const BatchFacts& facts, BatchReport& to);

} // namespace rankscope
