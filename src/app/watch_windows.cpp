// The windows of `watch`: assigns traces to windows, judges windows, and finds ranks that hang.
#include "app/watch.h"

#include "base/number_text.h"
#include "base/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace rankscope {
namespace {

std::string steps_text(std::int64_t first, std::int64_t last) {
  return first == last ? fmt::format("step {}", first) : fmt::format("steps {}-{}", first, last);
}

std::string label_of(const WatchState::Open& window) {
  return window.first_step < 0 ? fmt::format("window {}", window.number)
                               : steps_text(window.first_step, window.last_step);
}

} // namespace

WatchState::Open* Watch::window_of(const WatchedRank& rank) {
  const std::int64_t first = rank.steps.empty() ? -1 : rank.steps.front();
  const std::int64_t last = rank.steps.empty() ? -1 : rank.steps.back();
  const WatchState::Seen& seen = state_.ranks[rank.collectives.rank];
  for (WatchState::Open& window : state_.open)
    if (window.number > seen.window && first <= window.last_step && window.first_step <= last)
      return &window;
  if (last >= 0 && last <= seen.last_step) // the job restarted at an earlier step
    state_.judged_step = -1;
  if (last >= 0 && last <= state_.judged_step)
    return nullptr;
  WatchState::Open window;
  window.number = ++state_.windows_begun;
  window.first_step = first;
  window.last_step = last;
  state_.open.push_back(std::move(window));
  return &state_.open.back();
}

void Watch::take(WatchedRank rank, std::int64_t now_ns, WatchPoll& out) {
  const std::int64_t number = rank.collectives.rank;
  WatchState::Open* const window = window_of(rank);
  WatchState::Seen& seen = state_.ranks[number];
  seen.heard_ns = now_ns;
  seen.last_step = rank.steps.empty() ? -1 : rank.steps.back();
  if (window == nullptr) {
    late_[steps_text(rank.steps.front(), rank.steps.back())].push_back(number);
    return;
  }
  if (!rank.steps.empty()) {
    window->first_step = std::min(window->first_step, rank.steps.front());
    window->last_step = std::max(window->last_step, rank.steps.back());
  }
  seen.window = window->number;
  window->ranks.emplace(number, std::move(rank));
  note_reached(now_ns);
  judge_ready(false, out);
}

std::vector<std::int64_t> Watch::known_ranks() const {
  std::set<std::int64_t> out;
  for (std::int64_t r = 0; r < state_.world; ++r)
    out.insert(r);
  for (const auto& [rank, seen] : state_.ranks)
    out.insert(rank);
  return {out.begin(), out.end()};
}

std::size_t Watch::how_many_known() const {
  return std::max(state_.ranks.size(),
                  static_cast<std::size_t>(std::max<std::int64_t>(0, state_.world)));
}

void Watch::note_reached(std::int64_t now_ns) {
  for (const WatchState::Open& window : state_.open)
    if (2 * window.ranks.size() >= how_many_known())
      state_.reached.note(static_cast<std::int64_t>(window.number), now_ns);
}

void Watch::judge_ready(bool last, WatchPoll& out) {
  const std::size_t known = how_many_known();
  while (!state_.open.empty()) {
    WatchState::Open& window = state_.open.front();
    const bool complete = window.ranks.size() >= known;
    const bool crowded = state_.open.size() > kMostOpen;
    if (!last && !complete && !crowded)
      return; // later windows wait, so that windows are judged in order
    judge(window, out);
    state_.open.erase(state_.open.begin());
  }
}

void Watch::judge(WatchState::Open& window, WatchPoll& out) {
  std::vector<WatchedRank> ranks;
  for (auto& [number, rank] : window.ranks)
    ranks.push_back(std::move(rank));
  state_.judged_step = std::max(state_.judged_step, window.last_step);
  const WatchWindow facts = watch_window(std::move(ranks), label_of(window));
  for (Alarm& alarm : state_.judge.judge(facts))
    out.alarms.push_back(std::move(alarm));
  out.windows.push_back(summary_of(facts, state_.judge.windows(), known_ranks().size()));
  out.windows.back().exposed_percent = facts.exposed_percent;
  state_.show(out.windows.back());
}

void Watch::judge_still(std::int64_t now_ns, WatchPoll& out) {
  const auto limit = s_to_ns(request_.still_s);
  std::vector<std::int64_t> still;
  std::int64_t longest = 0;
  for (const std::int64_t rank : known_ranks()) {
    const auto at = state_.ranks.find(rank);
    const WatchState::Seen seen = at == state_.ranks.end() ? WatchState::Seen{} : at->second;
    const auto behind_ns = state_.reached.behind_ns(static_cast<std::int64_t>(seen.window), now_ns);
    if (!behind_ns || std::min(*behind_ns, now_ns - seen.heard_ns) < limit ||
        growing_.count(rank) > 0)
      continue;
    still.push_back(rank);
    longest = std::max(longest, *behind_ns);
  }
  const std::string others = fmt::format("most of the {} ranks continued {} s ago",
                                         known_ranks().size(), longest / 1'000'000'000);
  if (std::optional<Alarm> alarm = state_.judge.judge_still(still, others))
    out.alarms.push_back(std::move(*alarm));
}

void Watch::judge_silent(std::int64_t now_ns, WatchPoll& out) {
  const std::size_t logs = state_.logs.processes();
  const std::size_t ranks = state_.ranks.size();
  const std::string writers =
      logs > 0 && ranks > 0
          ? fmt::format("{} and {}", counted(ranks, "rank", "ranks"), counted(logs, "log", "logs"))
      : logs > 0 ? counted(logs, "log", "logs")
                 : counted(ranks, "rank", "ranks");
  if (std::optional<Alarm> alarm =
          state_.rhythm.judge(now_ns, s_to_ns(request_.still_s),
                              std::max(state_.windows_begun, state_.logs.windows()), writers))
    out.alarms.push_back(std::move(*alarm));
}

} // namespace rankscope
