// The commands over ranks: `partial` stores what they need of each rank, and `reduce` and
// rankscope-mpi run them from that. This list is the only one.
#pragma once

#include "analyses/analysis.h"
#include "engine/rank_facts.h"
#include "engine/shard_file.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// What a command takes its ranks from.
enum class RanksOf { kRun, kSweep, kRunOrSweep, kBatchFolders };

struct RankCommand {
  const char* name;
  RanksOf ranks;
  void (*needs)(Needs& needs, const ShardFile& of);
  /// It writes a workbook for each rank: the end of their names, and their options.
  const char* workbook = nullptr;
  ReportOptions (*workbook_options)(const PartOptions& of) = nullptr;
};

[[nodiscard]] std::span<const RankCommand> rank_commands();
/// nullptr when there is none of this name.
[[nodiscard]] const RankCommand* find_rank_command(std::string_view name);

/// What commands need of a rank of this shard. Unknown names are passed over.
[[nodiscard]] Needs needs_of(const std::vector<std::string>& commands, const ShardFile& shard);
/// Whether parts for `shard.options.wanted` have all that the command takes of a rank.
[[nodiscard]] bool serves(const ShardFile& shard, const RankCommand& command);

} // namespace rankscope
