// Kernel time by launching operator: the facts behind ops_summary_by_category and ops_summary.
#pragma once

#include "analyses/operators/launchers.h"
#include "analyses/operators/parent_modules.h"

#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// All launchers of one category; one row each for ordinary and recomputed work when recompute is
/// detected.
struct OpsCategoryRow {
  std::string_view category;             ///< static text
  std::string parent_module, call_stack; ///< of the first launcher; where the module is a key
  bool recompute = false;
  std::int64_t count = 0;
  double direct_ns = 0; ///< sum of the launchers' Launcher::direct_ns
  double percent = 0;   ///< of the direct time of all rows
  double cumulative_percent = 0;
};

/// All launchers of one name.
struct OpsSummaryRow {
  std::string name;
  std::string parent_module, call_stack; ///< of the first launcher; where the module is a key
  bool recompute = false;
  std::int64_t count = 0;
  double direct_ns = 0;   ///< sum of the launchers' Launcher::direct_ns
  double subtree_ns = 0;  ///< sum of the launchers' Launcher::subtree_ns
  std::string categories; ///< Python list of their categories, sorted
  double percent = 0;     ///< of the direct time of all rows
  double cumulative_percent = 0;
};

/// Most direct kernel time first, ties by category and by name; empty for a trace without
/// operators. All rows, whatever top_k says.
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
  std::vector<OpsSummaryRow> rows; ///< as those of OpsSummaryKey of the step alone
};
/// By start of the step, each number once, also those without operators (no rows). A step has the
/// kernels that its runtime calls launched; an operator that began before it is not seen there, as
/// in the trace of the step alone. One pass over the launchers.
struct StepOpsKey {
  using Value = std::vector<StepOps>;
  LaunchersKey launchers;
  auto operator<=>(const StepOpsKey&) const = default;
};
[[nodiscard]] std::vector<StepOps> compute(const LoadedTrace& trace, const StepOpsKey& key);

[[nodiscard]] Schema<OpsCategoryRow> ops_category_schema(const ReportOptions& options);
[[nodiscard]] Schema<OpsSummaryRow> ops_summary_schema(const ReportOptions& options);

/// The sheet ops_summary of these facts, cut to top_k (or top_k_ops) rows.
[[nodiscard]] Table ops_summary_table(const std::vector<OpsSummaryRow>& rows,
                                      const ReportOptions& options);

} // namespace rankscope
