#include "app/written_files.h"

#include <filesystem>
#include <utility>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Returns the kind of a path: "folder", "xlsx", "json.gz"; "" for a name without an ending.
std::string kind_of(const std::string& path) {
  std::error_code ec;
  if (fs::is_directory(path, ec))
    return "folder";
  const fs::path name = fs::path(path).filename();
  std::string last = name.extension().string();
  if (last == ".gz" || last == ".zst")
    last = name.stem().extension().string() + last;
  return last.empty() ? "" : last.substr(1);
}

Value bytes_of(const std::string& path) {
  std::error_code ec;
  if (!fs::is_regular_file(path, ec))
    return {};
  const auto bytes = fs::file_size(path, ec);
  return ec ? Value() : Value(static_cast<std::uint64_t>(bytes));
}

} // namespace

Report written_files(const std::string& title, const std::vector<std::string>& files) {
  Report report;
  report.title = title;
  Table table("files", {"file", "kind", Column("bytes", Unit::kBytes)});
  for (const std::string& file : files) {
    const std::string kind = kind_of(file);
    table.add_row({Value(file), text_or_blank(kind), bytes_of(file)});
  }
  report.tables.push_back(std::move(table));
  return report;
}

} // namespace rankscope
