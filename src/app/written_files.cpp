#include "app/written_files.h"

#include <utility>

namespace rankscope {

Report written_files(const std::string& title, const std::vector<std::string>& files) {
  Report report;
  report.title = title;
  Table table("files", {"file"});
  for (const std::string& file : files)
    table.add_row({Value(file)});
  report.tables.push_back(std::move(table));
  return report;
}

} // namespace rankscope
