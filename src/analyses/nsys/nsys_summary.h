// The Nsight Systems summary: kernel classes, NCCL, memory operations, NVTX ranges.
#pragma once

#include "base/result.h"
#include "core/nsys_data.h"
#include "core/report.h"
#include "core/schema.h"

#include <optional>
#include <span>
#include <utility>
#include <variant>

namespace rankscope {

/// Key to class, in file order.
using KernelClasses = std::vector<std::pair<std::string, std::string>>;

struct NsysArgs {
  std::string title;
  std::int64_t iterations = 0;
  std::int64_t gpus = 1;
  std::string nvtx_tag;
};

/// Most iterations and most GPUs: their product fits 64 bits.
inline constexpr std::int64_t kMaxNsysDivisor = 1'000'000'000;

struct NsysClassRow {
  std::string name;
  double ms_per_iteration = 0;
  std::int64_t count_per_iteration = 0; ///< sum of the floors of each table row
  double total_ms = 0;
  std::int64_t total_count = 0;
  double total_ns = 0; ///< source of the times in ms
};

struct NsysSummary {
  std::string title;
  std::vector<NsysClassRow> kernels; ///< others first, then the map's classes
  std::vector<NsysClassRow> nccl;    ///< by operation, in order of first appearance
  std::optional<std::vector<NsysClassRow>> memory;
  NsysClassRow kernel_sum; ///< all classes but nccl
  NsysClassRow nccl_sum;
  std::int64_t range_count = 0;
  double range_average_ms = 0;
  double range_total_ms = 0;
  /// Range time that no kernel but nccl covers, mean over ranges; known with kernel intervals.
  std::optional<double> uncovered_ms_per_range;
  std::string tag_problem; ///< not empty: the tag was not found; names the frequent ranges
  std::vector<std::string> warnings;
};

/// Lower-cases the map and refuses a class "others", empty keys, and keys inside one another.
Result<KernelClasses> check_kernel_classes(const KernelClasses& classes);

/// Formulas: docs/nsys.md, Output. `classes` is checked. Error: iterations or gpus below 1.
Result<NsysSummary> summarise_nsys(const NsysData& data, const NsysArgs& args,
                                   const KernelClasses& classes);

/// The text of the source document, byte for byte, two blank lines at the end.
[[nodiscard]] std::string nsys_text(const NsysSummary& summary);

/// One metric of an input.
struct NsysFigure {
  std::string input;
  std::string figure;
  std::variant<double, std::int64_t> value;
  std::string unit;
};
[[nodiscard]] std::vector<NsysFigure> nsys_figures(std::span<const NsysSummary> summaries);

/// A class of an input with its percentage of the input's time.
struct NsysClassShare {
  std::string input;
  NsysClassRow row;
  double percent = 0;
};
[[nodiscard]] std::vector<NsysClassShare> nsys_shares(const NsysSummary& summary,
                                                      const std::vector<NsysClassRow>& rows);

[[nodiscard]] Schema<NsysFigure> nsys_figure_schema();
[[nodiscard]] Schema<NsysClassShare> nsys_class_schema(const char* name, const char* help);

/// Tables summary, kernels, nccl, memory over all inputs.
[[nodiscard]] Report nsys_report(std::span<const NsysSummary> summaries);

} // namespace rankscope
