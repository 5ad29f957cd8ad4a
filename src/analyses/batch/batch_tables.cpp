// The columns of the batch report's sheets, except the sheets about collectives.
#include "analyses/batch/batch_facts.h"

#include "analyses/operators/op_key.h"
#include "base/not_negative.h"
#include "base/statistics.h"
#include "base/units.h"
#include "core/arg_text.h"
#include "core/reference_time.h"

#include <fmt/format.h>
#include <memory>
#include <unordered_map>

namespace rankscope {
namespace {

using enum CellKind;

Schema<BatchLauncherRow> launcher_schema(const BatchFacts& facts) {
  using R = BatchLauncherRow;
  const auto ranks = static_cast<double>(facts.parts.size());
  return Schema<R>(
      "kernel_launchers", "GPU time by the operator or call that launched it, over all ranks",
      {{"name", &R::name, "launcher: operator, or runtime call outside of operators"},
       {"count", Unit::kCount, &R::count,
        "number of calls with this name that launched kernels, on all ranks"},
       {"kernel_time_ms", Unit::kMs, in_ms(&R::time_ns),
        "time of the kernels that the calls launched, without communication; overlapping kernels "
        "of one call count once"},
       {"pct", Unit::kPercent, &R::percent, "share of the kernel time of all launchers"},
       {"cum_pct", Unit::kPercent, &R::cumulative_percent, "sum of pct down to this row"},
       {"time_ms_avg", Unit::kMs, [ranks](const R& r) { return ns_to_ms(r.time_ns) / ranks; },
        "kernel_time_ms divided by the number of ranks"},
       {"count_avg", [ranks](const R& r) { return static_cast<double>(r.count) / ranks; },
        "count divided by the number of ranks"}});
}

Schema<BatchTimelineRow> timeline_schema(const BatchFacts& facts) {
  using R = BatchTimelineRow;
  Schema<R> schema(
      "gpu_timelines", "GPU time of each rank by kind",
      {{"type", &R::type, "kind of GPU time, for example computation_time or idle_time"}});
  for (std::size_t i = 0; i < facts.parts.size(); ++i) {
    const std::string rank = std::to_string(facts.parts[i].rank);
    schema.add({"time_ms_" + rank, "time_ms_" + rank, Unit::kMs,
                [i](const R& r) { return r.time_ms[i]; }, "GPU time of this kind on rank " + rank});
    schema.add({"percent_" + rank, "percent_" + rank, Unit::kPercent,
                [i](const R& r) { return r.percent[i]; }, "share of total_time of rank " + rank});
  }
  schema.add({"time_ms_avg", Unit::kMs, &R::mean_ms, "time of this kind, mean over the ranks"});
  schema.add({"time_ms_std", Unit::kMs, &R::std_ms,
              "standard deviation of the time over the ranks (divisor n)"});
  return schema;
}

Schema<BatchLinksRow> links_schema() {
  using R = BatchLinksRow;
  const auto count = [](const char* name, const char* help, auto get) {
    return Field<R>{name, Unit::kCount, [get](const R& r) { return std::invoke(get, r.links); },
                    help};
  };
  return Schema<R>("linked_and_short_kernels",
                   "number of GPU events of each rank with and without an External id; short "
                   "events are also counted separately",
                   {{"rank", &R::rank},
                    count("num_kernel_events", "number of kernels, copies and memsets",
                          [](const BatchLinks& l) { return l.linked + l.unlinked; }),
                    count("num_kernel_events_linked", "number of GPU events with an External id",
                          &BatchLinks::linked),
                    count("num_kernel_events_unlinked",
                          "number of GPU events without an External id", &BatchLinks::unlinked),
                    count("num_short_kernel_events_linked",
                          "number of GPU events shorter than 10 \u00b5s with an External id",
                          &BatchLinks::short_linked),
                    count("num_short_kernel_events_unlinked",
                          "number of GPU events shorter than 10 \u00b5s without an External id",
                          &BatchLinks::short_unlinked)});
}

Schema<BatchDurations> unlinked_schema() {
  using R = BatchDurations;
  const auto us = [](const char* name, auto ns) {
    return Field<R>{name, Unit::kUs, [ns](const R& r) { return ns_to_us(std::invoke(ns, r)); },
                    "duration of an event, \u00b5s; the header names the statistic over the events "
                    "on all ranks"};
  };
  return Schema<R>("unlinked_short_kernels_summary",
                   "all GPU events without an External id, not only short ones",
                   {{"name", &R::name, "name of the kernel or copy"},
                    {"cat", &R::category, "category of the event"},
                    {"count", Unit::kCount, &R::count, "number of events on all ranks"},
                    us("min_dur", &R::min_ns),
                    us("max_dur", &R::max_ns),
                    us("mean_dur", [](const R& r) {
                      return static_cast<double>(r.sum_ns) / static_cast<double>(r.count);
                    })});
}

using ShortOp = std::pair<std::string, std::size_t>;

Schema<ShortOp> short_ops_schema() {
  return Schema<ShortOp>(
      "short_cpu_op_counts", "operators that launched kernels shorter than 10 \u00b5s",
      {{"cpu_op", "", Unit::kNone, &ShortOp::first,
        "name of the innermost operator around the launching call"},
       {"count", Unit::kCount, &ShortOp::second,
        "number of kernels shorter than 10 \u00b5s that the operator launched, on all ranks"}});
}

Table short_ops_table(const BatchFacts& facts) {
  std::vector<ShortOp> rows = facts.short_ops;
  std::size_t total = 0;
  for (const ShortOp& row : rows)
    total += row.second;
  rows.emplace_back("Total", total);
  return short_ops_schema().table(rows);
}

/// Returns one statistic of a call on one rank.
Value duration(const BatchDurations* d, std::size_t statistic) {
  if (d == nullptr)
    return {};
  switch (statistic) {
  case 0:
    return Value(d->count);
  case 1:
    return Value(ns_to_us(d->min_ns));
  case 2:
    return Value(ns_to_us(d->max_ns));
  default:
    return Value(ns_to_us(static_cast<double>(d->sum_ns) / static_cast<double>(d->count)));
  }
}

constexpr const char* kDurationStatistics[] = {"count", "min_dur", "max_dur", "mean_dur"};

Schema<BatchRuntimeRow> runtime_schema(const BatchFacts& facts) {
  using R = BatchRuntimeRow;
  Schema<R> schema("cuda_events_summary", "runtime and driver calls of each rank",
                   {{"name", &R::name, "name of the call"},
                    {"cat", &R::category, "cuda_runtime or cuda_driver"}});
  for (std::size_t f = 0; f < std::size(kDurationStatistics); ++f)
    for (std::size_t i = 0; i < facts.parts.size(); ++i) {
      const std::string name = fmt::format("{}_{}", kDurationStatistics[f], facts.parts[i].rank);
      schema.add(
          {name, name, f == 0 ? Unit::kCount : Unit::kUs, f == 0 ? kInt : kDouble,
           [i, f](const R& r) { return duration(r.ranks[i], f); },
           f == 0 ? "number of calls on this rank"
                  : "duration of a call, \u00b5s; the header names the statistic over the calls "
                    "on this rank"});
    }
  return schema;
}

Table runtime_table(const BatchFacts& facts) {
  Table out = runtime_schema(facts).table(facts.runtime);
  Pivot pivot{"rank", 2, {}};
  for (const char* statistic : kDurationStatistics)
    for (const BatchPart& part : facts.parts)
      pivot.places.push_back({statistic, part.rank});
  out.pivot = std::move(pivot);
  return out;
}

Schema<BatchBreakdownRow> breakdown_schema() {
  using R = BatchBreakdownRow;
  return Schema<R>("grouped_breakdown", "mean GPU time per rank by kind of work",
                   {{"group", "Group", Unit::kNone, &R::group,
                     "kind of work, derived from the names of the launching operators and calls"},
                    {"time_s", "Time (s)", Unit::kSeconds, &R::time_s,
                     "GPU time of this kind, mean over the ranks; groups overlap in time, so their "
                     "sum is not a wall time"}});
}

/// The Python texts of arguments. Each argument is converted once, since sheets of kernels may have
/// a million rows.
class Reprs {
public:
  explicit Reprs(const StringPool& texts) : texts_(texts) {}
  [[nodiscard]] std::optional<std::string_view> repr(StrId json) {
    if (json == kEmptyStr)
      return std::nullopt;
    const auto [it, fresh] = made_.try_emplace(json);
    if (fresh)
      it->second = python_repr(texts_.view(json), true);
    return it->second;
  }

private:
  const StringPool& texts_;
  std::unordered_map<StrId, std::string> made_;
};

} // namespace

Schema<BatchKernel> batch_kernel_schema(const BatchPart& part) {
  using R = BatchKernel;
  const StringPool* const texts = &part.texts;
  const auto reprs = std::make_shared<Reprs>(part.texts);
  const auto list = [reprs](const char* id, const char* label, StrId R::*field, const char* help) {
    return Field<R>{id,          label,
                    Unit::kNone, [reprs, field](const R& r) { return reprs->repr(r.*field); },
                    help,        ColumnStyle{.nested = true}};
  };
  return Schema<R>(
      fmt::format("kernels_{}", part.rank), "all kernels of one rank, one row per kernel",
      {{"uid", "UID", Unit::kNone, &R::uid, "index of the kernel in the traceEvents of the file"},
       {"kernel", "Kernel name", Unit::kNone, [texts](const R& r) { return texts->view(r.name); },
        "name of the kernel"},
       {"start_us", "Kernel t start", Unit::kNone, [](const R& r) { return reference_us(r.ts_ns); },
        "start of the kernel on the clock of the file, \u00b5s"},
       {"dur_us", "Kernel duration (\u00b5s)", Unit::kUs,
        [](const R& r) { return reference_us(r.dur_ns); },
        "duration of the kernel, as recorded in the file"},
       {"stream", "Kernel stream", Unit::kNone, [](const R& r) { return not_negative(r.stream); },
        "GPU stream on which the kernel ran"},
       {"parent_uid", "Parent cpu_op UID", Unit::kNone, kInt,
        [](const R& r) { return r.has_parent ? Value(r.parent_uid) : Value(); },
        "index of the innermost operator around the launching call"},
       {"parent", "Parent cpu_op", Unit::kNone, kText,
        [texts](const R& r) { return r.has_parent ? Value(texts->view(r.parent)) : Value(); },
        "name of the innermost operator around the launching call"},
       list("input_dims", "Input dims", &R::dims, "input shapes of the Parent cpu_op"),
       list("input_types", "Input types", &R::types, "input types of the Parent cpu_op"),
       list("input_strides", "Input strides", &R::strides, "input strides of the Parent cpu_op"),
       list("concrete_inputs", "Concrete Inputs", &R::concrete,
            "inputs of the Parent cpu_op that are not tensors"),
       {"kernel_file", [texts](const R& r) { return text_or_blank(texts->view(r.kernel_file)); },
        "source file of a compiled kernel"},
       {"parent_busy_us", "Parent cpu_op busy time (\u00b5s)", Unit::kUs, kDouble,
        [](const R& r) { return r.has_parent ? Value(ns_to_us(r.parent_ns)) : Value(); },
        "time during which GPU events that the Parent cpu_op or operators inside it launched were "
        "running"},
       {"parent_kernels", "Parent cpu_op kernel count", Unit::kCount, kInt,
        [](const R& r) { return r.has_parent ? Value(r.parent_kernels) : Value(); },
        "number of GPU events that the Parent cpu_op or operators inside it launched"},
       {"percent_of_parent", "Percent of Parent cpu_op busy time (%)", Unit::kPercent, kDouble,
        [](const R& r) {
          if (!r.has_parent)
            return Value();
          return Value(r.parent_kernels == 1 ? 100.0
                       : r.parent_ns > 0     ? 100.0 * static_cast<double>(r.dur_ns) / r.parent_ns
                                             : kNaN);
        },
        "duration of the kernel in percent of the Parent cpu_op busy time"}});
}

std::vector<Table> batch_tables(const BatchFacts& facts, const BatchOptions& options,
                                const std::vector<std::pair<BatchGroup, Table>>& behind) {
  std::vector<Table> out;
  if (options.all_kernels)
    for (const BatchPart& part : facts.parts)
      out.push_back(batch_kernel_schema(part).table(part.kernels));
  for (const BatchFamily& family : facts.families) {
    if (!family.rows.empty())
      out.push_back(batch_family_schema(family).table(family.rows));
    for (const auto& [group, table] : behind)
      if (group == family.group)
        out.push_back(table);
  }
  out.push_back(launcher_schema(facts).table(facts.launchers));
  out.push_back(timeline_schema(facts).table(facts.timeline));
  out.push_back(links_schema().table(facts.links));
  if (!facts.unlinked.empty())
    out.push_back(unlinked_schema().table(facts.unlinked));
  if (!facts.short_ops.empty())
    out.push_back(short_ops_table(facts));
  if (!facts.runtime.empty())
    out.push_back(runtime_table(facts));
  out.push_back(breakdown_schema().table(facts.breakdown));
  for (Table& table : batch_collective_tables(facts.collectives))
    out.push_back(std::move(table));
  return out;
}

std::vector<SheetInfo> batch_sheets() {
  BatchFacts facts; // with one rank
  facts.parts.emplace_back();
  facts.ranks.emplace_back();
  BatchFamily family;
  family.params = {"NAME"};
  SheetInfo groups = batch_family_schema(family).info();
  groups.name.clear();
  for (const BatchGroup group : kBatchGroups)
    groups.name += (groups.name.empty() ? "" : ", ") + std::string(batch_group_name(group));
  std::vector<SheetInfo> out{batch_kernel_schema(facts.parts.front()).info(),
                             std::move(groups),
                             launcher_schema(facts).info(),
                             timeline_schema(facts).info(),
                             links_schema().info(),
                             unlinked_schema().info(),
                             short_ops_schema().info(),
                             runtime_schema(facts).info(),
                             breakdown_schema().info()};
  for (SheetInfo& sheet : batch_collective_sheets())
    out.push_back(std::move(sheet));
  return out;
}

} // namespace rankscope
