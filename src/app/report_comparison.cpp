#include "app/report_comparison.h"

#include "analyses/compare/compare_reports.h"

#include <filesystem>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Returns the file names without folder; "first" and "other" if the names are equal.
std::vector<std::string> tags_of(const ReportRequest& request) {
  std::vector<std::string> out = {fs::path(request.trace).filename().string(),
                                  fs::path(request.comparison).filename().string()};
  if (out[0] == out[1] || out[1].empty())
    out = {"first", "other"};
  return out;
}

} // namespace

Result<void> check_comparison(const ReportRequest& request) {
  if (request.comparison.empty() && !request.comparison_captures.empty())
    return Error{ErrorCode::kUsage, "--comparison-capture-folder", "needs a second trace",
                 "add --comparison-json-path TRACE"};
  if (request.comparison == "-")
    return Error{ErrorCode::kUsage, "--comparison-json-path", "expected a file, not standard input",
                 ""};
  return {};
}

Result<void> write_report_comparison(Session& session, const ReportRequest& request,
                                     TraceReport& current) {
  ReportRequest other = request;
  other.trace = request.comparison;
  other.capture_folder = request.comparison_captures;
  other.outputs = {};
  other.only_asked = true;
  other.top = false;
  other.power.clear();
  RS_TRY(TraceReport second, report_trace(session, other));
  Report first;
  for (const Table& table : current.report.tables)
    first.tables.push_back(table);
  RS_TRY(const Report both,
         compare_reports({std::move(first), std::move(second.report)}, tags_of(request),
                         {{}, request.options.compat_tracelens}));
  ReportOutputs to;
  for (const auto& [path, sheets] : current.written)
    if (fs::path(path).has_extension() && to.file.empty() && path != request.outputs.csv_dir) {
      const fs::path file(path);
      to.file =
          (file.parent_path() / (file.stem().string() + "_comparison" + file.extension().string()))
              .string();
    }
  if (!request.outputs.csv_dir.empty())
    to.csv_dir = request.outputs.csv_dir + "/comparison";
  session.diagnostics.merge(both.diagnostics);
  return write_counted(both, to, current.written);
}

} // namespace rankscope
