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
  /// Set if the file contains several ranks: the rank to read.
  std::optional<std::int64_t> rank_in_file = {};
};

/// One run: the ranks of one configuration, ascending by rank.
struct RunPlan {
  Configuration configuration; ///< its label is unique within a sweep
  std::string folder;
  std::vector<RankFile> ranks;
  /// The missing ranks: those below the largest rank that was found, or below the world size that
  /// most headers contain. They are already reported.
  std::vector<std::int64_t> missing_ranks;
  /// Set if rank facts are read from parts instead of traces (engine/rank_parts.h).
  std::shared_ptr<const PartSource> parts = {};
};

struct DiscoverOptions {
  std::string trace_pattern; ///< file name pattern in which one '*' is the rank number
  std::string rank_regex;    ///< regular expression; the group named "rank", or else the first
                             ///< group, is the rank
  std::string config_regex;  ///< regular expression for folder names; each named group is a
                             ///< parameter
  std::string trace_name;    ///< if a rank has several traces, use the one with this file name
  std::string step;          ///< if a rank has several traces, use the one with this step or time
                             ///< in its name
  bool require_all_ranks = false;
  bool files_as_runs = false;    ///< in a sweep, several files of a folder without rank numbers are
                                 ///< separate runs
  bool check_header_rank = true; ///< compare the rank with distributedInfo.rank, if that is in the
                                 ///< first bytes of the file
  Readers known = readers();     ///< readers that may recognize a file
};

/// Returns the missing ranks in ascending order. `ranks` must be ascending. A rank is missing if it
/// is not in `ranks`, but is below the largest rank or below the most frequent world size
/// (`worlds`: number of headers with each world size). Ranks of 2^20 or more are omitted.
[[nodiscard]] std::vector<std::int64_t>
missing_ranks(const std::vector<RankFile>& ranks,
              const std::map<std::int64_t, std::uint64_t>& worlds);

/// Returns "ranks 2, 3, 8-15 have no trace"; names up to 16 ranges and counts the others.
[[nodiscard]] std::string missing_ranks_text(const std::vector<std::int64_t>& missing);

/// Finds the ranks of one run in folders and files; a file may contain several ranks. If a rank has
/// several traces in one folder, with steps or times in their names, the newest is used
/// (choose_windows()). If a rank has several traces for another reason, an error lists them. If
/// neither headers nor names contain ranks, the files are numbered in the order of their names,
/// with a note. Missing ranks are reported in `diag` (data loss); if all ranks are required, they
/// are an error.
Result<RunPlan> discover_run(const std::vector<std::string>& paths, const DiscoverOptions& options,
                             Diagnostics& diag);

/// Finds all configurations below `root`, in the order of ordered_before(). Their folders are named
/// <T>thread/nccl_<C>channels, <CU>cu_<T>threads or name=value, nested in any way. A folder that
/// contains only rank traces is a sweep of one run. Configurations without traces are reported in
/// `diag`. Errors: kUsage if neither headers nor names of several traces in one folder contain
/// ranks, so that they may be ranks of one run or separate runs, and files_as_runs is not set.
Result<std::vector<RunPlan>> discover_sweep(const std::string& root, const DiscoverOptions& options,
                                            Diagnostics& diag);

} // namespace rankscope
