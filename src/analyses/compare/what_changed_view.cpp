// What changed, as sentences and as a sheet.
#include "analyses/compare/what_changed.h"
#include "base/display_text.h"
#include "core/schema.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {
namespace {

using enum CellKind;
constexpr std::size_t kNameWidth = 60; ///< of a kernel's name in a sentence

std::string short_name(const std::string& name) {
  return shortened_middle(name, kNameWidth, false);
}

/// At most kNameWidth columns of a name from a little before `differs` on: where it is another name
/// than one that begins the same.
std::string short_name_at(const std::string& name, std::size_t differs) {
  constexpr std::size_t kBefore = 20;
  if (display_width(name) <= kNameWidth)
    return name;
  std::size_t start = differs > kBefore ? differs - kBefore : 0;
  while (start > 0 && (static_cast<unsigned char>(name[start]) & 0xC0U) == 0x80U)
    --start; // a character is not cut
  const std::string_view rest = std::string_view(name).substr(start);
  const std::string_view shown = first_columns(rest, kNameWidth - 4);
  return (start > 0 ? ".." : "") + std::string(shown) + (shown.size() < rest.size() ? ".." : "");
}

/// "kernel K of aten::mm 64x64 64x64".
std::string subject(const Change& row) {
  std::string out = row.what;
  const auto differs = static_cast<std::size_t>(
      std::mismatch(row.name.begin(), row.name.end(), row.old_name.begin(), row.old_name.end())
          .first -
      row.name.begin());
  const bool replaced = row.state == ChangeState::kReplaced;
  if (row.what != "idle time" && row.what != "wait at collectives") {
    out += " " + (replaced ? short_name_at(row.name, differs) : short_name(row.name));
    if (!row.op.empty() && row.what != "operator")
      out += " of " + short_name(row.op);
    if (!row.shapes.empty())
      out += " " + short_name(row.shapes);
  }
  if (replaced)
    out += " (in place of " + short_name_at(row.old_name, differs) + ")";
  else if (row.state != ChangeState::kBoth)
    out += fmt::format(" ({})", change_state_name(row.state));
  return out;
}

std::string interval(const Change& row) {
  return row.low_ms ? fmt::format("interval {:+.3f} to {:+.3f}", *row.low_ms, *row.high_ms)
                    : std::string("one step: no interval");
}

/// ", 62 % of the difference".
std::string share(const std::optional<double>& percent) {
  return percent ? fmt::format("{:.0f} % of the difference, ", *percent) : std::string();
}

void add_list(const ChangeList& list, std::size_t most, std::vector<std::string>& out) {
  for (std::size_t i = 0; i < std::min(most, list.told); ++i) {
    const Change& row = list.rows[i];
    out.push_back(fmt::format("{}: {:.3f} -> {:.3f} ms, {:+.3f} ms ({}{})", subject(row),
                              row.base_ms, row.test_ms, row.difference_ms, share(row.share_percent),
                              interval(row)));
  }
  if (most > 0 && list.told > most)
    out.push_back(fmt::format("{} more {}s changed", list.told - most,
                              list.rows.front().what == "operator" ? "operator" : "row"));
}

/// Which steps stand out, or that all do.
void add_steps(const ChangeList& steps, std::size_t most, std::vector<std::string>& out) {
  if (steps.told == 0)
    return;
  if (steps.told == steps.rows.size() && steps.told > 1)
    out.push_back(fmt::format("each of the {} steps differs from the baseline's mean step by more "
                              "than its steps do among themselves",
                              steps.told));
  else
    add_list(steps, most, out);
}

/// A row of the sheet with its place in its list.
struct Row {
  const Change* change = nullptr;
  std::optional<std::int64_t> rank; ///< from 1; none: not told
};

Schema<Row> what_changed_schema(const std::string& base, const std::string& test) {
  using R = Row;
  const auto ms = [](const char* id, std::string label, double Change::*value, const char* help) {
    return Field<R>{id,
                    std::move(label),
                    Unit::kMs,
                    kDouble,
                    [value](const R& r) { return Value(r.change->*value); },
                    help};
  };
  const auto perhaps = [](const char* id, std::string label, Unit unit,
                          std::optional<double> Change::*value, const char* help) {
    return Field<R>{id,
                    std::move(label),
                    unit,
                    kDouble,
                    [value](const R& r) { return Value(r.change->*value); },
                    help};
  };
  const auto text = [](const char* id, const char* label, std::string Change::*value,
                       const char* help) {
    return Field<R>{id,
                    label,
                    Unit::kNone,
                    kText,
                    [value](const R& r) { return text_or_blank(r.change->*value); },
                    help};
  };
  return {
      "What_Changed",
      "the difference of the step time divided among kernels, collectives, copies and idle "
      "time, then among operators, then among steps: each of the three adds up to it",
      {text("what", "what", &Change::what,
            "kernel, collective, copy, idle time, wait at collectives (for late ranks); operator; "
            "step; all else: the other rows of the list together"),
       {"place", "#", Unit::kNone, kInt, [](const R& r) { return Value(r.rank); },
        "by size of the difference, in its list; blank: no significant change beyond the "
        "threshold"},
       text("name", "name", &Change::name, "of the test, of what vanished the baseline's"),
       text("operator", "operator", &Change::op, "the nearest above the launch"),
       text("shapes", "shapes", &Change::shapes, "recorded shapes of the operator's inputs"),
       ms("difference_ms", "difference (ms)", &Change::difference_ms,
          "test - baseline; of a step its part of the mean step's"),
       perhaps("low_ms", "95% low (ms)", Unit::kMs, &Change::low_ms,
               "interval of the difference; all rows together 95 % (Bonferroni)"),
       perhaps("high_ms", "95% high (ms)", Unit::kMs, &Change::high_ms,
               "interval of the difference; all rows together 95 % (Bonferroni)"),
       perhaps("share_percent", "share (%)", Unit::kPercent, &Change::share_percent,
               "of the difference of the step time; blank when that is not significant"),
       {"state", "state", Unit::kNone, kText,
        [](const R& r) {
          return r.change->base_launches || r.change->test_launches
                     ? Value(change_state_name(r.change->state))
                     : Value();
        },
        "in both, new, vanished, replaced: another kernel at the same place"},
       text("old_name", "was", &Change::old_name,
            "the baseline's kernel in the place of a replaced one"),
       ms("base_ms", base + " (ms)", &Change::base_ms,
          "own time a step, mean over steps and ranks"),
       ms("test_ms", test + " (ms)", &Change::test_ms,
          "own time a step, mean over steps and ranks"),
       perhaps("base_launches", base + " launches", Unit::kCount, &Change::base_launches,
               "a step, mean over ranks"),
       perhaps("test_launches", test + " launches", Unit::kCount, &Change::test_launches,
               "a step, mean over ranks")}};
}

/// "2 rows below the threshold of 1 %".
std::string below_text(std::size_t rows, const char* what, double threshold_percent) {
  return fmt::format("{} {} below the threshold of {} %", rows, what, threshold_percent);
}

/// These rows as one; none without any.
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
    // each step is compared with the same mean: their times do not add up to one
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

/// Which part of the difference the rows explain.
std::string explained(const WhatChanged& changed) {
  const ChangeList& work = changed.work;
  std::string out = fmt::format("of {:+.3f} ms, {:+.3f} ms is in {} listed row{}",
                                changed.step_time.difference_ms, work.explained_ms, work.told,
                                work.told == 1 ? "" : "s");
  if (work.below > 0)
    out += fmt::format(
        ", {:+.3f} ms in {}", work.below_ms,
        below_text(work.below, work.below == 1 ? "row" : "rows", changed.threshold_percent));
  return out + fmt::format(", {:+.3f} ms is not significant", work.unexplained_ms);
}

} // namespace

std::vector<std::string> what_changed_words(const WhatChanged& changed, std::size_t most) {
  std::vector<std::string> out;
  if (!changed.known)
    return out;
  const Change& total = changed.step_time;
  std::string first = fmt::format("{} in these runs, mean over {}ranks: {:.3f} -> {:.3f} ms, "
                                  "{:+.3f} ms ({})",
                                  total.what, changed.whole ? "" : "steps and ", total.base_ms,
                                  total.test_ms, total.difference_ms, interval(total));
  if (total.low_ms && !total.told)
    first += ": no significant difference";
  if (changed.assumed)
    first += "; the noise is assumed";
  out.push_back(std::move(first));
  add_list(changed.work, most, out);
  if (total.told && changed.work.told + changed.work.below > 0)
    out.push_back(explained(changed));
  add_list(changed.operators, most, out);
  add_steps(changed.steps, most, out);
  std::size_t replaced = 0;
  for (std::size_t i = changed.work.told; i < changed.work.rows.size(); ++i) {
    const Change& row = changed.work.rows[i];
    if (row.state == ChangeState::kReplaced && ++replaced <= most)
      out.push_back(
          fmt::format("{}: {} of time", subject(row),
                      row.below_threshold ? "no large difference" : "no significant difference"));
  }
  if (most > 0 && replaced > most)
    out.push_back(
        fmt::format("{} more kernels are replaced, without a change of time", replaced - most));
  return out;
}

Table what_changed_table(const WhatChanged& changed, const std::string& base,
                         const std::string& test, bool all) {
  const Schema<Row> schema = what_changed_schema(base, test);
  if (!changed.known)
    return schema.table({});
  std::vector<std::optional<Change>> rest; // what rows point to
  rest.reserve(3);
  std::vector<Row> rows = {{&changed.step_time, std::nullopt}};
  for (const ChangeList* list : {&changed.work, &changed.operators, &changed.steps}) {
    for (std::size_t i = 0; i < list->told; ++i)
      rows.push_back({&list->rows[i], static_cast<std::int64_t>(i) + 1});
    if (all) {
      for (std::size_t i = list->told; i < list->rows.size(); ++i)
        rows.push_back({&list->rows[i], std::nullopt});
      continue;
    }
    std::vector<const Change*> hidden; // neither significant nor replaced
    for (std::size_t i = list->told; i < list->rows.size(); ++i)
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
      fmt::format("Own times: each instant of a {} counts once, for computation before "
                  "communication before copies, of the same kind for what began first; the rest "
                  "is idle. So the rows of each list add up to the difference.",
                  changed.whole ? "trace" : "step"),
      fmt::format(
          "A change is ranked when its interval (Welch; a step's: of one more sample; "
          "Bonferroni over {} rows) leaves 0 out and it exceeds the threshold of {} %; {} and "
          "{} samples. It holds for these runs.",
          changed.rows, changed.threshold_percent, changed.base_steps, changed.test_steps)};
  if (changed.assumed)
    out.notes.emplace_back("The noise is ASSUMED (--assume-noise), not measured.");
  return out;
}

} // namespace rankscope
