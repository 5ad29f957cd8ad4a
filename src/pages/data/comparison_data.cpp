#include "pages/data/comparison_data.h"

#include "analyses/compare/compare_tables.h"
#include "base/number_text.h"
#include "base/statistics.h"
#include "model/kernel_names.h"
#include "pages/data/page_head.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace rankscope {
namespace {

void add_number(JsonWriter& json, std::string_view key, const std::optional<double>& value) {
  json.number(key, value.value_or(kNaN));
}

PageHead head_of(const ComparisonPageInput& input) {
  const Comparison& c = *input.comparison;
  PageHead out;
  out.kind = "comparison";
  out.title = c.base.label;
  for (std::size_t i = 0; i < c.tests.size(); ++i)
    out.title += (i == 0 ? " against " : ", ") + c.tests[i].label;
  out.subtitle = fmt::format("baseline {} with {}", c.base.label,
                             counted(c.base.ranks.size(), "rank", "ranks"));
  for (const ComparedRun& test : c.tests)
    out.subtitle += fmt::format(", {} with {}", test.label, test.ranks.size());
  out.command = input.command;
  out.files = input.folders;
  for (const Finding& note : input.findings->notes)
    out.badges.push_back({"warning", note.headline, note.evidence});
  for (const std::vector<Finding>& metrics : input.findings->metrics)
    out.findings.insert(out.findings.end(), metrics.begin(), metrics.end());
  return out;
}

void add_verdicts(PageBlob& page, const Comparison& c) {
  JsonWriter& json = page.json;
  json.begin_list("verdicts");
  for (const DashboardRow& row : c.dashboard.rows) {
    json.begin_object();
    json.text("metric", row.metric);
    json.text("unit", row.unit);
    add_number(json, "base", row.base);
    json.begin_list("tests");
    for (const std::optional<DashboardCell>& cell : row.tests) {
      json.begin_object();
      if (cell) {
        add_number(json, "base", cell->base);
        add_number(json, "value", cell->value);
        add_number(json, "better", cell->estimate());
        add_number(json, "complete_run", cell->improvement);
        add_number(json, "change", cell->judgement.change);
        add_number(json, "low", cell->judgement.low);
        add_number(json, "high", cell->judgement.high);
        json.integer("samples_base", static_cast<std::int64_t>(cell->judgement.samples_base));
        json.integer("samples_test", static_cast<std::int64_t>(cell->judgement.samples_test));
        json.text("verdict", verdict_name(cell->judgement.verdict));
      }
      json.end_object();
    }
    json.end_list();
    json.end_object();
  }
  json.end_list();
}

/// The components of total_time, and total_time itself, which is their sum.
constexpr std::array kParts = {TimeKind::kComputation, TimeKind::kExposedComm,
                               TimeKind::kExposedMemcpy, TimeKind::kIdle, TimeKind::kTotal};

/// Returns the mean over these ranks of the run of the time per step, in ms. Uses the steps with a
/// total time for all kinds, so that the kinds add up to it. Empty if a rank has no such steps.
std::optional<double> ms_per_step(const ComparedRun& run, const std::set<std::int64_t>& ranks,
                                  TimeKind kind) {
  double sum_ms = 0;
  for (const std::int64_t rank : ranks) {
    const RankTimeline& timeline = run.ranks.at(rank);
    const auto totals = timeline.step_ns.find(TimeKind::kTotal);
    if (totals == timeline.step_ns.end() || totals->second.empty())
      return std::nullopt;
    std::int64_t ns = 0;
    if (const auto of_kind = timeline.step_ns.find(kind); of_kind != timeline.step_ns.end())
      for (const auto& [step, value] : of_kind->second)
        ns += totals->second.contains(step) ? value : 0;
    sum_ms += ns_to_ms(ns) / static_cast<double>(totals->second.size());
  }
  return ranks.empty() ? std::nullopt : std::optional(sum_ms / static_cast<double>(ranks.size()));
}

/// Adds the times per step or, if one of the runs has no steps, those of the traces. Leaves out
/// times per step that cannot be compared, because only one run has the idle time between steps.
void add_parts(PageBlob& page, const Comparison& c, std::size_t test) {
  JsonWriter& json = page.json;
  const std::set<std::int64_t> ranks = common_ranks({&c.base, &c.tests[test]});
  const bool per_step = ms_per_step(c.base, ranks, TimeKind::kTotal).has_value() &&
                        ms_per_step(c.tests[test], ranks, TimeKind::kTotal).has_value();
  const bool idle = !per_step || same_idle_time(c.base, c.tests[test]);
  json.boolean("per_step", per_step);
  json.begin_list("parts");
  for (const TimeKind kind : kParts)
    for (const TimelineChange& row : c.timelines[test].mean) {
      if (row.kind != kind || (has_idle_before(kind) && !idle))
        continue;
      json.begin_object();
      json.text("kind", time_kind_name(kind));
      add_number(json, "base", per_step ? ms_per_step(c.base, ranks, kind) : row.ms.base);
      add_number(json, "test", per_step ? ms_per_step(c.tests[test], ranks, kind) : row.ms.test);
      json.text("verdict", verdict_name(row.judgement.verdict));
      add_number(json, "low", row.judgement.low);
      add_number(json, "high", row.judgement.high);
      json.end_object();
    }
  json.end_list();
}

/// The GPU time of an operator in milliseconds, as the mean over the ranks: per step or, if one of
/// the runs has no steps, of the trace.
struct OperatorChange {
  std::string name;
  double base_ms = kNaN, test_ms = kNaN; ///< NaN: the operator is not in that run
};

/// Returns no changes if the runs have different ranks: the times are sums over all ranks.
std::vector<OperatorChange> operator_changes(const ComparedRun& base, const ComparedRun& test) {
  if (!same_ranks(base, test))
    return {};
  const bool per_step = step_count(base) > 0 && step_count(test) > 0;
  std::set<std::string> names;
  for (const auto& [name, ns] : base.operators)
    names.insert(name);
  for (const auto& [name, ns] : test.operators)
    names.insert(name);
  const auto ms_of = [per_step](const ComparedRun& run, const std::string& name) {
    const auto at = run.operators.find(name);
    const std::size_t parts =
        std::max<std::size_t>(run.ranks.size(), 1) * (per_step ? step_count(run) : 1);
    return at == run.operators.end() ? kNaN : at->second / 1e6 / static_cast<double>(parts);
  };
  std::vector<OperatorChange> out;
  for (const std::string& name : names)
    out.push_back({name, ms_of(base, name), ms_of(test, name)});
  return out;
}

Schema<OperatorChange> operator_change_schema() {
  using R = OperatorChange;
  const auto or_zero = [](double ms) { return std::isnan(ms) ? 0 : ms; };
  return {"operators",
          "GPU time of operators in both runs, mean over the ranks, per step (without steps: of "
          "the trace)",
          {{"name", "operator", Unit::kNone, &R::name, "name of the operator"},
           {"difference_ms", "difference (ms)", Unit::kMs,
            [or_zero](const R& r) { return or_zero(r.test_ms) - or_zero(r.base_ms); },
            "test - baseline; it has no interval, so it may be noise"},
           {"base_ms", "baseline (ms)", Unit::kMs, &R::base_ms, "GPU time; blank: not in this run"},
           {"test_ms", "test (ms)", Unit::kMs, &R::test_ms, "GPU time; blank: not in this run"},
           {"state",
            [](const R& r) {
              return std::isnan(r.base_ms) ? "new" : std::isnan(r.test_ms) ? "vanished" : "in both";
            },
            "new: only in the test; vanished: only in the baseline"}}};
}

/// Adds the mean over these ranks for each step that all of them have, as one array per kind of
/// time. With `idle` = false, the arrays of times that contain idle time before steps are empty.
void add_series(PageBlob& page, const ComparedRun& run, const std::set<std::int64_t>& ranks,
                bool idle) {
  JsonWriter& json = page.json;
  json.begin_object();
  json.text("label", run.label);
  std::map<TimeKind, std::map<std::int64_t, std::pair<double, std::size_t>>> sums;
  for (const std::int64_t rank : ranks)
    for (const auto& [kind, steps] : run.ranks.at(rank).step_ns)
      for (const auto& [step, ns] : steps) {
        auto& [sum, count] = sums[kind][step];
        sum += static_cast<double>(ns) / 1e6;
        ++count;
      }
  for (const TimeKind kind : kParts) {
    std::vector<double> numbers, values;
    for (const auto& [step, sum] : sums[kind]) {
      if (sum.second != ranks.size() || (has_idle_before(kind) && !idle))
        continue;
      numbers.push_back(static_cast<double>(step));
      values.push_back(sum.first / static_cast<double>(sum.second));
    }
    json.begin_object(time_kind_name(kind));
    page.reals("step", numbers);
    page.reals("ms", values);
    json.end_object();
  }
  json.end_object();
}

/// Adds the short names of kernels, which the page shows in place of the names.
Table with_short_names(Table changes) {
  std::vector<std::string> rows, shown, full;
  for (std::size_t r = 0; r < changes.rows(); ++r) {
    const auto text = [&](const char* column) { return changes.at(r, column).text; };
    const std::string_view name = text("name");
    rows.push_back(fmt::format("{} {} {} ", text("what"), text("operator"), text("shapes")));
    shown.push_back(text("what") == "kernel" ? display_name(name) : std::string(name));
    full.push_back(rows[r] + std::string(name));
  }
  const std::vector<std::string> names = distinct_cells(rows, shown, full);
  changes.add_column({"short_name", "short name", Unit::kNone, CellKind::kText, "", {}},
                     {names.begin(), names.end()});
  return changes;
}

} // namespace

std::string comparison_page_data(const ComparisonPageInput& input) {
  const Comparison& c = *input.comparison;
  PageBlob page;
  add_head(page, head_of(input));
  page.json.texts("labels", [&] {
    std::vector<std::string> labels = {c.base.label};
    for (const ComparedRun& test : c.tests)
      labels.push_back(test.label);
    return labels;
  }());
  add_verdicts(page, c);
  page.table("dashboard", dashboard_table(c));
  page.json.begin_list("tests");
  for (std::size_t i = 0; i < c.tests.size(); ++i) {
    page.json.begin_object();
    add_parts(page, c, i);
    if (c.changes[i].known) {
      page.json.begin_list("changed");
      for (const Finding& finding : input.findings->changes[i])
        page.json.text("", finding.sentence());
      page.json.end_list();
      page.table("changes", with_short_names(changes_table(c, i, true)));
    }
    page.table("operators", operator_change_schema().table(operator_changes(c.base, c.tests[i])));
    page.table("by_rank", timeline_by_rank_table(c, i));
    const Table collectives = collectives_cmp_table(c, i);
    if (collectives.rows() > 0)
      page.table("collectives", collectives);
    page.json.end_object();
  }
  page.json.end_list();
  page.json.begin_list("series");
  const std::vector<const ComparedRun*> runs = runs_of(c);
  const std::set<std::int64_t> ranks = common_ranks(runs);
  const bool idle = std::ranges::all_of(
      c.tests, [&c](const ComparedRun& test) { return same_idle_time(c.base, test); });
  for (const ComparedRun* run : runs)
    add_series(page, *run, ranks, idle);
  page.json.end_list();
  return page.take();
}

} // namespace rankscope
