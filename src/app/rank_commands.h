// The commands over ranks: `partial` stores the facts of each rank that they need; `reduce` and
// rankscope-mpi run them from these facts. This list is the only one.
#pragma once

#include "analyses/analysis.h"
#include "engine/rank_facts.h"
#include "engine/shard_file.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// The kind of input that a command reads its ranks from.
enum class RanksOf { kRun, kSweep, kRunOrSweep, kBatchFolders };

struct RankCommand {
  const char* name;
  RanksOf ranks;
  void (*needs)(Needs& needs, const ShardFile& shard);
  /// Set for a command that writes a workbook for each rank: the ending of the file names, and the
  /// report options.
  const char* workbook = nullptr;
  ReportOptions (*workbook_options)(const PartOptions& options) = nullptr;
};

[[nodiscard]] std::span<const RankCommand> rank_commands();
/// Returns nullptr for an unknown name.
[[nodiscard]] const RankCommand* find_rank_command(std::string_view name);

/// Returns the facts of a rank that commands need for this shard. Unknown names are ignored.
[[nodiscard]] Needs needs_of(const std::vector<std::string>& commands, const ShardFile& shard);
/// Returns whether parts for `shard.options.wanted` have all facts that the command needs and, if
/// `workbooks` is set, the workbooks that it copies.
[[nodiscard]] bool serves(const ShardFile& shard, const RankCommand& command, bool workbooks);

} // namespace rankscope
