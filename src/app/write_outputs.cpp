#include "app/write_outputs.h"

#include "writers/writer.h"

namespace rankscope {

Result<std::vector<std::string>> write_outputs(const Report& report, const ReportOutputs& outputs) {
  std::vector<std::string> written;
  if (!outputs.csv_dir.empty()) {
    RS_CHECK(find_writer("csv")->write(report, outputs.csv_dir));
    written.push_back(outputs.csv_dir);
  }
  if (!outputs.file.empty()) {
    const bool json = outputs.format.empty() && std::string_view(outputs.file).ends_with(".json") &&
                      outputs.file.size() > 5;
    const std::string format = json ? "json" : outputs.format.empty() ? "xlsx" : outputs.format;
    RS_CHECK(find_writer(format)->write(report, outputs.file));
    written.push_back(outputs.file);
  }
  return written;
}

} // namespace rankscope
