// A report as one Markdown file: a heading and a table for each sheet.
#include "os/output_file.h"
#include "writers/markdown.h"
#include "writers/writer.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

Result<void> write(const Report& report, const std::string& path) {
  RS_TRY(auto file, OutputFile::create(path));
  bool first = true;
  for (const Table& table : report.tables) {
    file.write(fmt::format("{}## {}\n\n{}", first ? "" : "\n", markdown_escaped(table.name()),
                           markdown_table(table)));
    for (const std::string& note : table.notes)
      file.write(fmt::format("\n{}\n", markdown_escaped(note)));
    first = false;
  }
  return file.commit();
}

} // namespace

const Writer markdown_writer{"markdown", ".md", "one Markdown file with all tables", write};

} // namespace rankscope
