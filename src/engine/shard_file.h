// ShardFile: the file that a shard of `rankscope partial` writes next to the parts of its ranks. It
// contains the shard's options, its inputs and the discovery results of its machine.
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

/// The version of the fields; increase it when they change.
inline constexpr std::uint32_t kShardFileVersion = 5;

/// The rules for files below a folder that are traces for the batch report.
struct BatchNames {
  std::string pattern = "rank_";              ///< regular expression before the rank's number
  std::string extension = "json";             ///< "json" or "gz"
  std::vector<std::string> filters{"rank_0"}; ///< the path contains all these texts
  bool operator==(const BatchNames&) const = default;
};

/// The options on which parts depend, in addition to the traces.
struct PartOptions {
  std::vector<std::string> wanted{"collectives"}; ///< the commands that the parts are for
  std::string gpu_arch;
  std::string gpu_arch_mark; ///< hash of the content of the gpu_arch file; "" = a built-in name
  bool legacy_gemm_layout = false; ///< ReportOptions, for analyze
  std::size_t top_k = 5;
  GemmRanking rank_by = GemmRanking::kRange;
  BatchNames batch_names;
  BatchOptions batch;

  /// Returns a hash of the options and the versions of parts.
  [[nodiscard]] std::string text() const;
};

/// The discovery result of one configuration, and the number of trace heads for each world size.
struct KnownPlan {
  RunPlan plan;
  std::map<std::int64_t, std::uint64_t> worlds;
};
/// The configurations of inputs read as one run or as a sweep, or the reason why this failed.
struct KnownPlans {
  std::vector<KnownPlan> plans;
  Diagnostics diagnostics;
  std::optional<Error> error;
};

/// The content of a shard's file.
struct ShardFile {
  std::uint64_t index = 0, count = 1;
  bool local = false;
  PartOptions options;
  std::vector<std::string> inputs;
  bool one_file = false;      ///< the input is a trace, not a folder
  std::size_t page_ranks = 0; ///< number of ranks of the run, which decides the detail of a page
  KnownPlans run, sweep;      ///< both may name the same traces
  std::map<std::string, std::int64_t> modified_ns; ///< times of change of the traces, by path

  /// Returns whether a page of the parts may be the page of a sweep.
  [[nodiscard]] bool of_a_sweep() const { return local || sweep.plans.size() > 1; }
};
[[nodiscard]] std::string shard_file_name(std::uint64_t index, std::uint64_t count);
[[nodiscard]] std::string encode_shard_file(const ShardFile& shard);
/// Decodes untrusted bytes. Errors: kUnreadable.
[[nodiscard]] Result<ShardFile> decode_shard_file(std::string_view bytes);

/// Returns the file name of a rank's parts. Each trace has one name, the same in all shards.
[[nodiscard]] std::string rank_part_name(const RankFile& file);
/// Returns the name of a part's workbook of this kind: "rank0_0123456789abcdef.analyze.xlsx".
[[nodiscard]] std::string report_name(const std::string& part, std::string_view kind);

} // namespace rankscope
