#include "readers/trace_windows.h"

#include "base/counters.h"
#include "base/number_text.h"
#include "base/to_number.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <regex>
#include <set>

namespace rankscope {
namespace {

/// Removes the first match from `name`. Returns the number in the first group of the match.
std::optional<std::int64_t> take_number(std::string& name, const std::regex& pattern) {
  std::smatch m;
  if (!std::regex_search(name, m, pattern))
    return std::nullopt;
  const std::optional<std::int64_t> number = to_number(m[1].str());
  if (number)
    name = std::string(name.cbegin(), m[1].first) + "#" + std::string(m[1].second, name.cend());
  return number;
}

/// The windows of a rank: trace by step or time, oldest first.
using Windows = std::map<std::int64_t, std::string>;

/// Returns the windows of one rank; nullopt if a name does not contain the number, or a number
/// occurs twice.
std::optional<Windows> windows_by(const std::vector<std::string>& paths,
                                  std::optional<std::int64_t> WindowName::*number) {
  Windows out;
  for (const std::string& path : paths) {
    const std::optional<std::int64_t> value = window_name(path).*number;
    if (!value || !out.emplace(*value, path).second)
      return std::nullopt;
  }
  return out;
}

bool in_one_folder(const std::vector<std::string>& paths) {
  const auto folder = [](const std::string& path) {
    return std::filesystem::path(path).parent_path();
  };
  return std::ranges::all_of(
      paths, [&](const std::string& path) { return folder(path) == folder(paths.front()); });
}

/// Returns the windows of each rank that has several traces; nullopt if `number` does not identify
/// the windows of every such rank.
using RankWindows = std::map<std::int64_t, Windows>;
std::optional<RankWindows> windows_of(const TracesByRank& ranks,
                                      std::optional<std::int64_t> WindowName::*number) {
  RankWindows out;
  for (const auto& [rank, paths] : ranks) {
    if (paths.size() < 2)
      continue;
    if (!in_one_folder(paths))
      return std::nullopt;
    std::optional<Windows> windows = windows_by(paths, number);
    if (!windows)
      return std::nullopt;
    out.emplace(rank, std::move(*windows));
  }
  return out;
}

/// Returns the steps that every rank has. For a rank with one trace, the step in its name is used.
std::set<std::int64_t> common_steps(const TracesByRank& ranks, const RankWindows& windows) {
  std::optional<std::set<std::int64_t>> common;
  for (const auto& [rank, paths] : ranks) {
    std::set<std::int64_t> steps;
    if (const auto at = windows.find(rank); at != windows.end())
      for (const auto& [step, path] : at->second)
        steps.insert(step);
    else if (const auto step = window_name(paths.front()).step)
      steps.insert(*step);
    else
      continue; // the name has no step
    std::set<std::int64_t> both;
    if (common)
      std::set_intersection(common->begin(), common->end(), steps.begin(), steps.end(),
                            std::inserter(both, both.begin()));
    common = common ? std::move(both) : std::move(steps);
  }
  return common.value_or(std::set<std::int64_t>{});
}

/// Returns "steps 12, 24, 36", with at most eight numbers.
std::string listed(const std::set<std::int64_t>& numbers) {
  constexpr std::size_t kNamed = 8;
  std::string out;
  std::size_t n = 0;
  for (const std::int64_t number : numbers) {
    if (n++ == kNamed)
      return fmt::format("{} and {} more", out, numbers.size() - kNamed);
    out += fmt::format("{}{}", out.empty() ? "" : ", ", number);
  }
  return out;
}

Result<void> choose_step(TracesByRank& ranks, const RankWindows& windows,
                         std::optional<std::int64_t> asked, const std::string& folder,
                         Diagnostics& diag) {
  std::set<std::int64_t> all;
  for (const auto& [rank, files] : windows)
    for (const auto& [step, path] : files)
      all.insert(step);
  const std::set<std::int64_t> common = common_steps(ranks, windows);
  if (asked && all.count(*asked) == 0)
    return Error{ErrorCode::kUsage, folder, fmt::format("no rank has a trace of step {}", *asked),
                 fmt::format("the traces have the steps {}", listed(all))};
  if (!asked && common.empty())
    return {}; // there is no window that all ranks have
  const std::int64_t chosen = asked ? *asked : *common.rbegin();
  for (const auto& [rank, files] : windows)
    if (const auto at = files.find(chosen); at != files.end())
      ranks[rank] = {at->second};
    else
      ranks.erase(rank);
  if (!asked)
    diag.add(counters::several_windows(listed(all), chosen), folder);
  return {};
}

Result<void> choose_time(TracesByRank& ranks, const RankWindows& windows,
                         std::optional<std::int64_t> asked, const std::string& folder,
                         Diagnostics& diag) {
  // the clocks of ranks differ, so a window is identified by its position counted from the newest
  // one
  std::ptrdiff_t from_newest = asked ? -1 : 0;
  std::size_t most = 0;
  for (const auto& [rank, files] : windows) {
    most = std::max(most, files.size());
    if (const auto at = asked ? files.find(*asked) : files.end(); at != files.end())
      from_newest = std::distance(at, files.end()) - 1;
  }
  if (from_newest < 0)
    return Error{ErrorCode::kUsage, folder,
                 fmt::format("no rank has a trace of step or time {}", *asked),
                 "the file names contain times, not steps: give one of these times"};
  for (const auto& [rank, files] : windows)
    if (static_cast<std::size_t>(from_newest) < files.size())
      ranks[rank] = {std::prev(files.end(), from_newest + 1)->second};
    else
      ranks.erase(rank);
  if (!asked)
    diag.add(counters::several_times(most), folder);
  return {};
}

} // namespace

WindowName window_name(const std::string& path) {
  static const std::regex kStep(R"([Ss]tep[_\-]?([0-9]+))");
  static const std::regex kTime(R"(\.([0-9]{10,19})\.)");
  WindowName out;
  const std::size_t slash = path.rfind('/');
  const std::size_t from = slash == std::string::npos ? 0 : slash + 1;
  std::string name = path.substr(from);
  out.time = take_number(name, kTime);
  out.step = take_number(name, kStep);
  out.rest = path.substr(0, from) + name;
  return out;
}

Result<void> choose_windows(TracesByRank& ranks, const std::string& asked,
                            const std::string& folder, Diagnostics& diag) {
  std::optional<std::int64_t> number;
  if (!asked.empty()) {
    number = to_number(asked);
    if (!number)
      return Error{ErrorCode::kUsage, "--step", fmt::format("'{}' is not a number", asked), ""};
  }
  if (std::ranges::none_of(ranks, [](const auto& rank) { return rank.second.size() > 1; })) {
    const auto has_number = [&](const auto& rank) {
      const WindowName name = window_name(rank.second.front());
      return name.step == number || name.time == number;
    };
    if (number && std::ranges::none_of(ranks, has_number))
      diag.add(counters::step_not_used(*number), folder);
    return {};
  }
  if (const auto windows = windows_of(ranks, &WindowName::step))
    return choose_step(ranks, *windows, number, folder, diag);
  if (const auto windows = windows_of(ranks, &WindowName::time))
    return choose_time(ranks, *windows, number, folder, diag);
  return {};
}

} // namespace rankscope
