// ShardFile: the file that a shard of `rankscope partial` writes next to the parts of its ranks. It
// contains the options and inputs of the shard, and the runs that it discovered on its machine.
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

/// The version of the fields. Increase it if the fields change.
inline constexpr std::uint32_t kShardFileVersion = 6;

/// Which files in a folder are traces of a batch report.
struct BatchNames {
  std::string pattern = "rank_";              ///< regular expression for the text before the rank
                                              ///< number
  std::string extension = "json";             ///< "json" or "gz"
  std::vector<std::string> filters{"rank_0"}; ///< the path must contain all these texts
  bool operator==(const BatchNames&) const = default;
};

/// The options on which parts depend.
struct PartOptions {
  std::vector<std::string> wanted{"collectives"}; ///< commands for which the parts are made
  std::string gpu_arch;
  std::string gpu_arch_mark;       ///< hash of the content of the file gpu_arch; "" = gpu_arch is a
                                   ///< built-in name
  bool legacy_gemm_layout = false; ///< as in ReportOptions; only for analyze
  std::size_t top_k = 5;
  GemmRanking rank_by = GemmRanking::kRange;
  BatchNames batch_names;
  BatchOptions batch;
  bool workbooks = true; ///< also the workbooks of single ranks, for analyze and compare

  /// Returns a hash of the options and of the versions of parts.
  [[nodiscard]] std::string text() const;
};

/// One configuration that was discovered, and how many trace headers contain each world size.
struct KnownPlan {
  RunPlan plan;
  std::map<std::int64_t, std::uint64_t> worlds;
};
/// The configurations in the inputs, discovered as one run or as a sweep, or the error of the
/// discovery.
struct KnownPlans {
  std::vector<KnownPlan> plans;
  Diagnostics diagnostics;
  std::optional<Error> error;
};

/// The content of the file of a shard.
struct ShardFile {
  std::uint64_t index = 0, count = 1;
  bool local = false;
  PartOptions options;
  std::vector<std::string> inputs;
  bool one_file = false;      ///< the input is one trace, not a folder
  std::size_t page_ranks = 0; ///< number of ranks of the run; the level of detail of a page depends
                              ///< on it
  KnownPlans run, sweep;      ///< both may contain the same traces
  std::map<std::string, std::int64_t> modified_ns; ///< time of the last change of each trace, by
                                                   ///< its path

  /// Returns whether a page that is made from the parts may be the page of a sweep.
  [[nodiscard]] bool of_a_sweep() const { return local || sweep.plans.size() > 1; }
};
[[nodiscard]] std::string shard_file_name(std::uint64_t index, std::uint64_t count);
[[nodiscard]] std::string encode_shard_file(const ShardFile& shard);
/// Decodes untrusted bytes. Errors: kUnreadable.
[[nodiscard]] Result<ShardFile> decode_shard_file(std::string_view bytes);

/// Returns the name of the file with the parts of a rank. It is the same in all shards, and
/// different for each trace.
[[nodiscard]] std::string rank_part_name(const RankFile& file);
/// Returns the name of the report of this kind for a part: "rank0_0123456789abcdef.analyze.xlsx".
[[nodiscard]] std::string report_name(const std::string& part, std::string_view kind);

} // namespace rankscope
