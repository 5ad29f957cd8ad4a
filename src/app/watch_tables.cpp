// The page of `watch`.
#include "app/watch.h"
#include "base/number_text.h"
#include "base/time_text.h"
#include "core/schema.h"
#include "pages/html_report.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <limits>

namespace rankscope {
namespace {

using enum CellKind;

Schema<WatchedWindow> windows_schema() {
  using R = WatchedWindow;
  const auto positive = [](double v) { return v > 0 ? Value(v) : Value(); };
  return {"watch_windows",
          "one row per window (the same steps of all ranks, or a period of logs), newest last",
          {{"window", &R::label},
           {"ranks", Unit::kCount, &R::ranks, "ranks with data in the window"},
           {"known_ranks", "of", Unit::kCount, &R::known_ranks,
            "known ranks, with or without data in the window"},
           {"step_ms", "step (ms)", Unit::kMs, kDouble,
            [=](const R& r) { return positive(r.step_ms); }, "mean over steps and ranks"},
           {"exposed_percent", "exposed (%)", Unit::kPercent, kDouble,
            [](const R& r) { return r.exposed_percent ? Value(*r.exposed_percent) : Value(); },
            "exposed time divided by the time of the collectives, over all ranks"},
           {"bus_bw_gbps", "bus bw (GB/s)", Unit::kGBps, kDouble,
            [=](const R& r) { return positive(r.bus_gbps); },
            "mean over the collectives, weighted by their transfer times"},
           {"latest_rank", "latest rank", Unit::kNone, kInt,
            [](const R& r) { return r.latest_rank ? Value(*r.latest_rank) : Value(); },
            "rank that starts its collectives last on average; only an alarm means that this "
            "exceeds the noise"},
           {"late_us", "late (us)", Unit::kUs, kDouble,
            [](const R& r) { return r.latest_rank ? Value(r.late_us) : Value(); },
            "how much later than the others this rank starts its collectives"}}};
}

std::string plural(std::uint64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

/// Returns a text such as "2 traces of 2 ranks (0-1) and 144 records of 4 logs".
std::string read_text(const WatchState& state) {
  std::vector<std::int64_t> ranks;
  for (const auto& [rank, seen] : state.ranks)
    if (seen.window > 0)
      ranks.push_back(rank);
  std::vector<std::string> parts;
  if (!state.read.empty() || state.logs.processes() == 0)
    parts.push_back(fmt::format("{} of {}{}", plural(state.read.size(), "trace"),
                                plural(ranks.size(), "rank"),
                                ranks.empty() ? "" : fmt::format(" ({})", ranges_text(ranks))));
  if (state.logs.processes() > 0)
    parts.push_back(fmt::format("{} of {}", plural(state.logs.records(), "record"),
                                plural(state.logs.processes(), "log")));
  return fmt::format("{} read", fmt::join(parts, " and "));
}

/// Returns a trend with a value per window. A window with an alarm of one of these kinds is marked
/// with the alarm's sentence.
HtmlTrend trend_of(const WatchState& state, std::string title,
                   const std::function<double(const WatchedWindow&)>& value,
                   std::initializer_list<AlarmKind> kinds) {
  HtmlTrend out{std::move(title), {}};
  for (const WatchedWindow& window : state.shown) {
    HtmlTrend::Point point{window.label, value(window)};
    for (const Alarm& alarm : state.alarms)
      if (std::ranges::find(kinds, alarm.kind) != kinds.end() && alarm.window == window.number &&
          alarm.label == window.label) // logs have a separate window count
        point.mark = alarm.sentence;
    out.points.push_back(std::move(point));
  }
  return out;
}

std::vector<HtmlTrend> trends_of(const WatchState& state) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  using W = WatchedWindow;
  return {trend_of(state, "step (ms)", [](const W& w) { return w.step_ms > 0 ? w.step_ms : kNone; },
                   {}),
          trend_of(state, "bus bandwidth, weighted by transfer time (GB/s)",
                   [](const W& w) { return w.bus_gbps > 0 ? w.bus_gbps : kNone; },
                   {AlarmKind::kBandwidth}),
          trend_of(state, "lateness of the latest rank (us)",
                   [](const W& w) { return w.latest_rank ? w.late_us : kNone; },
                   {AlarmKind::kStraggler, AlarmKind::kCollective})};
}

} // namespace

std::string watch_page(const WatchState& state, const std::vector<std::string>& inputs,
                       std::int64_t now_ns, double refresh_s) {
  HtmlReport page;
  page.title = "watch: " + (inputs.empty() ? std::string() : inputs.front());
  page.refresh_s = refresh_s;
  const std::size_t windows = state.judge.windows() + state.logs.judged();
  page.summary = {fmt::format("{}, {} judged; as of {}", read_text(state),
                              plural(windows, "window"), utc_text(now_ns)),
                  state.raised == 0 ? "no alarm" : plural(state.raised, "alarm")};
  if (state.logs.incomplete() > 0)
    page.summary.push_back(fmt::format("{} without a record of every rank",
                                       plural(state.logs.incomplete(), "collective")));
  if (state.logs.dropped() > 0)
    page.summary.push_back(
        fmt::format("the Inspector dropped {}", plural(state.logs.dropped(), "record")));
  if (state.raised > 0) {
    HtmlSection alarms;
    alarms.title = "Alarms";
    for (auto alarm = state.alarms.rbegin(); alarm != state.alarms.rend(); ++alarm)
      alarms.points.push_back(fmt::format("{} {}: {}", utc_text(alarm->raised_ns),
                                          alarm_name(alarm->kind), alarm->sentence));
    page.sections.push_back(std::move(alarms));
  }
  HtmlSection shown;
  shown.title = "Windows";
  if (state.shown.size() > 1)
    shown.trends = trends_of(state);
  shown.tables.push_back(windows_schema().table(state.shown));
  page.sections.push_back(std::move(shown));
  return html_page(page);
}

} // namespace rankscope
