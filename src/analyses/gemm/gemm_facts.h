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

/// One of the extreme calls of a row.
struct GemmExtreme {
  std::int64_t start_ns = 0, dur_ns = 0;
  std::int64_t step = -1;                  ///< ProfilerStep number, -1 = none
  std::int64_t overlap_ns = 0;             ///< under collectives
  std::optional<std::int64_t> measured_ns; ///< as measure_extremes() found it in the trace
};

/// A call, reduced to the data for a plot of all calls.
struct GemmCall {
  std::int64_t at_ns = 0; ///< its start, since the first GPU event
  std::int64_t dur_ns = 0, overlap_ns = 0;
};

struct GemmRow {
  RunKey key;
  std::string kernel; ///< the kernel with most time in these calls
  std::string op, dims, types, strides;
  std::int32_t stream = -1;
  std::int64_t first_uid = 0;
  Stats calls_us; ///< Kernel Time of the calls
  double calls_p95_us = 0;
  double range_us = 0;        ///< longest - shortest call
  double total_excess_us = 0; ///< total - count x shortest
  double gemm_share_percent = 0;
  Stats kernel_us; ///< launches of `kernel`
  double kernel_p95_us = 0;
  GemmExtreme shortest, longest;
  bool longest_is_first = false;   ///< of several calls
  std::int64_t trace_start_ns = 0; ///< start of the first GPU event
  std::int64_t neighbour_count = 0;
  std::string neighbour_names; ///< collectives during the longest call, joined by ;
  std::string most_neighbour;  ///< the one that overlaps it most
  std::int64_t most_neighbour_ns = 0;
  std::int64_t longest_memcpy_ns = 0; ///< of the longest call, under copies
  double median_overlap_percent = 0;
  /// Least squares of duration on the overlapped share, calls at the same place in the step
  /// compared with each other; NaN with too few.
  double overlap_correlation = std::numeric_limits<double>::quiet_NaN();
  double slowdown_us = std::numeric_limits<double>::quiet_NaN();
  double slowdown_half_us = std::numeric_limits<double>::quiet_NaN();
  double slowdown_degrees = 0;  ///< of freedom of that
  std::vector<GemmCall> calls;  ///< by start, those of thinned_calls()
  std::vector<SheetCell> sheet; ///< one per GemmFacts::sheet_columns; empty = not on the sheet

  [[nodiscard]] double longest_overlap_percent() const;
};

struct GemmFacts {
  std::vector<SheetColumn> sheet_columns; ///< by label, in code-point order
  std::vector<GemmRow> rows;              ///< largest score first
};

/// Returns all calls for a plot. If there are many, returns the shortest and the longest of each of
/// `most` / 2 pieces of their order, which look the same. `since_ns`: see GemmCall.
[[nodiscard]] std::vector<GemmCall> thinned_calls(const std::vector<GemmInstance>& calls,
                                                  std::int64_t since_ns, std::size_t most = 128);

enum class GemmRanking { kRange, kCv, kTotalExcess };
inline constexpr std::array kGemmRankings{std::pair("range", GemmRanking::kRange),
                                          std::pair("cv", GemmRanking::kCv),
                                          std::pair("total-excess", GemmRanking::kTotalExcess)};
/// "range", "cv", "total-excess".
[[nodiscard]] std::string_view gemm_ranking_name(GemmRanking ranking);

/// The top k groups of each rank, then all by the ranking.
[[nodiscard]] GemmFacts gemm_facts(const std::vector<RankGemms>& ranks, std::size_t top_k,
                                   GemmRanking ranking);

/// The rows of parts (a rank or a configuration each) by the ranking; ties in the order of parts.
[[nodiscard]] GemmFacts join_gemm_facts(const std::vector<const GemmFacts*>& parts,
                                        GemmRanking ranking);

/// The columns of top<k>_gemm_kernels_time_variance, ..._with_timestamps or
/// ..._with_collective_overlap: seven documented ones, col_<header> for every column of the GEMM
/// sheet, ours. Each table has the columns of the one before it.
[[nodiscard]] Schema<GemmRow> gemm_schema(const std::vector<SheetColumn>& sheet_columns,
                                          GemmTable table, std::size_t top_k);
/// Returns only the documented and the sheet's columns: those that another tool's report has.
[[nodiscard]] Schema<GemmRow> reported_gemm_schema(const std::vector<SheetColumn>& sheet_columns,
                                                   std::size_t top_k);
[[nodiscard]] Table gemm_table(const GemmFacts& facts, GemmTable table, std::size_t top_k);

} // namespace rankscope
