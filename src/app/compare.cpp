#include "app/compare.h"

#include "analyses/compare/compare_tables.h"
#include "app/compare_load.h"
#include "os/output_file.h"
#include "pages/compare_page.h"
#include "writers/markdown.h"
#include "writers/writer.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <set>

namespace rankscope {
namespace {

/// The dashboard's row of a metric, by its name with or without GPU_, NCCL_ and _time.
const DashboardRow* metric_row(const Dashboard& dashboard, const std::string& name) {
  for (const char* before : {"", "GPU_", "NCCL_"})
    for (const char* after : {"", "_time"})
      for (const DashboardRow& row : dashboard.rows)
        if (row.metric == before + name + after)
          return &row;
  return nullptr;
}

std::string verdict_markdown(const Table& dashboard, const std::vector<std::string>& regressions,
                             bool gated) {
  std::string out = "## Performance comparison\n\n";
  out += markdown_table(dashboard) + "\n";
  for (const std::string& note : dashboard.notes)
    out += "- " + markdown_escaped(note) + "\n";
  if (gated)
    out += regressions.empty() ? "\n**No condition of `--fail-on` holds.**\n" : "";
  for (const std::string& r : regressions)
    out += fmt::format("\n**Regression: {}**\n", markdown_escaped(r));
  return out;
}

/// Writes workbooks into the output folder and remembers them.
class Workbooks {
public:
  Workbooks(std::string folder, std::vector<std::string>& written)
      : folder_(std::move(folder)), written_(written) {}

  Result<void> write(const Report& report, const std::string& name) {
    if (report.tables.empty())
      return {};
    const std::string path = folder_ + "/" + name;
    RS_CHECK(find_writer("xlsx")->write(report, path));
    written_.push_back(path);
    return {};
  }

private:
  std::string folder_;
  std::vector<std::string>& written_;
};

void add_styled(Report& report, Table table, const std::string& after) {
  if (table.rows() == 0)
    return;
  table.styled = true;
  table.set_name(table.name() + after);
  report.tables.push_back(std::move(table));
}

Result<void> write_timelines(const Comparison& comparison, const CompareRequest& request,
                             Workbooks& out) {
  for (const ComparedRun* run : runs_of(comparison)) {
    Report report;
    report.title = run->label;
    report.tables = timeline_summary_tables({run}, request.geomean, false);
    RS_CHECK(make_folder(request.output + "/" + run->label));
    RS_CHECK(out.write(report, fmt::format("{}/gpu_timeline_summary_{}.xlsx", run->label,
                                           request.geomean ? "geomean" : "mean")));
  }
  Report combined;
  combined.tables = timeline_summary_tables(runs_of(comparison), request.geomean, true);
  RS_CHECK(out.write(combined, "gpu_timeline_combined.xlsx"));
  for (std::size_t i = 0; i < comparison.tests.size(); ++i) {
    add_styled(combined, timeline_by_rank_table(comparison, i), sheet_suffix(comparison, i));
    add_styled(combined, timeline_mean_table(comparison, i), sheet_suffix(comparison, i));
  }
  return out.write(combined, "gpu_timeline_comparison.xlsx");
}

Result<void> write_collectives(const Session& session, const Comparison& comparison,
                               Workbooks& out) {
  Report combined;
  combined.tables = collective_summary_tables(runs_of(comparison));
  RS_CHECK(out.write(combined, "collective_combined.xlsx"));
  for (std::size_t i = 0; i < comparison.tests.size(); ++i) {
    add_styled(combined, collectives_cmp_table(comparison, i), sheet_suffix(comparison, i));
    add_styled(combined, rank_collectives_cmp_table(comparison, i), sheet_suffix(comparison, i));
  }
  if (combined.tables.empty())
    session.note("no collectives on either side: no collective comparison");
  return out.write(combined, "collective_comparison.xlsx");
}

Result<Comparison> load_all(Session& session, const CompareRequest& request) {
  std::vector<ComparedRun> runs;
  for (std::size_t i = 0; i < request.folders.size(); ++i) {
    CompareInput input;
    input.folder = request.folders[i];
    input.label = request.labels[i];
    input.out = request.output + "/" + request.labels[i];
    input.discover = request.discover;
    input.reports_only = request.reports_only;
    input.individual = request.individual;
    input.collective = request.collective;
    RS_TRY(ComparedRun loaded, load_compared_run(session, input));
    session.note(fmt::format("{}: {} ranks", request.labels[i], loaded.ranks.size()));
    runs.push_back(std::move(loaded));
  }
  ComparedRun base = std::move(runs.front());
  runs.erase(runs.begin());
  return compare_runs(std::move(base), std::move(runs), request.threshold_percent);
}

} // namespace

Result<FailCondition> parse_fail_condition(const std::string& text) {
  FailCondition c;
  c.text = text;
  const std::size_t at = text.find('>');
  char* end = nullptr;
  if (at != std::string::npos && at > 0)
    c.percent = std::strtod(text.c_str() + at + 1, &end);
  if (end == nullptr || end == text.c_str() + at + 1 || std::string_view(end) != "%")
    return Error{ErrorCode::kUsage, "", "--fail-on '" + text + "' is no condition",
                 "write it as 'total_time>2%'"};
  c.metric = text.substr(0, at);
  return c;
}

std::vector<std::string> folder_names(const std::vector<std::string>& folders) {
  std::vector<std::string> out;
  for (const std::string& folder : folders) {
    const std::filesystem::path p = std::filesystem::absolute(folder).lexically_normal();
    out.push_back((p.has_filename() ? p : p.parent_path()).filename().string());
  }
  return out;
}

std::vector<std::string> distinct_labels(std::vector<std::string> labels) {
  std::set<std::string> used;
  for (std::string& label : labels) {
    for (char& c : label) // it names a folder
      if (c == '/' || static_cast<unsigned char>(c) < 0x20)
        c = '_';
    const std::string name = label;
    for (int n = 2; !used.insert(label).second; ++n)
      label = fmt::format("{}_{}", name, n);
  }
  return labels;
}

Result<std::vector<std::string>> regressions_of(const Comparison& comparison,
                                                const std::vector<FailCondition>& conditions) {
  std::vector<std::string> out;
  for (const FailCondition& c : conditions) {
    const DashboardRow* row = metric_row(comparison.dashboard, c.metric);
    if (row == nullptr)
      return Error{ErrorCode::kUsage, "", "--fail-on: no metric named " + c.metric,
                   "the dashboard lists them, for example total_time, exposed_comm"};
    for (std::size_t i = 0; i < comparison.tests.size(); ++i) {
      if (!row->tests[i] || !row->tests[i]->value)
        continue;
      const DashboardCell& cell = *row->tests[i];
      const bool appeared = !cell.improvement && *cell.value > 0;
      const bool grew = cell.improvement && -*cell.improvement > c.percent;
      if (appeared || (grew && (!cell.high || *cell.high < 0)))
        out.push_back(fmt::format("{}: {} ({:.3f} {} against {:.3f})", comparison.tests[i].label,
                                  c.text, *cell.value, row->unit, row->base.value_or(0)));
    }
  }
  return out;
}

Result<CompareResult> compare_folders(Session& session, const CompareRequest& request) {
  RS_CHECK(make_folder(request.output));
  std::optional<OutputFile> markdown;
  if (!request.markdown.empty()) {
    RS_TRY(auto file, OutputFile::create(request.markdown));
    markdown.emplace(std::move(file));
  }
  CompareResult out;
  RS_TRY(out.comparison, load_all(session, request));
  Workbooks workbooks(request.output, out.written);
  if (request.timeline_workbooks)
    RS_CHECK(write_timelines(out.comparison, request, workbooks));
  if (request.collective_workbooks)
    RS_CHECK(write_collectives(session, out.comparison, workbooks));
  out.final = final_report(out.comparison);
  if (request.final_workbook)
    RS_CHECK(workbooks.write(out.final, "final_analysis_report.xlsx"));
  if (request.page) {
    if (Result<void> drawn = write_compare_page(out.comparison, request.output, request.svg);
        drawn) {
      out.written.push_back(request.output + "/performance_analysis_report.html");
    } else if (drawn.error().code == ErrorCode::kMissingTool) {
      session.warn(drawn.error().message());
      session.partial = true;
    } else {
      return drawn.error();
    }
  }
  RS_TRY(out.regressions, regressions_of(out.comparison, request.fail_on));
  if (markdown) {
    markdown->write(verdict_markdown(dashboard_table(out.comparison), out.regressions,
                                     !request.fail_on.empty()));
    RS_CHECK(markdown->commit());
    out.written.push_back(request.markdown);
  }
  return out;
}

} // namespace rankscope
