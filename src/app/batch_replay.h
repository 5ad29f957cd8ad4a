// Node replay of the batch report (-r): sheets GROUP_node_replay of gemm and conv.
#pragma once

#include "analyses/batch/batch_facts.h"
#include "base/result.h"
#include "collect/replay/replay_run.h"
#include "engine/session.h"

#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// Before any trace is read: a runner that was asked for by name has to be there. The automatic
/// one takes what it finds, and rows without a runner say so. Errors: kMissingTool.
Result<void> check_batch_replay(const ReplayRunOptions& options);

/// Replays the rows of the families gemm and conv that make up 99 % of their time and gives the
/// sheets that go behind those of their groups, in compat mode with the documented columns alone.
/// Called once for each folder, with its facts, from one thread at a time. `folder`: of the traces,
/// where the command files are left. Errors: kOutput.
Result<std::vector<std::pair<BatchGroup, Table>>> replay_batch(Session& session,
                                                               const std::string& folder,
                                                               const BatchFacts& facts, bool compat,
                                                               const ReplayRunOptions& options);

} // namespace rankscope
