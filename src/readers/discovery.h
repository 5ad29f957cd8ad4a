// Discovery: which files below a folder are which rank of which configuration. Reads folder
// listings (and, where asked, the head of a file), never whole traces.
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
  /// Set when the file holds several ranks: the one that is meant.
  std::optional<std::int64_t> rank_in_file = {};
};

/// One run: the ranks of one configuration, ascending by rank.
struct RunPlan {
  Configuration configuration; ///< its label is unique within a sweep
  std::string folder;
  std::vector<RankFile> ranks;
  /// Below the largest rank found or the world size of most heads; they have been named.
  std::vector<std::int64_t> missing_ranks;
  /// Where the facts of its ranks are in place of their traces (engine/rank_parts.h).
  std::shared_ptr<const PartSource> parts = {};
};

struct DiscoverOptions {
  std::string trace_pattern; ///< one '*' stands for the rank number
  std::string rank_regex;    ///< named or first group = rank
  std::string config_regex;  ///< matched against folders; each named group is a parameter
  std::string trace_name;    ///< file name that wins when one rank has several traces
  std::string step;          ///< step or time in names, where ranks have several traces
  bool require_all_ranks = false;
  bool files_as_runs = false; ///< in a sweep, files of one folder without any rank are runs
  bool check_header_rank =
      true;                  ///< compare with distributedInfo.rank where it is early in the file
  Readers known = readers(); ///< who is asked what a file is
};

/// The numbers below the largest of `ranks` (ascending), or below the world size that most heads of
/// files give (`worlds`: how many say so), that are not among them; none from 2^20 on.
[[nodiscard]] std::vector<std::int64_t>
missing_ranks(const std::vector<RankFile>& ranks,
              const std::map<std::int64_t, std::uint64_t>& worlds);

/// "ranks 2, 3, 8-15 have no trace"; 16 ranges are named, the rest is counted.
[[nodiscard]] std::string missing_ranks_text(const std::vector<std::int64_t>& missing);

/// The ranks of one run, from folders and/or files; a file may hold several ranks. Of several
/// traces of a rank in one folder, with steps or times in their names, the newest is used
/// (choose_windows()); other candidates for one rank are an error that lists them. Where neither
/// heads nor names have ranks, the order of the names counts, with a note. Missing ranks are named
/// in `diag` (data loss) or an error when required.
Result<RunPlan> discover_run(const std::vector<std::string>& paths, const DiscoverOptions& options,
                             Diagnostics& diag);

/// Every configuration below `root`, by ordered_before: folders <T>thread/nccl_<C>channels,
/// <CU>cu_<T>threads and name=value, in any nesting; a plain folder of rank traces is a sweep of
/// one run. A configuration without traces is named in `diag`. Several traces of one folder without
/// a rank in head or name may be ranks or runs: kUsage, unless files_as_runs says it.
Result<std::vector<RunPlan>> discover_sweep(const std::string& root, const DiscoverOptions& options,
                                            Diagnostics& diag);

} // namespace rankscope
