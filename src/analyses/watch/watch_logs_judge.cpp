// LogWatch: the functions that judge windows.
#include "analyses/watch/watch_logs.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

namespace rankscope {
namespace {

/// Number of windows without records after which a communicator is removed.
constexpr std::int64_t kForgetWindows = 60;
constexpr std::int64_t kWaitWindows = 3; ///< number of windows after which an incomplete collective
                                         ///< is given up

/// Returns the time of day of a unix time: "10:04:00Z".
std::string clock_text(std::int64_t us) {
  const std::int64_t s = us / 1'000'000 % 86'400;
  return fmt::format("{:02}:{:02}:{:02}Z", s / 3600, s / 60 % 60, s % 60);
}

std::vector<double> samples_of(const std::vector<LogSlot>& slots) {
  std::vector<double> out;
  for (const LogSlot& slot : slots)
    if (slot.n > 0)
      out.push_back(slot.sum / static_cast<double>(slot.n));
  return out;
}

} // namespace

void LogWatch::note_reached(std::int64_t now_ns) {
  if (processes_.empty())
    return;
  std::vector<std::int64_t> newest;
  for (const LogProcess& p : processes_)
    newest.push_back(p.newest_window);
  const auto most = newest.begin() + static_cast<std::ptrdiff_t>((newest.size() - 1) / 2);
  std::nth_element(newest.begin(), most, newest.end(), std::greater<>());
  if (*most >= 0)
    reached_.note(*most, now_ns);
}

void LogWatch::advance(std::int64_t now_ns, Read read, std::vector<Alarm>& alarms,
                       std::vector<WatchedWindow>& windows) {
  note_reached(now_ns);
  std::int64_t slowest = std::numeric_limits<std::int64_t>::max();
  for (const LogProcess& p : processes_)
    slowest = std::min(slowest, p.newest_window);
  const std::size_t open = read == Read::kSome ? kMostUnread : kMostOpen;
  while (!windows_.empty()) {
    const auto first = windows_.begin();
    if (read != Read::kLast && slowest <= first->first && windows_.size() <= open)
      return;
    judge(first->first, first->second, alarms, windows);
    forget(first->first);
    next_window_ = first->first + 1;
    windows_.erase(first);
  }
}

void LogWatch::judge(std::int64_t number, const LogWindow& window, std::vector<Alarm>& alarms,
                     std::vector<WatchedWindow>& windows) {
  WatchWindow out;
  out.label = "logs of " + clock_text(number * window_us_);
  out.ranks = window.records.size();
  const std::vector<std::int64_t> ranks = ranks_of_processes();
  for (const auto& [process, slots] : window.late_us) {
    double late_us = 0;
    for (const LogSlot& slot : slots)
      late_us += slot.sum;
    out.lateness.push_back({ranks[process], samples_of(slots),
                            late_us / 1000 * 1e6 / static_cast<double>(window_us_)});
  }
  std::ranges::sort(out.lateness, [](const auto& a, const auto& b) { return a.rank < b.rank; });
  for (const auto& [what, slots] : window.bus_gbps)
    out.bandwidths.push_back({what, samples_of(slots)});
  if (window.transfer_us > 0)
    out.bus_gbps = window.gbps_transfer_us / window.transfer_us;
  out.gaps = gaps(number);
  for (Alarm& alarm : judge_.judge(out))
    alarms.push_back(std::move(alarm));
  windows.push_back(summary_of(out, judge_.windows(), processes_.size()));
}

/// Returns, for each communicator, the collectives that some ranks finished at least a window ago
/// and other ranks did not, although the logs of those other ranks continued.
std::vector<WatchedGap> LogWatch::gaps(std::int64_t window) const {
  std::map<std::string, std::pair<std::int64_t, WatchedGap>> found;
  for (const auto& [key, collective] : waiting_) {
    const std::int64_t at = collective.last_us / window_us_;
    const auto group = groups_.find(key.first.first);
    if (at >= window || group == groups_.end())
      continue;
    const std::vector<std::uint64_t>& newest = group->second.newest.at(key.first.second);
    WatchedGap gap;
    for (std::size_t r = 0; r < collective.exec_us.size(); ++r) {
      const std::uint32_t process = group->second.processes[r];
      if (collective.exec_us[r] != kNoExec)
        gap.entered.push_back(static_cast<std::int64_t>(r));
      else if (process > 0 && newest[r] <= key.second &&
               processes_[process - 1].newest_window > at + 1)
        gap.absent.push_back(static_cast<std::int64_t>(r));
    }
    if (gap.absent.empty())
      continue;
    auto& [earliest, first] = found[key.first.first];
    const std::int64_t number = first.collectives + 1;
    if (number == 1 || collective.last_us < earliest) {
      earliest = collective.last_us;
      first = std::move(gap);
      first.group = group_text(key.first.first, group->second.name);
      first.name = key.first.second;
      first.where = fmt::format("as number {}", key.second);
    }
    first.collectives = number;
  }
  std::vector<WatchedGap> out;
  for (auto& [comm, gap] : found)
    out.push_back(std::move(gap.second));
  return out;
}

/// Gives up waiting collectives after kWaitWindows, or when all absent ranks have passed them.
void LogWatch::forget(std::int64_t window) {
  give_up([&](const Key& key, const LogCollective& collective) {
    const auto group = groups_.find(key.first.first);
    if (group == groups_.end() || collective.last_us / window_us_ + kWaitWindows <= window)
      return true;
    const std::vector<std::uint64_t>& newest = group->second.newest.at(key.first.second);
    for (std::size_t r = 0; r < newest.size(); ++r)
      if (collective.exec_us[r] == kNoExec && newest[r] <= key.second)
        return false;
    return true;
  });
  std::erase_if(groups_, [&](const auto& item) {
    return item.second.newest_window + kForgetWindows < window;
  });
  count_groups();
}

void LogWatch::judge_still(std::int64_t now_ns, std::int64_t still_ns, std::vector<Alarm>& alarms) {
  const std::vector<std::int64_t> ranks = ranks_of_processes();
  std::vector<std::int64_t> still;
  std::int64_t longest = 0;
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    const auto behind_ns = reached_.behind_ns(processes_[p].newest_window, now_ns);
    if (!behind_ns || std::min(*behind_ns, now_ns - processes_[p].heard_ns) < still_ns)
      continue;
    still.push_back(ranks[p]);
    longest = std::max(longest, *behind_ns);
  }
  std::sort(still.begin(), still.end());
  if (std::optional<Alarm> alarm =
          judge_.judge_still(still, fmt::format("most of the {} logs continued {} s ago",
                                                processes_.size(), longest / 1'000'000'000)))
    alarms.push_back(std::move(*alarm));
}

/// Returns the ranks in the largest communicator if all processes share it and have distinct ranks;
/// else the process numbers in order of appearance.
std::vector<std::int64_t> LogWatch::ranks_of_processes() const {
  std::vector<std::int64_t> out;
  std::set<std::int64_t> ranks;
  bool shared = true;
  for (const LogProcess& p : processes_) {
    out.push_back(p.rank);
    shared =
        shared && p.rank >= 0 && p.comm == processes_.front().comm && ranks.insert(p.rank).second;
  }
  if (!shared)
    std::iota(out.begin(), out.end(), 0);
  return out;
}

// NOLINTNEXTLINE(readability-function-cognitive-complexity): a list of checks, one behind the other
std::string LogWatch::problem() const {
  constexpr std::int64_t kLatest = std::int64_t{1} << 40; // 35,000 years of one-second windows
  if (window_us_ < kLeastWindowUs || window_us_ > kMostWindowUs || next_window_ < 0 ||
      next_window_ > kLatest || !reached_.sound())
    return "logs whose windows do not fit";
  for (const LogProcess& p : processes_)
    if (p.newest_window > kLatest || p.heard_ns < 0)
      return "a window that no log has";
  for (const auto& [comm, group] : groups_) {
    for (const std::uint32_t process : group.processes)
      if (process > processes_.size())
        return "a log that is not there";
    for (const auto& [what, newest] : group.newest)
      if (newest.size() != group.processes.size())
        return "ranks that do not fit";
  }
  for (const auto& [key, collective] : waiting_) {
    const auto group = groups_.find(key.first.first);
    if (group == groups_.end() || group->second.newest.count(key.first.second) == 0 ||
        collective.exec_us.size() != group->second.processes.size() ||
        collective.present >= collective.exec_us.size() || collective.last_us < 0)
      return "a collective that does not fit";
    std::size_t present = 0;
    for (std::size_t r = 0; r < collective.exec_us.size(); ++r) {
      present += collective.exec_us[r] != kNoExec ? 1 : 0;
      if (collective.exec_us[r] != kNoExec && group->second.processes[r] == 0)
        return "a rank without a log";
    }
    if (present != collective.present)
      return "ranks that do not fit";
  }
  for (const auto& [number, window] : windows_) {
    if (number < 0 || number > kLatest)
      return "a window that no log has";
    for (const auto& [process, records] : window.records)
      if (process >= processes_.size())
        return "records that do not fit";
    for (const auto& [process, slots] : window.late_us)
      if (process >= processes_.size() || slots.size() != kSlots)
        return "lateness that does not fit";
    for (const auto& [what, slots] : window.bus_gbps)
      if (slots.size() != kSlots)
        return "bandwidth that does not fit";
  }
  return {};
}

} // namespace rankscope
