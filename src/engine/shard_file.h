// ShardFile: the file that a shard of `rankscope partial` writes next to the parts of its ranks. It
// contains the shard's options and inputs, and what discovery found on its machine.
#pragma once

#include "analyses/batch/batch_part.h"
#include "analyses/gemm/gemm_facts.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "readers/discovery.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Increase it when the fields change.
inline constexpr std::uint32_t kShardFileVersion = 5;

/// Which files below a folder are traces for the batch report.
struct BatchNames {
  std::string pattern = "rank_";              ///< regular expression in front of the rank's number
  std::string extension = "json";             ///< "json" or "gz"
  std::vector<std::string> filters{"rank_0"}; ///< texts, all of which the path contains
  bool operator==(const BatchNames&) const = default;
};

/// The options that parts depend on, in addition to the traces.
struct PartOptions {
  std::vector<std::string> wanted{"collectives"}; ///< the commands that the parts are for
  std::string gpu_arch;
  std::string gpu_arch_mark;       ///< of its file's content; "" = a built-in name
  bool legacy_gemm_layout = false; ///< ReportOptions, for analyze
  std::size_t top_k = 5;
  GemmRanking rank_by = GemmRanking::kRange;
  BatchNames batch_names;
  BatchOptions batch;

  /// Returns a hash of the options, with the versions of parts.
  [[nodiscard]] std::string text() const;
};

/// What discovery found of one configuration, and how many trace heads name each world size.
struct KnownPlan {
  RunPlan plan;
  std::map<std::int64_t, std::uint64_t> worlds;
};
/// The configurations of inputs read as one run or as a sweep, or why they cannot be read so.
struct KnownPlans {
  std::vector<KnownPlan> plans;
  Diagnostics diagnostics;
  std::optional<Error> error;
};

/// The file of a shard.
struct ShardFile {
  std::uint64_t index = 0, count = 1;
  bool local = false;
  PartOptions options;
  std::vector<std::string> inputs;
  bool one_file = false;      ///< the input is a trace, not a folder
  std::size_t page_ranks = 0; ///< a page has the detail of a run with so many ranks
  KnownPlans run, sweep;      ///< both may name the same traces
  std::map<std::string, std::int64_t> modified_ns; ///< of traces, by path

  /// Returns whether a page of the parts may be the page of a sweep.
  [[nodiscard]] bool of_a_sweep() const { return local || sweep.plans.size() > 1; }
};
[[nodiscard]] std::string shard_file_name(std::uint64_t index, std::uint64_t count);
[[nodiscard]] std::string encode_shard_file(const ShardFile& shard);
/// From untrusted bytes. Errors: kUnreadable.
[[nodiscard]] Result<ShardFile> decode_shard_file(std::string_view bytes);

/// Returns the file name of a rank's parts: one for each trace, the same in all shards.
[[nodiscard]] std::string rank_part_name(const RankFile& file);
/// Returns the name of a part's workbook of this kind: "rank0_0123456789abcdef.analyze.xlsx".
[[nodiscard]] std::string report_name(const std::string& part, std::string_view kind);

} // namespace rankscope
