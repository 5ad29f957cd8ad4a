#include "analyses/watch/watch_logs.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <numeric>

namespace rankscope {
namespace {

/// Maximum numbers of cells: one per rank and call for all communicators, one per rank for waiting
/// collectives.
constexpr std::size_t kMostGroupCells = std::size_t{1} << 24;
constexpr std::size_t kMostWaitingCells = std::size_t{1} << 22;
constexpr std::size_t kMostCalls = 32;   ///< maximum number of call names per communicator
constexpr std::size_t kMostKinds = 4096; ///< maximum number of (group, call, size) per window

/// Returns true for synchronizing collectives: no rank leaves before all ranks have entered.
bool synchronises_watch_logs(std::string_view what) {
  std::string lower;
  for (const char c : what)
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower.starts_with("all") || lower == "reducescatter";
}

std::size_t cells_of(const LogGroup& group) {
  return group.processes.size() * (1 + group.newest.size());
}

void add(std::vector<LogSlot>& slots, std::size_t slot, double value) {
  slots.resize(LogWatch::kSlots);
  slots[slot].sum += value;
  ++slots[slot].n;
}

} // namespace

std::string group_text(const std::string& comm, const std::string& name) {
  return name.empty() ? comm : name + " " + comm;
}

bool LogWatch::knows(std::string_view name) const {
  return std::ranges::any_of(processes_, [name](const LogProcess& p) { return p.name == name; });
}

std::uint32_t LogWatch::process(std::string_view name) {
  const auto at = std::ranges::find(processes_, name, &LogProcess::name);
  if (at != processes_.end())
    return static_cast<std::uint32_t>(at - processes_.begin());
  LogProcess fresh;
  fresh.name = name;
  processes_.push_back(std::move(fresh));
  return static_cast<std::uint32_t>(processes_.size() - 1);
}

void LogWatch::count_groups() {
  group_cells_ = 0;
  for (const auto& [comm, group] : groups_)
    group_cells_ += cells_of(group);
}

void LogWatch::give_up_group(const std::string& comm) {
  const auto first = waiting_.lower_bound(Key{{comm, ""}, 0});
  auto last = first;
  for (; last != waiting_.end() && last->first.first.first == comm; ++last) {
    ++incomplete_;
    waiting_cells_ -= last->second.exec_us.size();
  }
  waiting_.erase(first, last);
}

/// Returns the communicator, or a new one if it is unknown or has a different number of ranks;
/// nullptr beyond the limits.
LogGroup* LogWatch::group_of(const InspectorRecord& record) {
  const InspectorHeader& header = record.header;
  const auto n = static_cast<std::size_t>(header.n_ranks);
  const auto at = groups_.find(header.comm);
  if (at != groups_.end() && at->second.processes.size() == n) {
    if (at->second.newest.count(record.what) > 0)
      return &at->second;
    if (at->second.newest.size() >= kMostCalls || group_cells_ + n > kMostGroupCells)
      return nullptr;
    at->second.newest[record.what].resize(n);
    group_cells_ += n;
    return &at->second;
  }
  if (group_cells_ + 2 * n > kMostGroupCells)
    return nullptr;
  LogGroup fresh; // the same hash with a different number of ranks means another communicator
  fresh.name = header.name;
  fresh.processes.resize(n);
  fresh.newest[record.what].resize(n);
  give_up_group(header.comm);
  if (at != groups_.end())
    group_cells_ -= cells_of(at->second);
  group_cells_ += cells_of(fresh);
  return &(groups_[header.comm] = std::move(fresh));
}

bool LogWatch::is_new(LogGroup& group, const InspectorRecord& record, bool awaited) {
  std::uint64_t& newest = group.newest[record.what][static_cast<std::size_t>(record.header.rank)];
  if (record.number >= newest) {
    newest = record.number + 1;
    return true;
  }
  if (awaited)
    return true; // the record is only out of order
  // small numbers are from another communicator with the same hash; other numbers are repeated
  // records
  if (record.number > 1 && record.number >= newest / 2)
    return false;
  newest = record.number + 1;
  return true;
}

LogCollective& LogWatch::waiting(const Key& key, const InspectorRecord& record) {
  const auto at = waiting_.find(key);
  if (at != waiting_.end())
    return at->second;
  waiting_cells_ += static_cast<std::size_t>(record.header.n_ranks);
  if (waiting_cells_ > kMostWaitingCells)
    evict();
  LogCollective& out = waiting_[key];
  out.bytes = record.bytes;
  out.exec_us.assign(static_cast<std::size_t>(record.header.n_ranks), kNoExec);
  return out;
}

/// Gives up the older half of the waiting collectives at once, so that evictions are rare.
void LogWatch::evict() {
  std::vector<std::int64_t> times;
  for (const auto& [key, collective] : waiting_)
    times.push_back(collective.last_us);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  if (!times.empty()) {
    std::nth_element(times.begin(), middle, times.end());
    give_up([middle](const Key&, const LogCollective& c) { return c.last_us <= *middle; });
  }
}

void LogWatch::count_waiting() {
  waiting_cells_ = 0;
  for (const auto& [key, collective] : waiting_)
    waiting_cells_ += collective.exec_us.size();
}

void LogWatch::take(std::uint32_t process, const InspectorRecord& record) {
  ++records_;
  const InspectorHeader& header = record.header;
  LogProcess& from = processes_[process];
  const std::int64_t window = header.written_us / window_us_;
  from.newest_window = std::max(from.newest_window, window);
  std::size_t slot = 0;
  ++window_at(header.written_us, slot).records[process];
  if (header.n_ranks > from.n_ranks) {
    from.comm = header.comm;
    from.rank = header.rank;
    from.n_ranks = header.n_ranks;
  }
  LogGroup* const group = group_of(record);
  if (group == nullptr)
    return;
  const auto rank = static_cast<std::size_t>(header.rank);
  group->processes[rank] = process + 1;
  group->newest_window = std::max(group->newest_window, window);
  const Key key{{header.comm, record.what}, record.number};
  const auto there = waiting_.find(key);
  const bool awaited = there != waiting_.end() && there->second.exec_us[rank] == kNoExec;
  if (!is_new(*group, record, awaited))
    return;
  LogCollective& collective = waiting(key, record);
  if (collective.exec_us[rank] != kNoExec)
    return;
  collective.exec_us[rank] = record.exec_us;
  collective.bus_gbps = std::max(collective.bus_gbps, record.bus_gbps);
  collective.last_us = std::max(collective.last_us, header.written_us);
  collective.timed = collective.timed && record.kernel_timed;
  if (++collective.present < collective.exec_us.size())
    return;
  fold(key, collective, *group);
  waiting_cells_ -= collective.exec_us.size();
  waiting_.erase(key);
}

void LogWatch::hear(std::uint32_t process, std::int64_t works_us, std::int64_t now_ns) {
  LogProcess& from = processes_[process];
  from.newest_window = std::max(from.newest_window, works_us / window_us_);
  from.heard_ns = std::max(from.heard_ns, now_ns);
}

LogWindow& LogWatch::window_at(std::int64_t us, std::size_t& slot) {
  const std::int64_t number = us / window_us_;
  slot = static_cast<std::size_t>(us % window_us_) * kSlots / static_cast<std::size_t>(window_us_);
  if (number < next_window_)
    slot = 0; // a late record: it counts in the next window
  return windows_[std::max(number, next_window_)];
}

void LogWatch::fold(const Key& key, const LogCollective& collective, const LogGroup& group) {
  std::size_t slot = 0;
  LogWindow& window = window_at(collective.last_us, slot);
  const auto& [comm, call] = key.first;
  if (collective.bus_gbps > 0) {
    const std::string what = fmt::format("{} of {} bytes, group {}", call, collective.bytes,
                                         group_text(comm, group.name));
    if (window.bus_gbps.size() < kMostKinds || window.bus_gbps.count(what) > 0)
      add(window.bus_gbps[what], slot, collective.bus_gbps);
    const double transfer_us = std::max(1U, *std::ranges::min_element(collective.exec_us));
    window.transfer_us += transfer_us;
    window.gbps_transfer_us += collective.bus_gbps * transfer_us;
  }
  const std::size_t n = collective.exec_us.size();
  if (n < 2 || !collective.timed || !synchronises_watch_logs(call))
    return;
  // all ranks leave together, so a rank that enters later has a shorter duration
  const double all = std::accumulate(collective.exec_us.begin(), collective.exec_us.end(), 0.0);
  for (std::size_t r = 0; r < n; ++r) {
    const double exec_us = collective.exec_us[r];
    add(window.late_us[group.processes[r] - 1], slot,
        (all - exec_us) / static_cast<double>(n - 1) - exec_us);
  }
}

} // namespace rankscope
