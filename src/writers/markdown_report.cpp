// Writes a report as one Markdown file, with a heading and a table per sheet.
#include "os/output_file.h"
#include "writers/markdown.h"
#include "writers/writer.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr std::size_t kMostRows = 100; ///< maximum number of rows per table, because people read
                                       ///< this page

/// Returns the table with its first rows only, and the number of omitted rows.
std::string capped_table(const Table& table) {
  if (table.rows() <= kMostRows)
    return markdown_table(table);
  Table first(table.name(), table.columns());
  for (std::size_t r = 0; r < kMostRows; ++r) {
    std::vector<Value> cells;
    for (std::size_t c = 0; c < table.cols(); ++c)
      cells.push_back(table.at(r, c));
    first.add_row(std::move(cells));
  }
  return fmt::format("{}\n{} more rows: use -o FILE.xlsx, .csv or .json for all rows\n",
                     markdown_table(first), table.rows() - kMostRows);
}

Result<void> write_markdown_report(const Report& report, const std::string& path) {
  RS_TRY(auto file, OutputFile::create(path));
  bool first = true;
  for (const Table& table : report.tables) {
    file.write(fmt::format("{}## {}\n\n{}", first ? "" : "\n", markdown_escaped(table.name()),
                           capped_table(table)));
    for (const std::string& note : table.notes)
      file.write(fmt::format("\n{}\n", markdown_escaped(note)));
    first = false;
  }
  return file.commit();
}

} // namespace

const Writer markdown_writer{"markdown", ".md", "one Markdown file with all tables",
                             write_markdown_report};

} // namespace rankscope
