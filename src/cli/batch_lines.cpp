#include "cli/batch_lines.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace rankscope {

std::vector<std::string> shared_lines(const std::vector<BatchReport>& reports,
                                      std::vector<std::string> BatchReport::*lines) {
  std::vector<std::pair<std::string, std::vector<std::string>>> folders_by_line;
  for (const BatchReport& report : reports)
    for (const std::string& line : report.*lines) {
      auto known = std::find_if(folders_by_line.begin(), folders_by_line.end(),
                                [&line](const auto& entry) { return entry.first == line; });
      if (known == folders_by_line.end())
        known = folders_by_line.insert(known, {line, {}});
      if (known->second.empty() || known->second.back() != report.folder)
        known->second.push_back(report.folder);
    }
  std::vector<std::string> out;
  for (const auto& [line, folders] : folders_by_line) {
    const std::size_t n = folders.size();
    out.push_back(reports.size() == 1 ? line
                  : n == 1            ? folders.front() + ": " + line
                  : n == reports.size()
                      ? fmt::format("all {} folders: {}", n, line)
                      : fmt::format("{} of {} folders: {}", n, reports.size(), line));
  }
  return out;
}

} // namespace rankscope
