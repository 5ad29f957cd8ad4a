// Discovery: finds the configuration and rank of each trace file below a folder. It reads folder
// listings and, on request, the head of a file, but never a complete trace.
#pragma once

#include "base/diagnostics.h"
#include "base/result.h"
#include "core/run.h"
#include "readers/reader.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

class PartSource;

struct RankFile {
  std::int64_t rank = 0;
  std::string path;
  std::uint64_t bytes = 0; ///< size on disk
  /// The rank to read when the file contains several ranks.
  std::optional<std::int64_t> rank_in_file = {};
};

/// One run: the ranks of one configuration, ascending by rank.
struct RunPlan {
  Configuration configuration; ///< its label is unique within a sweep
  std::string folder;
  std::vector<RankFile> ranks;
  /// Ranks that are missing below the largest rank found or the most frequent world size. They are
  /// already reported.
  std::vector<std::int64_t> missing_ranks;
  /// The source of rank facts that replace the traces (engine/rank_parts.h).
  std::shared_ptr<const PartSource> parts = {};
};

struct DiscoverOptions {
  std::string trace_pattern; ///< one '*' stands for the rank number
  std::string rank_regex;    ///< named group "rank", or the first group, = rank
  std::string config_regex;  ///< matched against folders; each named group is a parameter
  std::string trace_name;    ///< preferred file name when a rank has several traces
  std::string step;          ///< step or time in the file name, for ranks with several traces
  bool require_all_ranks = false;
  bool files_as_runs = false; ///< in a sweep, files without ranks in one folder are separate runs
  bool check_header_rank = true; ///< compare with distributedInfo.rank if that is early in the file
  Readers known = readers();     ///< readers that may recognize a file
};

/// Returns the missing ranks in ascending order. `ranks` must be ascending. A rank is missing if it
/// is not in `ranks` but below the largest rank or below the most frequent world size of file heads
/// (`worlds`: size to count). Omits ranks from 2^20 on.
[[nodiscard]] std::vector<std::int64_t>
missing_ranks(const std::vector<RankFile>& ranks,
              const std::map<std::int64_t, std::uint64_t>& worlds);

/// Returns "ranks 2, 3, 8-15 have no trace"; lists up to 16 ranges and counts the rest.
[[nodiscard]] std::string missing_ranks_text(const std::vector<std::int64_t>& missing);

/// Finds the ranks of one run in folders and files; a file may contain several ranks. If a rank has
/// several traces in one folder, with steps or times in their names, it uses the newest
/// (choose_windows()). Other rank conflicts are an error that lists the candidates. If neither
/// heads nor names contain ranks, it numbers the files by name, with a note. Missing ranks are
/// reported in `diag` (data loss), or are an error if all ranks are required.
Result<RunPlan> discover_run(const std::vector<std::string>& paths, const DiscoverOptions& options,
                             Diagnostics& diag);

/// Finds every configuration below `root`, in ordered_before order: <T>thread/nccl_<C>channels,
/// <CU>cu_<T>threads and name=value folders, in any nesting. A plain folder of rank traces is a
/// sweep of one run. Configurations without traces are reported in `diag`. Errors: kUsage when
/// traces of one folder without ranks in heads and names may be ranks or runs, unless files_as_runs
/// is set.
Result<std::vector<RunPlan>> discover_sweep(const std::string& root, const DiscoverOptions& options,
                                            Diagnostics& diag);

} // namespace rankscope
