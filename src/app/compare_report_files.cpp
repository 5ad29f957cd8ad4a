#include "app/compare_report_files.h"

#include "app/compare_reports_input.h"
#include "findings/comparison_findings.h"
#include "readers/reports/report_tables.h"

#include <filesystem>

namespace rankscope {
namespace {

/// Returns the file stem; for a folder the full name, because a dot in it does not begin an
/// extension.
std::string tag_of(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path p = fs::path(path).lexically_normal();
  const fs::path leaf = p.has_filename() ? p : p.parent_path();
  std::error_code code;
  return fs::is_directory(leaf, code) ? leaf.filename().string() : leaf.stem().string();
}

} // namespace

Result<ComparedReports> compare_report_files(Session& session,
                                             const CompareReportsRequest& request) {
  RS_CHECK(check_outputs(request.outputs,
                         request.options.sheets.size() == 1 ? Sheets::kUnknown : Sheets::kSeveral));
  std::vector<std::string> tags = request.names;
  if (tags.empty())
    for (const std::string& path : request.reports)
      tags.push_back(tag_of(path));
  std::vector<Report> reports;
  for (const std::string& path : request.reports) {
    RS_TRY(Report report, read_report_tables(path));
    session.diagnostics.merge(report.diagnostics);
    reports.push_back(std::move(report));
  }
  ComparedReports out;
  RS_TRY(out.report, compare_reports(reports, tags, request.options));
  const OperatorTimes base = operators_of_report(reports.front());
  for (std::size_t i = 1; i < reports.size(); ++i)
    if (const auto overlap = workload_overlap(base, operators_of_report(reports[i]));
        overlap && overlap->differs())
      out.notes.push_back(different_workload(*overlap, tags.front(), tags[i]));
  session.diagnostics.merge(out.report.diagnostics);
  ReportOutputs outputs = request.outputs;
  if (!request.only_asked && outputs.file.empty() && outputs.csv_dir.empty())
    outputs.file = "comparison.xlsx";
  RS_TRY(out.written, write_outputs(out.report, outputs));
  return out;
}

} // namespace rankscope
