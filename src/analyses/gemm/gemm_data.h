// GEMM variance (docs/reference/sweep-files.md 1, 3 and 4): every GEMM operator call of a rank with
// its time, kernels and overlap, collected while the trace is loaded.
#pragma once

#include "analyses/operators/launchers.h"
#include "base/interval_set.h"
#include "core/run.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// One call of a GEMM operator.
struct GemmInstance {
  std::int64_t start_ns = 0;          ///< start of the first kernel, as in the file
  std::int64_t dur_ns = 0;            ///< union of the kernels
  std::int64_t step = -1;             ///< ProfilerStep number; -1: no step
  std::int64_t overlap_ns = 0;        ///< kernel time overlapped by collectives on this GPU
  std::int64_t memcpy_overlap_ns = 0; ///< kernel time overlapped by copies on this GPU
  std::int64_t end_ns = 0;            ///< end of the last kernel
};

/// A collective that overlaps an instance.
struct GemmNeighbour {
  std::string name;
  std::int64_t overlap_ns = 0; ///< time of the instance's kernels
};

/// The calls that the same kernels serve.
struct ServedCalls {
  std::string kernel; ///< the kernel with the most time in these calls
  std::size_t calls = 0;
};

/// All calls of one operator with one set of arguments on one stream of one GPU.
struct GemmGroup {
  std::string op;     ///< operator, or "(kernel)" where no operator was recorded
  std::string kernel; ///< the kernel with the most time in these calls
  std::string dims, types, strides;
  std::int32_t stream = -1;
  std::int16_t device = -1; ///< -1: not recorded
  std::int64_t first_uid = 0;
  std::vector<GemmInstance> instances;           ///< ordered by start
  std::vector<ServedCalls> served;               ///< most calls first
  std::vector<std::int64_t> kernel_ns;           ///< durations of each launch of `kernel`
  std::size_t shortest = 0, longest = 0;         ///< the first one if several are equal
  std::vector<GemmNeighbour> longest_neighbours; ///< ordered by the collective's start
  std::string longest_busy;                      ///< busy_text() of the longest call

  std::optional<std::size_t> sheet_row; ///< row of the group in RankGemms::sheet
  std::optional<std::int64_t> shortest_measured_ns, longest_measured_ns;

  [[nodiscard]] std::int64_t range_ns() const {
    return instances[longest].dur_ns - instances[shortest].dur_ns;
  }
};

/// A column of the report's GEMM sheet.
struct SheetColumn {
  std::string id, label;
};

/// A cell of the GEMM sheet that owns its text.
struct SheetCell {
  CellKind kind = CellKind::kNull;
  std::int64_t i = 0;
  double d = 0;
  std::string text;

  [[nodiscard]] static SheetCell of(const Value& v) {
    return {v.kind, v.i, v.d, v.kind == CellKind::kText ? std::string(v.text) : std::string()};
  }
  /// Returns the value of the cell. Its text is valid as long as the cell.
  [[nodiscard]] Value value() const;
};

/// Returns the times in which a kernel runs as "START-END;START-END" in ns, without the gaps
/// between the kernels of the call.
[[nodiscard]] std::string busy_text(const IntervalSet& busy);
/// Parses busy_text(); empty for any other text.
[[nodiscard]] IntervalSet busy_of_text(std::string_view text);

struct RankGemms {
  RunKey key;
  std::int64_t trace_start_ns = 0; ///< start of the first GPU event
  std::int64_t gemm_ns = 0;        ///< sum over all calls
  std::vector<GemmGroup> groups;   ///< ordered by range, largest first
  std::vector<SheetColumn> sheet_columns;
  std::vector<std::vector<SheetCell>> sheet; ///< the report's GEMM sheet, row by row
};

/// The operator name of groups without a recorded operator.
inline constexpr std::string_view kGemmKernelOnly = "(kernel)";

/// Returns the GEMM calls: operators of the GEMM family, or kernels with a GEMM name if no
/// operators were recorded. measure_extremes() measures the extremes again.
[[nodiscard]] RankGemms extract_gemms(const LoadedTrace& trace, const LaunchersKey& key);

/// Finds the extreme calls of each group in the trace by start, GPU, stream and operator (or
/// kernel). Measures the union of the operator's own GPU work in these calls. Fills
/// shortest_measured_ns and longest_measured_ns; they are empty if the trace has no such call.
void measure_extremes(const LoadedTrace& trace, RankGemms& gemms);

/// Assigns to each group the row of the report's GEMM sheet with the same operator, shapes, types
/// and strides. Groups without such a row have blank col_... columns. Errors: those of FamiliesKey.
Result<void> attach_sheet(RankGemms& gemms, const LoadedTrace& trace, const ReportOptions& options);

} // namespace rankscope
