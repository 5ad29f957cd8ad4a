#include "collect/nccl_log.h"

#include "collect/library_trace/log_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>

namespace rankscope {
namespace {

constexpr std::size_t kNcclLogLongestLine =
    4096; ///< the library writes no longer lines; longer lines are from the workload
constexpr std::size_t kMostWarnings = 8;

std::optional<std::int64_t> number_at(std::string_view text) {
  std::int64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc())
    return std::nullopt;
  return value;
}

/// Returns the number whose digits end before `end`.
std::optional<std::int64_t> number_before(std::string_view text, std::size_t end) {
  std::size_t from = end;
  while (from > 0 && text[from - 1] >= '0' && text[from - 1] <= '9')
    --from;
  return number_at(text.substr(from, end - from));
}

/// Returns the first word.
std::string_view word_of(std::string_view text) {
  return text.substr(0, text.find_first_of(" \t\r"));
}

} // namespace

void NcclFacts::read_line(std::string_view line, const std::string& source) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
    line.remove_suffix(1);
  for (const std::string_view name : {"RCCL", "NCCL"}) // "RCCL version 2.22.3-develop:abc"
    for (const std::string_view between : {" version ", " version : "}) {
      const std::string key = fmt::format("{}{}", name, between);
      const std::size_t at = line.find(key);
      if (at == std::string_view::npos || at + key.size() >= line.size() ||
          line[at + key.size()] < '0' || line[at + key.size()] > '9')
        continue;
      found = true;
      if (library.empty() || name == "RCCL") {
        library = name;
        version = word_of(line.substr(at + key.size()));
      }
      return;
    }
  if (const std::size_t at = line.find("NCCL WARN "); at != std::string_view::npos) {
    found = true;
    std::string text(line.substr(at + 10));
    if (warnings.size() < kMostWarnings && std::ranges::find(warnings, text) == warnings.end())
      warnings.push_back(std::move(text));
    return;
  }
  const std::size_t info = line.find("NCCL INFO ");
  if (info == std::string_view::npos)
    return;
  found = true;
  const std::string_view text = line.substr(info + 10);
  constexpr std::string_view kSet = " set by environment to ";
  if (const std::size_t at = text.find(kSet); at != std::string_view::npos) {
    std::string_view value = text.substr(at + kSet.size());
    if (value.ends_with('.'))
      value.remove_suffix(1);
    const std::string_view process = nccl_process(line.substr(0, info));
    environment[std::string(text.substr(0, at))][std::string(value)].insert(
        process.empty() ? source : std::string(process));
  } else if (const std::size_t coll = text.find(" coll channels"); coll != std::string_view::npos) {
    if (const auto n = number_before(text, coll)) {
      channels = std::min(channels.value_or(*n), *n);
      most_channels = std::max(most_channels.value_or(*n), *n);
    }
  }
  if (const std::size_t at = text.find(" nranks "); at != std::string_view::npos)
    ranks = std::max(ranks, number_at(text.substr(at + 8)).value_or(0));
}

void NcclFacts::read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string source = std::filesystem::path(path).filename().string();
  std::array<char, kNcclLogLongestLine> buffer;
  bool within = false; // inside a line that is too long
  while (in.getline(buffer.data(), buffer.size()) || in.gcount() > 0) {
    const bool cut = in.fail() && !in.eof();
    if (cut)
      in.clear();
    if (!within)
      read_line({buffer.data()}, source);
    within = cut;
  }
}

SettingCheck check_setting(const NcclFacts& seen, const SweepSetting& setting) {
  SettingCheck out;
  bool asked = false;
  for (const auto& [parameter, changes] : setting.environment)
    for (const auto& change : changes)
      asked = asked || change.first.find("NCCL_") != std::string::npos ||
              change.first.find("RCCL_") != std::string::npos;
  if (!asked)
    return out;
  if (!seen.found) {
    out.silent = true;
    return out;
  }
  using Kind = SettingCheck::Kind;
  std::set<std::string> all;
  for (const auto& [name, values] : seen.environment)
    for (const auto& [value, processes] : values)
      all.insert(processes.begin(), processes.end());
  for (const auto& [parameter, changes] : setting.environment) {
    std::vector<std::string> names;
    std::set<std::string> unread = all; // processes that read no variable of the parameter
    for (const auto& [name, requested] : changes) {
      if (name.find("CCL_") == std::string::npos)
        continue;
      names.push_back(name);
      const auto at = seen.environment.find(name);
      if (at == seen.environment.end())
        continue;
      for (const auto& [value, processes] : at->second) {
        for (const std::string& process : processes)
          unread.erase(process);
        if (value != requested)
          out.differences.push_back({Kind::kValue, name, requested, value, processes, all.size()});
      }
    }
    if (!names.empty() && !unread.empty())
      out.differences.push_back(
          {Kind::kUnread, fmt::format("{}", fmt::join(names, ", ")),
           fmt::format("{} {}", parameter, *setting.configuration.text(parameter)), "", unread,
           all.size()});
  }
  const auto wanted = setting.configuration.channels();
  if (wanted && seen.channels && (*seen.channels != *wanted || *seen.most_channels != *wanted))
    out.differences.push_back({Kind::kChannelCount,
                               "channels",
                               std::to_string(*wanted),
                               *seen.channels == *seen.most_channels
                                   ? std::to_string(*seen.channels)
                                   : fmt::format("{} to {}", *seen.channels, *seen.most_channels),
                               {},
                               0});
  out.warnings = seen.warnings;
  return out;
}

} // namespace rankscope
