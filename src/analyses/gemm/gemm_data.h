// GEMM variance (sweep-and-compare.md 4, 6, 7): every GEMM operator call of a rank with its time,
// its kernels and what ran beside it, gathered while the trace is loaded.
#pragma once

#include "analyses/analysis.h"
#include "core/run.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// One call of a GEMM operator.
struct GemmInstance {
  std::int64_t start_ns = 0;          ///< start of its first kernel, as in the file
  std::int64_t dur_ns = 0;            ///< union of its kernels
  std::int64_t step = -1;             ///< ProfilerStep number, -1 = none
  std::int64_t overlap_ns = 0;        ///< of the span, union of collectives on this rank
  std::int64_t memcpy_overlap_ns = 0; ///< of the span, union of copies
};

/// A collective that ran during an instance.
struct GemmNeighbour {
  std::string name;
  std::int64_t overlap_ns = 0;
};

/// All calls of one operator with one set of arguments on one rank.
struct GemmGroup {
  std::string op;     ///< operator, or "(kernel)" where no operator was recorded
  std::string kernel; ///< the kernel with most time in these calls
  std::string dims, types, strides;
  std::int32_t stream = -1;
  std::int64_t first_uid = 0;
  std::vector<GemmInstance> instances;           ///< by start
  std::vector<std::int64_t> kernel_ns;           ///< durations of each launch of `kernel`
  std::size_t shortest = 0, longest = 0;         ///< first of equals
  std::vector<GemmNeighbour> longest_neighbours; ///< by start of the collective

  std::optional<std::size_t> sheet_row; ///< its row in RankGemms::sheet

  [[nodiscard]] std::int64_t range_ns() const {
    return instances[longest].dur_ns - instances[shortest].dur_ns;
  }
};

struct RankGemms {
  RunKey key;
  std::int64_t trace_start_ns = 0; ///< start of the first GPU event
  std::int64_t gemm_ns = 0;        ///< sum over all calls
  std::vector<GemmGroup> groups;   ///< by range, largest first
  Table sheet;                     ///< the report's GEMM sheet, for the col_... columns
};

enum class GemmRanking { kRange, kCv, kTotalExcess };

/// GEMM calls: operators of the GEMM family; where a trace has none, kernels with a GEMM's name.
[[nodiscard]] RankGemms extract_gemms(const LoadedTrace& trace, const ReportOptions& options);

/// Gives each group the row of the report's GEMM sheet with its operator, shapes, types and
/// strides; groups without one keep blank col_... columns.
void attach_sheet(RankGemms& gemms, const Table& gemm_sheet);

/// The three documented tables, top k groups of each rank, then all by the ranking, largest first:
/// top<k>_gemm_kernels_time_variance, ..._with_timestamps, ..._with_collective_overlap. After the
/// seven documented columns come col_<header> for every column of the GEMM sheet, in code-point
/// order, then ours. Each table has the columns of the one before it.
struct GemmTables {
  Table variance, timestamps, overlap;
};
[[nodiscard]] GemmTables gemm_tables(const std::vector<RankGemms>& ranks, std::size_t top_k,
                                     GemmRanking ranking);

/// The same from the overlap tables of parts of a sweep (a configuration each), in their order.
[[nodiscard]] GemmTables join_gemm_tables(const std::vector<const Table*>& parts, std::size_t top_k,
                                          GemmRanking ranking);

/// "range", "cv", "total-excess".
[[nodiscard]] GemmRanking gemm_ranking(std::string_view name);

/// In words: the calls with the largest spread and whether collectives explain it.
[[nodiscard]] std::vector<std::string> gemm_findings(const GemmTables& tables, std::size_t most);

} // namespace rankscope
