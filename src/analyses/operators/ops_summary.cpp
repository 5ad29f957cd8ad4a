// ops_summary_by_category, ops_summary and ops_unique_args: kernel time by launching operator
// (docs/reference/report-rules.md 9).
#include "analyses/operators/ops_summary.h"

#include "analyses/group_stats.h"
#include "analyses/operators/launchers.h"
#include "analyses/operators/parent_modules.h"
#include "analyses/operators/unique_args.h"
#include "base/sort.h"
#include "core/arg_text.h"
#include "core/gpu_work.h"
#include "core/steps.h"
#include "model/ops/op_registry.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace rankscope {
namespace {

const char* const kRecomputeHelp =
    "whether the row contains work that activation checkpointing repeats";
const char* const kModuleHelp =
    "class of the innermost nn.Module around the operator; NA: no module";
const char* const kStackHelp =
    "Python list of the first call and the nn.Modules around it, innermost first";
const char* const kDirectHelp = "time of the kernels that a call launched itself (overlapping "
                                "kernels count once), summed over the calls";
const char* const kSubtreeHelp =
    "time of all GPU work that a call and the operators inside it launched, including "
    "communication (overlapping work counts once), summed over the calls";

/// Parent modules of launchers, if modules are a key.
class ModuleKeys {
public:
  ModuleKeys(const LoadedTrace& t, const std::optional<ParentModulesKey>& key)
      : t_(t), modules_(key ? &t.shared(*key) : nullptr), compat_(key && key->launchers.compat) {}
  /// Returns the module of the launcher at index `place`; "" if modules are not a key.
  [[nodiscard]] std::string_view module_at(std::size_t place) const {
    return modules_ == nullptr ? std::string_view() : modules_->names[modules_->name_index[place]];
  }
  template <class Row> void fill(Row& row, std::size_t place, EventId launcher) const {
    if (modules_ == nullptr)
      return;
    row.parent_module = module_at(place);
    row.call_stack = module_stack(t_, launcher, compat_);
  }

private:
  const LoadedTrace& t_;
  const ParentModules* modules_;
  bool compat_;
};

std::vector<OpsCategoryRow> make_categories(const LauncherIndex& index, const ModuleKeys& modules) {
  using Key = std::tuple<std::string_view, std::string_view, bool>;
  std::map<Key, OpsCategoryRow> groups;
  for (std::size_t i = 0; i < index.launchers.size(); ++i) {
    const Launcher& l = index.launchers[i];
    OpsCategoryRow& row = groups[{l.category, modules.module_at(i), l.recompute}];
    if (row.count == 0)
      modules.fill(row, i, l.event);
    row.category = l.category;
    row.recompute = l.recompute;
    row.direct_ns += l.direct_ns;
    ++row.count;
  }
  std::vector<OpsCategoryRow> rows;
  for (const auto& group : groups)
    rows.push_back(group.second);
  sort_stably(rows, std::ranges::greater(), &OpsCategoryRow::direct_ns);
  fill_shares(rows, &OpsCategoryRow::direct_ns);
  return rows;
}

/// `modules` are the modules of these launchers; nullptr: modules are not a key.
std::vector<OpsSummaryRow> make_summary(const Trace& trace, const std::vector<Launcher>& launchers,
                                        const ModuleKeys* modules) {
  struct Group {
    OpsSummaryRow row;
    std::set<std::string_view> categories;
  };
  std::map<std::tuple<std::string_view, std::string_view, bool>, Group> groups;
  for (std::size_t i = 0; i < launchers.size(); ++i) {
    const Launcher& l = launchers[i];
    const std::string_view module = modules == nullptr ? std::string_view() : modules->module_at(i);
    Group& group = groups[{trace.name(l.event), module, l.recompute}];
    OpsSummaryRow& row = group.row;
    if (row.count == 0 && modules != nullptr)
      modules->fill(row, i, l.event);
    row.direct_ns += l.direct_ns;
    row.subtree_ns += l.subtree_ns;
    ++row.count;
    group.categories.insert(l.category);
  }
  std::vector<OpsSummaryRow> rows;
  for (auto& [key, group] : groups) {
    group.row.name = std::get<0>(key);
    group.row.recompute = std::get<2>(key);
    group.row.categories = "[";
    for (const std::string_view c : group.categories)
      group.row.categories += (group.row.categories.size() > 1 ? ", " : "") + python_quote(c);
    group.row.categories += "]";
    rows.push_back(std::move(group.row));
  }
  sort_stably(rows, std::ranges::greater(), &OpsSummaryRow::direct_ns);
  fill_shares(rows, &OpsSummaryRow::direct_ns);
  return rows;
}

/// Splits a launcher that extends over several steps into one launcher per step. Kernels whose
/// runtime call begins in another step than the operator belong to that call.
class SplitLaunchers {
public:
  SplitLaunchers(const LoadedTrace& t, const LauncherIndex& index,
                 const std::vector<ProfilerStep>& steps, bool as_reference)
      : t_(t), index_(index), steps_(steps), as_reference_(as_reference) {}

  [[nodiscard]] std::int64_t step_of(EventId cpu) const {
    return step_at(steps_, t_.trace.events.ts_ns[cpu]);
  }

  /// Returns whether all GPU work below the launcher was launched in its own step.
  [[nodiscard]] bool launches_in_step(const Launcher& l, std::int64_t step) const {
    const auto below = t_.tree.gpu_events(l.event);
    return std::all_of(below.begin(), below.end(),
                       [&](EventId k) { return step_of(t_.tree.parent(k)) == step; });
  }

  void add(const Launcher& l, std::map<std::int64_t, std::vector<Launcher>>& to) const {
    std::map<EventId, std::vector<EventId>> by_launcher; // by operator or runtime call
    const std::int64_t launcher_step = step_of(l.event);
    for (const EventId k : index_.kernels_of(l)) {
      const EventId call = t_.tree.parent(k);
      by_launcher[step_of(call) == launcher_step ? l.event : call].push_back(k);
    }
    for (const auto& [event, kernels] : by_launcher) {
      const std::int64_t step = step_of(event);
      Launcher part = l;
      part.event = event;
      if (event != l.event)
        part.category = op_category(t_.trace.name(event), t_.trace.name(kernels.front()));
      part.direct_ns = busy_ns(t_.trace, kernels, as_reference_);
      std::vector<EventId> below;
      for (const EventId k : t_.tree.gpu_events(event))
        if (step_of(t_.tree.parent(k)) == step)
          below.push_back(k);
      part.subtree_ns = busy_ns(t_.trace, below, as_reference_);
      if (step >= 0)
        to[step].push_back(part);
    }
  }

private:
  const LoadedTrace& t_;
  const LauncherIndex& index_;
  const std::vector<ProfilerStep>& steps_;
  bool as_reference_;
};

std::vector<SheetInfo> describe_ops_summary(const ReportOptions& options) {
  return {ops_category_schema(options).info(), ops_summary_schema(options).info(),
          unique_args_schema(options, false).info(), unique_args_schema(options, true).info()};
}

Result<std::vector<Table>> run_ops_summary(const LoadedTrace& t, const ReportOptions& options) {
  std::vector<Table> out;
  const std::vector<OpsSummaryRow>& summary = t.shared(OpsSummaryKey{options});
  if (summary.empty())
    return out; // GPU-only traces have no operators (1.10)
  out.push_back(ops_category_schema(options).table(t.shared(OpsCategoriesKey{options})));
  out.push_back(ops_summary_table(summary, options));
  for (const bool by_overlap : {false, true}) {
    if (by_overlap && !options.include_overlap_info)
      continue;
    out.push_back(unique_args_schema(options, by_overlap)
                      .table(t.shared(UniqueArgsKey(options, by_overlap))));
    keep_top(out.back(), options.top_k_ops);
  }
  return out;
}

} // namespace

std::vector<OpsCategoryRow> compute(const LoadedTrace& t, const OpsCategoriesKey& key) {
  if (!has_events(t.trace, Category::kCpuOp))
    return {};
  return make_categories(t.shared(key.launchers), ModuleKeys(t, key.modules));
}

std::vector<OpsSummaryRow> compute(const LoadedTrace& t, const OpsSummaryKey& key) {
  if (!has_events(t.trace, Category::kCpuOp))
    return {};
  const ModuleKeys modules(t, key.modules);
  return make_summary(t.trace, t.shared(key.launchers).launchers, &modules);
}

std::vector<StepOps> compute(const LoadedTrace& t, const StepOpsKey& key) {
  const std::vector<ProfilerStep> steps = profiler_steps(t.trace);
  if (steps.empty())
    return {};
  const Events& e = t.trace.events;
  const LauncherIndex& index = t.shared(key.launchers);
  const SplitLaunchers split(t, index, steps, key.launchers.compat);
  std::map<std::int64_t, std::vector<Launcher>> by_step;
  for (const Launcher& l : index.launchers) {
    const std::int64_t step = split.step_of(l.event);
    if (!split.launches_in_step(l, step))
      split.add(l, by_step);
    else if (step >= 0)
      by_step[step].push_back(l);
  }
  std::set<std::int64_t> with_ops;
  for (EventId i = 0; i < e.size(); ++i)
    if (e.category[i] == Category::kCpuOp)
      if (const std::int64_t step = step_at(steps, e.ts_ns[i]); step >= 0)
        with_ops.insert(with_ops.end(), step);
  std::vector<StepOps> out;
  std::set<std::int64_t> done;
  for (const ProfilerStep& step : steps) {
    if (!done.insert(step.number).second)
      continue; // a repeated step number is one step
    out.push_back({step.number, {}});
    const auto at = by_step.find(step.number);
    if (at != by_step.end() && with_ops.count(step.number) > 0)
      out.back().rows = make_summary(t.trace, at->second, nullptr);
  }
  return out;
}

Schema<OpsCategoryRow> ops_category_schema(const ReportOptions& options) {
  using R = OpsCategoryRow;
  Schema<R> schema("ops_summary_by_category", "kernel time by category of the launching operator",
                   {{"op_category", "op category", Unit::kNone, &R::category,
                     "kind of work of the operators, derived from their names and kernels"}});
  if (options.group_by_parent_module)
    schema.add({"parent_module", &R::parent_module, kModuleHelp});
  if (options.detect_recompute)
    schema.add({"is_recompute", &R::recompute, kRecomputeHelp});
  schema.add({"count", "Count", Unit::kCount, &R::count,
              "number of operator calls that launched kernels other than communication"});
  if (options.group_by_parent_module)
    schema.add({"call_stack_first", &R::call_stack, kStackHelp});
  schema.add({"direct_kernel_time_ms", "total_direct_kernel_time_ms", Unit::kMs,
              in_ms(&R::direct_ns), kDirectHelp});
  add_shares(schema, "the direct kernel time");
  return schema;
}

Schema<OpsSummaryRow> ops_summary_schema(const ReportOptions& options) {
  using R = OpsSummaryRow;
  Schema<R> schema("ops_summary", "kernel time by name of the launching operator",
                   {{"name", &R::name,
                     "innermost operator around the launching call; without an operator: the "
                     "launching call itself"}});
  if (options.group_by_parent_module)
    schema.add({"parent_module", &R::parent_module, kModuleHelp});
  if (options.detect_recompute)
    schema.add({"is_recompute", &R::recompute, kRecomputeHelp});
  schema.add({"direct_kernel_time_us_sum", "total_direct_kernel_time_sum", Unit::kUs,
              in_us(&R::direct_ns), kDirectHelp});
  schema.add({"subtree_kernel_time_us_sum", "total_subtree_kernel_time_sum", Unit::kUs,
              in_us(&R::subtree_ns), kSubtreeHelp});
  if (options.compat_inference)
    schema.add({"subtree_kernel_time_count", "total_subtree_kernel_time_count", Unit::kCount,
                &R::count, "same as Count"});
  schema.add({"direct_kernel_time_ms", "total_direct_kernel_time_ms", Unit::kMs,
              in_ms(&R::direct_ns), kDirectHelp});
  if (!options.compat_inference)
    schema.add({"subtree_kernel_time_ms", "total_subtree_kernel_time_ms", Unit::kMs,
                in_ms(&R::subtree_ns), kSubtreeHelp});
  schema.add({"count", "Count", Unit::kCount, &R::count,
              "number of calls that launched kernels other than communication"});
  schema.add({"categories", "Categories", Unit::kNone, &R::categories,
              "Python list of the categories of the operator's calls"});
  if (options.group_by_parent_module)
    schema.add({"call_stack_first", &R::call_stack, kStackHelp});
  add_shares(schema, "the direct kernel time");
  return schema;
}

Table ops_summary_table(const std::vector<OpsSummaryRow>& rows, const ReportOptions& options) {
  Table table = ops_summary_schema(options).table(rows);
  keep_top(table, options.top_k > 0 ? options.top_k : options.top_k_ops);
  return table;
}

const Analysis ops_summary_analysis{
    "ops_summary",
    "kernel time by operator and category",
    {"ops_summary_by_category", "ops_summary", "ops_unique_args", "ops_unique_args_kl_overlap"},
    run_ops_summary,
    describe_ops_summary};

} // namespace rankscope
