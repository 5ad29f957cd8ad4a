// The summary of `watch` as tables and as a page.
#include "app/watch.h"
#include "base/number_text.h"
#include "core/schema.h"
#include "pages/html_report.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr CellKind kInt = CellKind::kInt;
constexpr CellKind kDouble = CellKind::kDouble;
constexpr CellKind kText = CellKind::kText;

Schema<WatchedWindow> windows_schema() {
  using R = WatchedWindow;
  const auto positive = [](double v) { return v > 0 ? Value(v) : Value(); };
  return {"watch_windows",
          "what the ranks wrote of the same steps, or logs in the same time; the newest last",
          {{"window", "window", Unit::kNone, kText, [](const R& r) { return Value(r.label); }},
           {"ranks", "ranks", Unit::kCount, kInt, [](const R& r) { return Value(r.ranks); },
            "ranks that wrote it"},
           {"known_ranks", "of", Unit::kCount, kInt, [](const R& r) { return Value(r.of); },
            "ranks that are known"},
           {"step_ms", "step (ms)", Unit::kMs, kDouble,
            [=](const R& r) { return positive(r.step_ms); }, "mean over steps and ranks"},
           {"exposed_percent", "exposed (%)", Unit::kPercent, kDouble,
            [](const R& r) { return r.exposed_percent ? Value(*r.exposed_percent) : Value(); },
            "of the time of collectives, over the ranks"},
           {"bus_bw_gbps", "bus bw (GB/s)", Unit::kGBps, kDouble,
            [=](const R& r) { return positive(r.bus_gbps); }, "mean over the kinds of collectives"},
           {"latest_rank", "latest rank", Unit::kNone, kInt,
            [](const R& r) { return r.latest_rank ? Value(*r.latest_rank) : Value(); },
            "it comes last to its collectives on average; whether that is more than noise, the "
            "alarms say"},
           {"late_us", "late (us)", Unit::kUs, kDouble,
            [](const R& r) { return r.latest_rank ? Value(r.late_us) : Value(); },
            "how much later than the others it comes"}}};
}

Schema<Alarm> alarms_schema() {
  using R = Alarm;
  return {
      "watch_alarms",
      "alarms, the newest last",
      {{"after_window", "after window", Unit::kCount, kInt,
        [](const R& r) { return Value(r.window); }, "windows that were judged by then"},
       {"kind", "kind", Unit::kNone, kText, [](const R& r) { return Value(alarm_name(r.kind)); },
        "straggler, bandwidth, hang or collective"},
       {"sentence", "sentence", Unit::kNone, kText, [](const R& r) { return Value(r.sentence); },
        "what was seen"}}};
}

} // namespace

std::vector<Table> watch_tables(const WatchState& state) {
  return {windows_schema().table(state.shown), alarms_schema().table(state.alarms)};
}

std::string watch_page(const WatchState& state, const std::vector<std::string>& inputs,
                       std::string_view when) {
  std::vector<std::int64_t> ranks;
  for (const auto& [rank, seen] : state.ranks)
    if (seen.window > 0)
      ranks.push_back(rank);
  HtmlReport page;
  page.title = "watch: " + (inputs.empty() ? std::string() : inputs.front());
  page.summary = {
      fmt::format("{} trace{} read of {} rank{} ({}), {} windows judged; {}", state.read.size(),
                  state.read.size() == 1 ? "" : "s", ranks.size(), ranks.size() == 1 ? "" : "s",
                  ranges_text(ranks), state.judge.windows(), when),
      state.raised == 0 ? std::string("no alarm")
                        : fmt::format("{} alarm{}", state.raised, state.raised == 1 ? "" : "s")};
  if (const LogWatch& logs = state.logs; logs.processes() > 0) {
    std::string text = fmt::format("{} records of {} logs read", logs.records(), logs.processes());
    if (logs.incomplete() > 0)
      text += fmt::format("; of {} collectives a rank told nothing", logs.incomplete());
    if (logs.dropped() > 0)
      text += fmt::format("; the Inspector dropped {} records", logs.dropped());
    page.summary.push_back(std::move(text));
  }
  std::vector<Table> tables = watch_tables(state);
  HtmlSection alarms;
  alarms.title = "Alarms";
  alarms.tables.push_back(std::move(tables[1]));
  HtmlSection windows;
  windows.title = "Windows";
  windows.tables.push_back(std::move(tables[0]));
  if (state.raised > 0)
    page.sections.push_back(std::move(alarms));
  page.sections.push_back(std::move(windows));
  return html_page(page);
}

} // namespace rankscope
