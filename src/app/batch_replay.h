// Node replay of the batch report (-r): sheets GROUP_node_replay of gemm and conv.
#pragma once

#include "analyses/batch/batch_facts.h"
#include "base/result.h"
#include "engine/session.h"

#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// Before any trace is read: what is missing to replay anything. Errors: kMissingTool.
Result<void> check_batch_replay();

/// Replays rows of the families and gives the sheets that go behind those of their groups. Called
/// once for each folder, with its facts, from one thread at a time. `folder`: of the traces, where
/// files for tuning are left.
Result<std::vector<std::pair<BatchGroup, Table>>>
replay_batch(Session& session, const std::string& folder, const BatchFacts& facts);

} // namespace rankscope
