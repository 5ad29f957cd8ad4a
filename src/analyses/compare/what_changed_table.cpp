// The sheet What_Changed.
#include "analyses/compare/what_changed.h"
#include "core/schema.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {
namespace {

using enum CellKind;
/// A row of the sheet and the place of the row in its list.
struct Row {
  const Change* change = nullptr;
  std::optional<std::int64_t> rank; ///< place in the list, from 1; empty without a change beyond
                                    ///< noise and threshold
};

Schema<Row> what_changed_schema(const std::string& base, const std::string& test) {
  using R = Row;
  const auto ms = [](const char* id, const std::string& label, double Change::*value,
                     const char* help) {
    return Field<R>{id, label, Unit::kMs, [value](const R& r) { return r.change->*value; }, help};
  };
  const auto perhaps = [](const char* id, const std::string& label, Unit unit,
                          std::optional<double> Change::*value, const char* help) {
    return Field<R>{id, label, unit, [value](const R& r) { return r.change->*value; }, help};
  };
  const auto text = [](const char* id, const char* label, std::string Change::*value,
                       const char* help) {
    return Field<R>{id, label, Unit::kNone,
                    [value](const R& r) { return text_or_blank(r.change->*value); }, help};
  };
  return {
      "What_Changed",
      "the difference of the step time, divided in three ways: among kernels, collectives, copies "
      "and idle time; among operators; among steps. Each list adds up to the difference",
      {text("what", "what", &Change::what,
            "kind of row: kernel, collective, copy, idle time, wait at collectives (for late "
            "ranks), operator or step; all else: sum of the other rows of the list"),
       {"place", "#", Unit::kNone, &R::rank,
        "position of the row in its list (GPU work and idle time, operators, or steps), 1: largest "
        "difference; blank if the change is not significant or not beyond the threshold"},
       text("name", "name", &Change::name,
            "name of the kernel, operator or step in the test; for vanished rows: name in the "
            "baseline; for idle time: its cause"),
       text("operator", "operator", &Change::op, "innermost operator around the launching call"),
       text("shapes", "shapes", &Change::shapes, "recorded shapes of the operator's inputs"),
       ms("difference_ms", "difference (ms)", &Change::difference_ms,
          "time per step in the test - time per step in the baseline; for a step: the part that it "
          "contributes to the difference of the mean step time"),
       perhaps(
           "low_ms", "95% low (ms)", Unit::kMs, &Change::low_ms,
           "lower end of the interval of the difference; 95 % for all rows together (Bonferroni)"),
       perhaps(
           "high_ms", "95% high (ms)", Unit::kMs, &Change::high_ms,
           "upper end of the interval of the difference; 95 % for all rows together (Bonferroni)"),
       perhaps("share_percent", "share (%)", Unit::kPercent, &Change::share_percent,
               "difference (ms) in percent of the difference of the step time; blank if the "
               "difference of the step time is not significant"),
       {"state", "state", Unit::kNone, kText,
        [](const R& r) {
          return r.change->base_launches || r.change->test_launches
                     ? Value(change_state_name(r.change->state))
                     : Value();
        },
        "in both (runs), new (only in the test), vanished (only in the baseline), or replaced "
        "(another kernel at the same place)"},
       text("old_name", "was", &Change::old_name, "kernel of the baseline that was replaced"),
       ms("base_ms", base + " (ms)", &Change::base_ms,
          "time per step, mean over steps and ranks; when events overlap, each instant counts for "
          "one of them only"),
       ms("test_ms", test + " (ms)", &Change::test_ms,
          "time per step, mean over steps and ranks; when events overlap, each instant counts for "
          "one of them only"),
       perhaps("base_launches", base + " launches", Unit::kCount, &Change::base_launches,
               "number of launches per step, mean over the ranks"),
       perhaps("test_launches", test + " launches", Unit::kCount, &Change::test_launches,
               "number of launches per step, mean over the ranks")}};
}

/// Returns "2 rows below the threshold of 1 %".
std::string below_text(std::size_t rows, const char* what, double threshold_percent) {
  return fmt::format("{} {} below the threshold of {} %", rows, what, threshold_percent);
}

/// Returns the sum of these rows as one row; empty without rows.
std::optional<Change> all_else(const std::vector<const Change*>& rows, double threshold_percent) {
  if (rows.empty())
    return std::nullopt;
  const bool steps = rows.front()->what == "step";
  const char* const what = steps                              ? "steps"
                           : rows.front()->what == "operator" ? "operators"
                                                              : "rows";
  Change out;
  out.what = "all else";
  std::size_t below = 0;
  for (const Change* row : rows) {
    below += row->below_threshold ? 1 : 0;
    // all steps are compared with the same mean: show the mean of their times, not the sum
    out.base_ms += row->base_ms / (steps ? static_cast<double>(rows.size()) : 1);
    out.test_ms += row->test_ms / (steps ? static_cast<double>(rows.size()) : 1);
    out.difference_ms += row->difference_ms;
    if (row->share_percent)
      out.share_percent = out.share_percent.value_or(0) + *row->share_percent;
  }
  if (below < rows.size())
    out.name = fmt::format("{} {} without a significant difference", rows.size() - below, what);
  if (below > 0)
    out.name += (out.name.empty() ? "" : ", ") + below_text(below, what, threshold_percent);
  return out;
}

} // namespace

Table what_changed_table(const WhatChanged& changed, const std::string& base,
                         const std::string& test, bool all) {
  const Schema<Row> schema = what_changed_schema(base, test);
  if (!changed.known)
    return schema.table({});
  std::vector<std::optional<Change>> rest; // the targets of pointers in `rows`
  rest.reserve(3);
  std::vector<Row> rows = {{&changed.step_time, std::nullopt}};
  for (const ChangeList* list : {&changed.work, &changed.operators, &changed.steps}) {
    for (std::size_t i = 0; i < list->reported; ++i)
      rows.push_back({&list->rows[i], static_cast<std::int64_t>(i) + 1});
    if (all) {
      for (std::size_t i = list->reported; i < list->rows.size(); ++i)
        rows.push_back({&list->rows[i], std::nullopt});
      continue;
    }
    std::vector<const Change*> hidden; // neither significant nor replaced
    for (std::size_t i = list->reported; i < list->rows.size(); ++i)
      if (list->rows[i].state == ChangeState::kReplaced)
        rows.push_back({&list->rows[i], std::nullopt});
      else
        hidden.push_back(&list->rows[i]);
    rest.push_back(all_else(hidden, changed.threshold_percent));
    if (rest.back())
      rows.push_back({&*rest.back(), std::nullopt});
  }
  Table out = schema.table(rows);
  out.notes = {
      fmt::format("Own times: each instant of a {} counts once. Computation takes precedence over "
                  "communication, and communication over copies; within a kind, the event that "
                  "starts first does. The rest is idle. So the rows of each list add up to the "
                  "difference.",
                  changed.without_steps ? "trace" : "step"),
      fmt::format(
          "A change is ranked if its interval (Welch; for a step a prediction interval; "
          "Bonferroni over {} rows) excludes 0 and it exceeds the threshold of {} %. Samples: {} "
          "and {}. Changes apply to these runs only.",
          changed.rows, changed.threshold_percent, changed.base_steps, changed.test_steps)};
  if (changed.assumed)
    out.notes.emplace_back("The noise is ASSUMED (--assume-noise), not measured.");
  return out;
}

} // namespace rankscope
