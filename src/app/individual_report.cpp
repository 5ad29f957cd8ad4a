#include "app/individual_report.h"

#include "writers/writer.h"

namespace rankscope {

Result<void> write_individual_report(const LoadedTrace& trace, const ReportOptions& options,
                                     const std::string& path) {
  RS_TRY(const Report report, build_report(trace, options));
  return find_writer("xlsx_plain")->write(report, path);
}

} // namespace rankscope
