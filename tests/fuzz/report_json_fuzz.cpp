// A report as JSON; what is read can be compared.
#include "analyses/compare/compare_reports.h"
#include "fuzz/fuzz_target.h"
#include "readers/reports/report_tables.h"
#include "temp_folder.h"

RS_FUZZ_TARGET(report_json) {
  static const rankscope::test::TempFolder folder;
  const auto report = rankscope::read_report_json(folder.write("r.json", std::string(bytes)));
  if (report.has_value())
    (void)rankscope::compare_reports({*report, *report}, {"a", "b"}, {});
}
