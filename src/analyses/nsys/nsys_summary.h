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

/// Pairs of a kernel-name key and its class, in file order.
using KernelClasses = std::vector<std::pair<std::string, std::string>>;

struct NsysArgs {
  std::string title;
  std::int64_t iterations = 0;
  std::int64_t gpus = 1;
  std::string nvtx_tag;
};

/// Upper limit for iterations and for GPUs; the product of both fits 64 bits.
inline constexpr std::int64_t kMaxNsysDivisor = 1'000'000'000;

struct NsysClassRow {
  std::string name;
  double ms_per_iteration = 0;
  /// The sum over the table rows of the rounded-down counts per iteration.
  std::int64_t count_per_iteration = 0;
  double total_ms = 0;
  std::int64_t total_count = 0;
  double total_ns = 0; ///< unrounded value of total_ms
};

struct NsysSummary {
  std::string title;
  std::vector<NsysClassRow> kernels; ///< "others" first, then the classes of the map
  std::vector<NsysClassRow> nccl;    ///< by operation, in order of first appearance
  std::optional<std::vector<NsysClassRow>> memory;
  NsysClassRow kernel_sum; ///< all classes but nccl
  NsysClassRow nccl_sum;
  std::int64_t range_count = 0;
  double range_average_ms = 0;
  double range_total_ms = 0;
  /// Time of a range that is not kernel time, estimated from the sums. Not set if kernels of graph
  /// launches are missing.
  std::optional<double> estimated_ms_per_range;
  /// Time of a range that only NCCL kernels or no kernel covers, as a mean over the ranges. Set
  /// only if the intervals of all kernels are known.
  std::optional<double> uncovered_ms_per_range;
  /// Not empty if no range with the tag has GPU work; names the frequent ranges if no range has the
  /// tag.
  std::string tag_problem;
  std::vector<std::string> warnings;
};

/// Returns the map with lower-case keys. Errors: a class "others", an empty key or class, a key
/// that contains another key.
Result<KernelClasses> check_kernel_classes(const KernelClasses& classes);

/// Summarises the data by the formulas in docs/nsys.md, Output. `classes` must come from
/// check_kernel_classes(). Error: iterations or gpus below 1.
Result<NsysSummary> summarise_nsys(const NsysData& data, const NsysArgs& args,
                                   const KernelClasses& classes);

/// Returns the text in the format of the source document, byte for byte, with two blank lines at
/// the end.
[[nodiscard]] std::string nsys_text(const NsysSummary& summary);

/// A metric of an input.
struct NsysMetric {
  std::string input;
  std::string metric;
  std::variant<double, std::int64_t> value;
  std::string unit;
};
[[nodiscard]] std::vector<NsysMetric> nsys_metrics(std::span<const NsysSummary> summaries);

/// A kernel class of an input, with its percentage of the input's time.
struct NsysClassShare {
  std::string input;
  NsysClassRow row;
  double percent = 0;
};
[[nodiscard]] std::vector<NsysClassShare> nsys_shares(const NsysSummary& summary,
                                                      const std::vector<NsysClassRow>& rows);

[[nodiscard]] Schema<NsysMetric> nsys_metric_schema();
[[nodiscard]] Schema<NsysClassShare> nsys_class_schema(const char* name, const char* help);

/// Returns the tables summary, kernels, nccl and memory over all inputs.
[[nodiscard]] Report nsys_report(std::span<const NsysSummary> summaries);

} // namespace rankscope
