#include "cli/batch_lines.h"

#include <fmt/format.h>
#include <map>
#include <string_view>
#include <utility>

namespace rankscope {

std::vector<std::string> shared_lines(const std::vector<BatchReport>& reports,
                                      std::vector<std::string> BatchReport::*lines) {
  std::vector<std::pair<std::string, std::vector<std::string>>> folders_by_line;
  std::map<std::string_view, std::size_t> places; // index of each line in the list
  for (const BatchReport& report : reports)
    for (const std::string& line : report.*lines) {
      const auto [place, fresh] = places.emplace(line, folders_by_line.size());
      if (fresh)
        folders_by_line.push_back({line, {}});
      std::vector<std::string>& folders = folders_by_line[place->second].second;
      if (folders.empty() || folders.back() != report.folder)
        folders.push_back(report.folder);
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
