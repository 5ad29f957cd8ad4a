// The use cases behind `rankscope partial` and `rankscope reduce`: what commands over ranks take of
// each trace, put down where the trace lies; and those commands, from what was put down.
#pragma once

#include "analyses/analysis.h"
#include "analyses/collectives/collective_facts.h"
#include "app/analyze.h"
#include "app/collectives.h"
#include "app/compare.h"
#include "base/result.h"
#include "engine/session.h"
#include "engine/shard_file.h"
#include "readers/discovery.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// A file of a folder of parts. The use cases take and give such files on disk or in memory; the
/// bytes are the same.
struct PartFile {
  std::string name; ///< in the folder: "shard_0_of_4.part", "rank12_<16 digits>.part"
  std::string bytes;
};

struct PartialRequest {
  std::vector<std::string> inputs; ///< folders of rank traces, the files, or a sweep
  DiscoverOptions discover;
  /// Of the ranks that discovery finds, this shard's are those at i with i % count == index, over
  /// all configurations in order.
  std::size_t shard_index = 0, shard_count = 1;
  /// The inputs hold this shard's ranks alone (a folder of the node): all of them are taken.
  bool local = false;
  /// Ranks that the whole run has, where the inputs do not hold them all; 0 = as many as there are
  /// or as the traces say.
  std::size_t world_size = 0;
  PartsFor wanted;
  std::string gpu_arch;                      ///< for analyze and page, as they take it
  std::size_t top_k = 5;                     ///< for analyze
  GemmRanking rank_by = GemmRanking::kRange; ///< for analyze
  bool legacy_gemm_layout = false;           ///< for analyze
  std::uint64_t memory_bytes = 0;            ///< for traces in flight, 0 = half of the free
  bool force = false;                        ///< make again what is there already
};

struct PartialResult {
  std::size_t ranks = 0;  ///< of this shard
  std::size_t reused = 0; ///< of them, made by an earlier run of the same traces and options
  std::size_t lost = 0;   ///< could not be read; their parts say why
  std::uint64_t trace_bytes = 0, part_bytes = 0;
  std::string folder;
};

/// A rank of a shard before anything is read.
struct PlannedPart {
  std::string configuration;
  RankFile file;
  std::string part;      ///< name of its file
  bool is_there = false; ///< made by an earlier run of the same trace and options
};
/// What write_partial() would do. Errors: its, but for kOutput of the folder itself.
Result<std::vector<PlannedPart>> plan_partial(Session& session, const PartialRequest& request,
                                              const std::string& folder);

/// Writes the parts of a shard to `folder`: a file for each rank, then the file of the shard. Ranks
/// whose file is there and fits trace and options are left as they are. Errors: kUsage, those of
/// discovery, kOutput; a lost rank is no error.
Result<PartialResult> write_partial(Session& session, const PartialRequest& request,
                                    const std::string& folder);
/// The same files in memory, the shard's last.
Result<std::vector<PartFile>> partial_in_memory(Session& session, const PartialRequest& request);

enum class ReduceAs { kCollectives, kAnalyze, kCompare, kPage, kBaseline };

struct ReduceRequest {
  ReduceAs as = ReduceAs::kCollectives;
  /// Of each run (compare, and page of a comparison: the baseline's first; analyze: another sweep's
  /// second) its folders of parts, or a saved baseline alone.
  std::vector<std::vector<std::string>> runs;
  /// Beside folders, files of each run in memory.
  std::vector<std::vector<PartFile>> files;
  /// collectives: file; analyze, compare: folder; page: HTML file; baseline: NAME.rsb.
  std::string output;
  std::string csv_dir; ///< collectives: beside or in place of the file; "" = none
  CollectiveOptions collectives;
  std::optional<AlignMode> align; ///< analyze: as it takes it
  /// compare: how runs are judged and what is written of them. Folders, labels, output and parts
  /// are not used.
  CompareRequest comparison;
  GivenLabels labels; ///< of a comparison: where they are not said, of the folders of traces
  std::size_t world_size = 0;     ///< ranks that there should be; 0 = not said
  bool require_all_ranks = false; ///< a shard that left nothing or a rank without trace: an error
  bool plots = true;              ///< analyze: and the page
  bool svg = false;               ///< analyze: plots as SVG too
  std::array<std::string, 2> sweep_labels; ///< analyze: "" = the folder's name
  std::string html;                        ///< analyze: another place for the page; "" = none
};

/// A sweep that was analysed from parts, and how.
struct ReducedSweep {
  AnalyzeRequest request; ///< its parts are gone
  AnalyzedSweep sweep;
};

struct ReduceResult {
  std::size_t ranks = 0;            ///< that were combined
  std::vector<std::string> written; ///< files and folders
  // what the command would show
  std::optional<CollectivesResult> collectives = {};
  std::vector<ReducedSweep> sweeps = {};        ///< analyze; also whether plots or page failed
  std::string sides_page = {};                  ///< analyze: where there is one
  std::optional<CompareResult> comparison = {}; ///< verdict, and whether the page failed
};

/// What the command makes of the traces, from their parts. Shards, ranks and files that are absent,
/// cut off, of another version or run, or there twice are named in the session's diagnostics; the
/// rest is complete. Errors: kUnreadable when nothing is left, kUsage when the parts were not made
/// for this command, those of the command.
Result<ReduceResult> reduce_parts(Session& session, const ReduceRequest& request);

} // namespace rankscope
