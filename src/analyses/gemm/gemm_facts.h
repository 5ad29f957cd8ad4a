// GEMM variance as facts (docs/reference/sweep-files.md 1, 3 and 4): a row per operator, arguments
// and rank, with its spread, its extremes and their overlap. The three documented tables are views
// of these facts.
#pragma once

#include "analyses/gemm/gemm_data.h"
#include "analyses/group_stats.h"
#include "core/output_layout.h"
#include "core/schema.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope {

/// An extreme call of a row.
struct GemmExtreme {
  std::int64_t start_ns = 0, end_ns = 0;   ///< of the first and the last kernel
  std::int64_t dur_ns = 0;                 ///< without the gaps between the kernels
  std::int64_t step = -1;                  ///< ProfilerStep number; -1: no step
  std::int64_t overlap_ns = 0;             ///< time overlapped by collectives
  std::optional<std::int64_t> measured_ns; ///< duration that measure_extremes() found in the trace
};

/// A call, reduced to the data for a plot of all calls.
struct GemmCall {
  std::int64_t at_ns = 0; ///< start of the call, relative to the first GPU event
  std::int64_t dur_ns = 0, overlap_ns = 0;
};

struct GemmRow {
  RunKey key;
  std::string kernel;              ///< the kernel with the most time in these calls
  std::vector<ServedCalls> served; ///< most calls first
  std::string op, dims, types, strides;
  std::int32_t stream = -1;
  std::int16_t device = -1; ///< -1: not recorded
  std::int64_t first_uid = 0;
  Stats calls_us; ///< Kernel Time of the calls
  double calls_p95_us = 0;
  double range_us = 0;        ///< longest - shortest call
  double total_excess_us = 0; ///< total - count x shortest call
  double gemm_share_percent = 0;
  Stats kernel_us; ///< durations of the launches of `kernel`
  double kernel_p95_us = 0;
  GemmExtreme shortest, longest;
  bool longest_is_first = false;   ///< the longest call is the first one of several calls
  std::int64_t trace_start_ns = 0; ///< start of the first GPU event
  std::int64_t neighbour_count = 0;
  std::string neighbour_names; ///< collectives during the longest call, joined by ";"
  std::string most_neighbour;  ///< the collective that overlaps the longest call most
  std::int64_t most_neighbour_ns = 0;
  std::string longest_busy;           ///< busy_text() of the longest call
  std::int64_t longest_memcpy_ns = 0; ///< time of the longest call that copies overlap
  double median_overlap_percent = 0;
  /// Least-squares fit of duration on overlapped share. Only calls at the same place in the step
  /// are compared with each other. NaN if there are too few calls.
  double overlap_correlation = std::numeric_limits<double>::quiet_NaN();
  double slowdown_us = std::numeric_limits<double>::quiet_NaN();
  double slowdown_half_us = std::numeric_limits<double>::quiet_NaN();
  double slowdown_degrees = 0; ///< degrees of freedom of slowdown_half_us
  std::vector<GemmCall> calls; ///< the calls of thinned_calls(), ordered by start
  /// One cell per GemmFacts::sheet_columns; empty if the row is not on the sheet.
  std::vector<SheetCell> sheet;

  [[nodiscard]] double longest_overlap_percent() const;
};

struct GemmFacts {
  std::vector<SheetColumn> sheet_columns; ///< ordered by label, in code-point order
  std::vector<GemmRow> rows;              ///< largest score first
};

/// Returns all calls for a plot. If there are more than `most` calls, splits them in their order
/// into `most` / 2 pieces and returns only the shortest and the longest call of each piece; the
/// plot looks the same. `since_ns`: the origin of GemmCall::at_ns.
[[nodiscard]] std::vector<GemmCall> thinned_calls(const std::vector<GemmInstance>& calls,
                                                  std::int64_t since_ns, std::size_t most = 128);

enum class GemmRanking { kRange, kCv, kTotalExcess };
inline constexpr std::array kGemmRankings{std::pair("range", GemmRanking::kRange),
                                          std::pair("cv", GemmRanking::kCv),
                                          std::pair("total-excess", GemmRanking::kTotalExcess)};
/// Returns "range", "cv" or "total-excess".
[[nodiscard]] std::string_view gemm_ranking_name(GemmRanking ranking);

/// Returns the top k groups of each rank, all in the order of the ranking.
[[nodiscard]] GemmFacts gemm_facts(const std::vector<RankGemms>& ranks, std::size_t top_k,
                                   GemmRanking ranking);

/// Returns the rows of all parts (a rank or a configuration each), ordered by the ranking. Rows
/// with equal scores keep the order of the parts.
[[nodiscard]] GemmFacts join_gemm_facts(const std::vector<const GemmFacts*>& parts,
                                        GemmRanking ranking);

/// Returns the columns of top<k>_gemm_kernels_time_variance, ..._with_timestamps or
/// ..._with_collective_overlap: seven documented columns, col_<header> for every column of the GEMM
/// sheet, and columns that only rankscope has. Each of these tables also has the columns of the
/// previous one.
[[nodiscard]] Schema<GemmRow> gemm_schema(const std::vector<SheetColumn>& sheet_columns,
                                          GemmTable table, std::size_t top_k);
/// Returns only the documented columns and the sheet's columns: those that a report of another tool
/// has too.
[[nodiscard]] Schema<GemmRow> reported_gemm_schema(const std::vector<SheetColumn>& sheet_columns,
                                                   std::size_t top_k);
[[nodiscard]] Table gemm_table(const GemmFacts& facts, GemmTable table, std::size_t top_k);

} // namespace rankscope
