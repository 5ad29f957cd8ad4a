// The batch report of the ranks of one folder as plain structs, and its sheets
// (docs/reference/batch-rules.md).
#pragma once

#include "analyses/batch/batch_part.h"
#include "analyses/group_stats.h"
#include "base/noncopyable.h"
#include "core/report.h"

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope {

/// The calls of an operator with the same parameters on all ranks.
struct BatchOpRow {
  std::string name;
  std::vector<std::string> params; ///< Python reprs, one per entry of BatchFamily::params; "" = not
                                   ///< set
  double flops = 0, bytes = 0;     ///< from the first call with a known value; NaN = unknown
  Stats tbps, tflops;              ///< statistics over the calls
  Stats compute_tflops;            ///< FLOPs divided by the time of the kernels that do not merely
                                   ///< move data
  double compute_us = 0;           ///< sum of the time of these kernels
  std::string kernel_details;      ///< Python list of the kernels of a call
  std::string input_dims, input_types, input_strides, concrete_inputs; ///< normal JSON; "" = not
                                                                       ///< recorded
  Stats kernel_us;
  std::size_t count = 0;
  std::uint32_t first_uid = 0;
  double cumulative = 0; ///< share of the kernel time down to this row, 0 to 1
};

/// The sheet of a group.
struct BatchFamily {
  BatchGroup group = BatchGroup::kGemm;
  std::vector<std::string> params; ///< names, in order of first appearance
  std::vector<BatchOpRow> rows;    ///< most kernel time first, then by first_uid
  std::size_t without_kernel = 0, unfit = 0;
};

struct BatchLauncherRow {
  std::string name;
  std::size_t count = 0; ///< sum over the ranks
  double time_ns = 0;
  double without_copy_ns = 0;
  double percent = 0, cumulative_percent = 0;
};

struct BatchTimelineRow {
  std::string_view type;
  std::vector<double> time_ms, percent; ///< one for each rank
  double mean_ms = 0, std_ms = 0;       ///< over the ranks; std_ms: population standard deviation
};

struct BatchLinksRow {
  std::int64_t rank = 0;
  BatchLinks links;
};

struct BatchRuntimeRow {
  std::string name;
  std::string_view category;
  std::vector<const BatchDurations*> ranks; ///< one for each rank; nullptr = no such call
};

struct BatchBreakdownRow {
  std::string_view group;
  double time_s = 0;
};

/// One communication kernel on one rank.
struct BatchLongRow {
  std::string id;         ///< "GROUP_INDEX"
  std::int64_t index = 0; ///< index in its group
  std::int64_t rank = 0;
  const RankCollectives* rank_data = nullptr;
  const Collective* collective = nullptr;
  double ts_us = 0, dur_us = 0;   ///< times as in the file
  double in_mib = 0, out_mib = 0; ///< NaN = unknown type or number of elements
};

/// One collective and its values on all ranks that took part.
struct BatchCollective {
  struct Member {
    std::int64_t rank = 0;
    double ts_us = 0, dur_us = 0;
    double wait_us = std::numeric_limits<double>::quiet_NaN(); ///< time until the last member
                                                               ///< starts
  };
  std::string id;
  const RankCollectives* first_rank = nullptr; ///< data of the first rank
  const Collective* first = nullptr;
  double in_mib = 0, out_mib = 0, full_mib = 0;
  double latency_us = 0, start_skew_us = 0, mean_wait_us = 0, end_skew_us = 0;
  std::optional<std::int64_t> earliest_rank;
  double algo_gbps = 0, bus_gbps = 0;
  std::vector<Member> members;          ///< ascending by rank
  double sent_mib = 0, sent_nelems = 0; ///< all-to-all-v: sum over the ranks
};

/// The collectives of one name, type and size (and, except in compat mode, of one group).
struct BatchCollectiveSum {
  const BatchCollective* first = nullptr;
  Stats latency_us, start_skew_us, end_skew_us, algo_gbps, bus_gbps;
  std::size_t count = 0;
};

struct BatchCollectives {
  std::vector<BatchLongRow> kernels;         ///< rank by rank, file order
  std::vector<BatchCollective> synchronous;  ///< in order of first appearance in `kernels`
  std::vector<BatchCollectiveSum> sums;      ///< most latency first
  std::vector<BatchCollective> all_to_all_v; ///< most data first
  std::vector<std::string> problems;         ///< differences between the data of ranks
};

/// All facts of the report. They are not movable, since rows refer to parts and ranks.
struct BatchFacts : NonCopyable {

  std::vector<BatchPart> parts;       ///< ascending by rank, without their collectives
  std::vector<RankCollectives> ranks; ///< one for each part
  std::vector<BatchFamily> families;
  std::vector<BatchLauncherRow> launchers; ///< most time first
  std::vector<BatchTimelineRow> timeline;
  std::vector<BatchLinksRow> links;
  std::vector<BatchDurations> unlinked;                       ///< most events first
  std::vector<std::pair<std::string, std::size_t>> short_ops; ///< most first
  std::vector<BatchRuntimeRow> runtime;                       ///< sorted by name, then category
  std::vector<BatchBreakdownRow> breakdown;
  std::vector<std::string> other; ///< launchers that belong to no group of the breakdown
  BatchCollectives collectives;   ///< only with two or more ranks
};

/// Combines the parts, which must be ascending by rank and not empty.
[[nodiscard]] std::unique_ptr<const BatchFacts> batch_facts(std::vector<BatchPart> parts,
                                                            const BatchOptions& options);
/// Returns the collectives of the ranks, which must outlive the result.
[[nodiscard]] BatchCollectives combine_collectives(const std::vector<RankCollectives>& ranks,
                                                   bool compat);

/// Returns the sheets in their order. `behind`: more sheets, each with the group whose sheet
/// precedes it.
[[nodiscard]] std::vector<Table>
batch_tables(const BatchFacts& facts, const BatchOptions& options,
             const std::vector<std::pair<BatchGroup, Table>>& behind = {});

/// Returns the columns of a kernel sheet; there is one such sheet per rank.
[[nodiscard]] Schema<BatchKernel> batch_kernel_schema(const BatchPart& part);
[[nodiscard]] Schema<BatchOpRow> batch_family_schema(const BatchFamily& family);
/// Returns all sheets with their columns; per-rank columns are listed for one rank.
[[nodiscard]] std::vector<SheetInfo> batch_sheets();
/// Returns the sheets about collectives.
[[nodiscard]] std::vector<SheetInfo> batch_collective_sheets();

/// Returns the NCCL sheets in their order.
[[nodiscard]] std::vector<Table> batch_collective_tables(const BatchCollectives& facts);

} // namespace rankscope
