// Writes the names of a report's tables, one per line.
#include "os/output_file.h"
#include "writers/writer.h"

namespace rankscope {
namespace {

Result<void> write(const Report& report, const std::string& path) {
  RS_TRY(OutputFile file, OutputFile::create(path));
  for (const Table& table : report.tables)
    file.write(table.name() + "\n");
  return file.commit();
}

} // namespace

const Writer toy_writer{"toy", ".toy", "names of tables", write};

} // namespace rankscope
