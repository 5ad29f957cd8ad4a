// Kernel time by launching operator: the facts behind ops_summary_by_category and ops_summary.
#pragma once

#include "analyses/operators/launchers.h"
#include "analyses/operators/parent_modules.h"

#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// All launchers of one category. If recompute is detected, ordinary and recomputed work have
/// separate rows.
struct OpsCategoryRow {
  std::string_view category; ///< static text
  /// Values of the first launcher; set if the module is a key.
  std::string parent_module, call_stack;
  bool recompute = false;
  std::int64_t count = 0;
  double direct_ns = 0; ///< sum of the launchers' Launcher::direct_ns
  double percent = 0;   ///< percentage of the direct time of all rows
  double cumulative_percent = 0;
};

/// All launchers of one name.
struct OpsSummaryRow {
  std::string name;
  /// Values of the first launcher; set if the module is a key.
  std::string parent_module, call_stack;
  bool recompute = false;
  std::int64_t count = 0;
  double direct_ns = 0;   ///< sum of the launchers' Launcher::direct_ns
  double subtree_ns = 0;  ///< sum of the launchers' Launcher::subtree_ns
  std::string categories; ///< Python list of the launchers' categories, sorted
  double percent = 0;     ///< percentage of the direct time of all rows
  double cumulative_percent = 0;
};

/// Key of the rows, most direct kernel time first, ties by category and by name. Contains all rows,
/// without the limit of top_k. Empty for a trace without operators.
template <class Row> struct OpsKey {
  using Value = std::vector<Row>;
  LaunchersKey launchers;
  std::optional<ParentModulesKey> modules; ///< absent: modules are not a key
  OpsKey() = default;
  OpsKey(const ReportOptions& o) : launchers(o), modules(modules_key(o)) {}
  auto operator<=>(const OpsKey&) const = default;
};
using OpsCategoriesKey = OpsKey<OpsCategoryRow>;
using OpsSummaryKey = OpsKey<OpsSummaryRow>;
[[nodiscard]] std::vector<OpsCategoryRow> compute(const LoadedTrace& trace,
                                                  const OpsCategoriesKey& key);
[[nodiscard]] std::vector<OpsSummaryRow> compute(const LoadedTrace& trace,
                                                 const OpsSummaryKey& key);

struct StepOps {
  std::int64_t step = 0;           ///< N of ProfilerStep#N
  std::vector<OpsSummaryRow> rows; ///< the rows that OpsSummaryKey gives for the step alone
};
/// Key of the operators per step, ordered by step start. A step number occurs once; steps without
/// operators have no rows. A step contains the kernels that its runtime calls launched. An operator
/// that began before the step is ignored, as in a trace of the step alone. One pass over the
/// launchers.
struct StepOpsKey {
  using Value = std::vector<StepOps>;
  LaunchersKey launchers;
  auto operator<=>(const StepOpsKey&) const = default;
};
[[nodiscard]] std::vector<StepOps> compute(const LoadedTrace& trace, const StepOpsKey& key);

[[nodiscard]] Schema<OpsCategoryRow> ops_category_schema(const ReportOptions& options);
[[nodiscard]] Schema<OpsSummaryRow> ops_summary_schema(const ReportOptions& options);

/// Returns these facts as the sheet ops_summary, cut to top_k (or top_k_ops) rows.
[[nodiscard]] Table ops_summary_table(const std::vector<OpsSummaryRow>& rows,
                                      const ReportOptions& options);

} // namespace rankscope
