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

/// Checks, before any trace is read, that a runner requested by name is available. The automatic
/// choice uses the runners that it finds, and rows without a runner say so. Errors: kMissingTool.
Result<void> check_batch_replay(const ReplayRunOptions& options);

/// For each of the families gemm and conv, replays the rows that make up 99 % of the family's time.
/// Returns each sheet with the group to insert it after; compat mode has only the documented
/// columns. Called once per folder, with its facts, from one thread at a time. Writes the command
/// files to `folder`, the folder of the traces. Errors: kOutput.
Result<std::vector<std::pair<BatchGroup, Table>>> replay_batch(Session& session,
                                                               const std::string& folder,
                                                               const BatchFacts& facts, bool compat,
                                                               const ReplayRunOptions& options);

} // namespace rankscope
