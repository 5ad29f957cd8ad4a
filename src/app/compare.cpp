#include "app/compare.h"

#include "analyses/compare/compare_tables.h"
#include "app/baseline.h"
#include "app/compare_load.h"
#include "app/compare_verdict.h"
#include "base/invariant.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "findings/compose.h"
#include "os/output_file.h"
#include "os/whole_file.h"
#include "pages/compare_page.h"
#include "writers/markdown.h"
#include "writers/writer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>

namespace rankscope {
namespace {

/// Returns whether `name` is the metric's name, with or without GPU_, NCCL_ and _time.
bool names_metric(const std::string& name, const std::string& metric) {
  for (const char* before : {"", "GPU_", "NCCL_"})
    for (const char* after : {"", "_time"})
      if (metric == before + name + after)
        return true;
  return false;
}

const DashboardRow* metric_row(const Dashboard& dashboard, const std::string& name) {
  for (const DashboardRow& row : dashboard.rows)
    if (names_metric(name, row.metric))
      return &row;
  return nullptr;
}

/// Returns the length of the file ending of a saved baseline, which labels leave out; 0 for another
/// file.
std::size_t baseline_ending(std::string_view file) {
  for (const std::string_view ending : {".rsb", ".rsb.gz", ".rsb.zst"})
    if (file.ends_with(ending) && file.size() > ending.size())
      return ending.size();
  return 0;
}
constexpr std::int64_t kMarkdownChanges = 10; ///< rows of each list

std::string findings_markdown(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& finding : findings)
    out += "- " + markdown_escaped(finding.sentence()) + "\n";
  return out;
}

/// Returns the changes of one test: findings, then the ranked rows as a table.
std::string changes_markdown(const Comparison& comparison, const ComparisonFindings& findings,
                             std::size_t test) {
  const WhatChanged& changed = comparison.changes[test];
  if (!changed.known)
    return {};
  std::string out = "\n### Changes";
  if (comparison.tests.size() > 1)
    out += " in " + markdown_escaped(comparison.tests[test].label);
  out += "\n\n";
  out += findings_markdown(findings.changes[test]);
  const Table all = changes_table(comparison, test, false);
  std::vector<std::size_t> rows; // ranked rows, replaced rows, and the rest of each list
  std::vector<std::pair<std::size_t, double>> left_out; // number of rows and ms, for each list
  for (std::size_t r = 1; r < all.rows(); ++r) {
    const Value place = all.at(r, "#");
    if (!place.is_null() && place.i == 1)
      left_out.emplace_back();
    if (place.is_null() || place.i <= kMarkdownChanges) {
      rows.push_back(r);
    } else {
      ++left_out.back().first;
      left_out.back().second += all.at(r, "difference (ms)").d;
    }
  }
  Table shown = all.select({"#", "what", "name", "operator", "shapes", "difference (ms)",
                            "95% low (ms)", "95% high (ms)", "share (%)", "state", "was"});
  shown.reorder(rows);
  out += "\n" + markdown_table(shown);
  for (const auto& [more, ms] : left_out)
    if (more > 0)
      out += fmt::format("\n{} from number {} on, {} ms in all, {} not in this table.\n",
                         counted(more, "changed row", "changed rows"), kMarkdownChanges + 1,
                         fixed_text(ms, 3, Plus::kWritten), more == 1 ? "is" : "are");
  return out;
}

std::string verdict_markdown(const CompareResult& result, bool gated) {
  const Comparison& comparison = result.comparison;
  const FailOutcome& outcome = result.fail_on;
  const Table dashboard = dashboard_table(comparison);
  std::string out = "## Performance comparison\n\n";
  for (const Finding& note : result.findings.notes)
    out += "**" + markdown_escaped(note.sentence()) + "**\n\n";
  out += markdown_table(dashboard) + "\n";
  for (const std::vector<Finding>& metrics : result.findings.metrics)
    out += findings_markdown(metrics);
  out += "\n";
  for (const std::string& note : dashboard.notes)
    out += "- " + markdown_escaped(note) + "\n";
  for (std::size_t i = 0; i < comparison.tests.size(); ++i)
    out += changes_markdown(comparison, result.findings, i);
  for (const std::string& text : outcome.unjudged)
    out += fmt::format("\n**Not judged: {}**\n", markdown_escaped(text));
  for (const std::string& r : outcome.regressions)
    out += fmt::format("\n**Regression: {}**\n", markdown_escaped(r));
  if (gated && outcome.regressions.empty() && outcome.unjudged.empty())
    out += "\n**No condition of `--fail-on` is met.**\n";
  return out;
}

/// Returns the existing text of a file, ended by a line break; "" if the file cannot be read.
std::string text_before(const std::string& path) {
  Result<std::string> before = read_unregistered(path);
  std::string text = before ? std::move(*before) : std::string();
  if (!text.empty() && text.back() != '\n')
    text += '\n';
  return text;
}

/// Writes workbooks into the output folder and records their paths.
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

/// Returns all findings, with those of the conditions last.
std::vector<Finding> all_findings(const CompareResult& result) {
  std::vector<Finding> out = result.findings.all();
  for (const ConditionOutcome& condition : result.fail_on.conditions)
    add_findings(out, {condition.judged.finding}); // a condition may be given twice
  return out;
}

/// Inserts the sheet of findings after the dashboard, which is the first sheet.
void add_findings_sheet(Report& report, const std::vector<Finding>& findings) {
  Table table = finding_schema().table(findings);
  table.styled = true;
  table.tab_color = "#1F4E78";
  report.tables.insert(report.tables.begin() + (report.tables.empty() ? 0 : 1), std::move(table));
}

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
    session.note("no run has collectives, so there is no comparison of collectives");
  return out.write(combined, "collective_comparison.xlsx");
}

/// Writes the page last: an error here does not affect the other outputs.
void add_page(Session& session, const CompareRequest& request, CompareResult& out) {
  const Result<void> drawn = write_compare_page(out.comparison, all_findings(out), request.output,
                                                request.svg, session.pool());
  if (!drawn && drawn.error().code != ErrorCode::kMissingTool) {
    out.page_error = drawn.error();
    return;
  }
  out.written.push_back(request.output + "/performance_analysis_report.html");
  if (!drawn) {
    session.warn(drawn.error().message());
    session.partial = true;
  }
}

} // namespace

Result<FailCondition> parse_fail_condition(const std::string& text) {
  FailCondition c;
  c.text = text;
  const std::size_t at = text.find('>');
  const std::string_view percent = at == std::string::npos || at == 0
                                       ? std::string_view()
                                       : std::string_view(text).substr(at + 1);
  const auto [end, error] = std::from_chars(percent.data(), percent.data() + percent.size(),
                                            c.percent, std::chars_format::fixed);
  const bool read =
      error == std::errc() && percent.substr(static_cast<std::size_t>(end - percent.data())) == "%";
  if (!read || !std::isfinite(c.percent) || !(c.percent >= 0))
    return Error{ErrorCode::kUsage, "", "--fail-on '" + text + "' is not a condition",
                 "write it as 'total_time>2%'"};
  c.metric = text.substr(0, at);
  const std::vector<std::string> metrics = dashboard_metrics();
  if (std::none_of(metrics.begin(), metrics.end(),
                   [&](const std::string& metric) { return names_metric(c.metric, metric); })) {
    std::vector<std::string> words = metrics;
    for (const std::string& metric : metrics)
      words.push_back(metric.substr(metric.find('_') + 1));
    return Error{ErrorCode::kUsage, "",
                 "--fail-on: no metric named " + c.metric + did_you_mean(c.metric, words),
                 "the dashboard lists the metrics, for example total_time, exposed_comm"};
  }
  return c;
}

Result<std::vector<FailCondition>> read_fail_conditions(const std::string& path) {
  const Result<std::string> text = read_input_file(path);
  if (!text)
    return Error{ErrorCode::kUnreadable, path, "cannot be read", ""};
  std::istringstream in(std::string(without_byte_order_mark(*text)));
  std::vector<FailCondition> out;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    line.erase(std::min(line.find('#'), line.size()));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos)
      continue;
    Result<FailCondition> condition =
        parse_fail_condition(line.substr(first, line.find_last_not_of(" \t\r") - first + 1));
    if (!condition) {
      Error error = condition.error();
      error.where = fmt::format("{}:{}", path, number);
      return error;
    }
    out.push_back(std::move(*condition));
  }
  return out;
}

bool names_baseline(std::string_view file) {
  return baseline_ending(file) > 0;
}

std::vector<std::string> folder_names(const std::vector<std::string>& folders) {
  std::vector<std::vector<std::string>> parts;
  std::vector<std::string> out;
  std::size_t longest = 0;
  for (const std::string& folder : folders) {
    const std::filesystem::path p = std::filesystem::absolute(folder).lexically_normal();
    std::vector<std::string>& path_parts = parts.emplace_back();
    for (const std::filesystem::path& part : p.relative_path())
      if (!part.empty())
        path_parts.push_back(part.string());
    out.push_back(path_parts.empty() ? std::string() : path_parts.back());
    const std::size_t ending = baseline_ending(out.back());
    out.back().resize(out.back().size() - ending);
    longest = std::max(longest, path_parts.size());
  }
  const auto distinct = [](const std::vector<std::string>& names) {
    return std::set<std::string>(names.begin(), names.end()).size() == names.size();
  };
  if (distinct(out))
    return out;
  const auto part_at = [](const std::vector<std::string>& path, std::size_t i) {
    return i < path.size() ? path[i] : std::string();
  };
  std::vector<std::string> names(folders.size());
  for (std::size_t i = 0; i < longest && !distinct(names); ++i) {
    std::set<std::string> here;
    for (const auto& path : parts)
      here.insert(part_at(path, i));
    if (here.size() < 2) // the part is equal in all paths
      continue;
    for (std::size_t k = 0; k < names.size(); ++k)
      if (const std::string part = part_at(parts[k], i); !part.empty())
        names[k] += (names[k].empty() ? "" : "_") + part;
  }
  for (std::size_t k = 0; k < names.size(); ++k) // one path contains the other or equals it
    if (names[k].empty())
      names[k] = out[k];
  return names;
}

std::vector<std::string> distinct_labels(std::vector<std::string> labels) {
  std::set<std::string> used;
  for (std::string& label : labels) {
    for (char& c : label) // labels name folders
      if (c == '/' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
        c = '_';
    if (label.find_first_not_of('.') == std::string::npos) // "." and ".." do not name a new folder
      label = "run" + std::string(label.size(), '_');
    const std::string name = label;
    for (int n = 2; !used.insert(label).second; ++n)
      label = fmt::format("{}_{}", name, n);
  }
  return labels;
}

Result<std::vector<std::string>> labels_for(const std::vector<std::string>& folders,
                                            const GivenLabels& given) {
  if (!given.all.empty() && given.all.size() != folders.size())
    return Error{ErrorCode::kUsage, "", "--labels needs one label per run, the baseline's first",
                 ""};
  if (given.tests.size() >= folders.size())
    return Error{ErrorCode::kUsage, "", "more --test-label than --test", ""};
  std::vector<std::string> wanted = given.all;
  if (wanted.empty()) {
    wanted = folder_names(folders);
    for (std::size_t i = 0; i < folders.size(); ++i)
      if (std::string label = saved_label(folders[i]); !label.empty())
        wanted[i] = std::move(label);
  }
  if (!given.baseline.empty())
    wanted.front() = given.baseline;
  std::copy(given.tests.begin(), given.tests.end(), wanted.begin() + 1);
  return distinct_labels(std::move(wanted));
}

FailOutcome fail_outcome(const Comparison& comparison,
                         const std::vector<FailCondition>& conditions) {
  FailOutcome out;
  for (const FailCondition& c : conditions) {
    const DashboardRow* row = metric_row(comparison.dashboard, c.metric);
    for (std::size_t i = 0; i < comparison.tests.size(); ++i) {
      const std::string& label = comparison.tests[i].label;
      const std::string why_not = why_not_judged(comparison, i);
      ConditionOutcome condition{label, c.text,
                                 judge_condition(c.text, c.percent, row, i, label, why_not)};
      out.comparable = out.comparable && why_not.empty();
      if (condition.state() == ConditionState::kUnjudged)
        out.unjudged.push_back(
            fmt::format("{}: {}: {}", condition.label, condition.condition, condition.words()));
      if (condition.state() == ConditionState::kRegression)
        out.regressions.push_back(
            fmt::format("{}: {} ({})", condition.label, condition.condition, condition.words()));
      out.conditions.push_back(std::move(condition));
    }
  }
  return out;
}

/// Checks that no report folder is an input folder.
Result<void> check_places(const CompareRequest& request) {
  namespace fs = std::filesystem;
  std::error_code ec;
  for (const std::string& label : request.labels) {
    const fs::path out = fs::weakly_canonical(fs::path(request.output) / label, ec);
    for (const std::string& folder : request.folders)
      if (!ec && fs::weakly_canonical(folder, ec) == out && !ec)
        return Error{ErrorCode::kUsage, out.string(),
                     "the reports of " + label + " would be written to the folder that is compared",
                     "choose another --output, or other labels"};
  }
  return {};
}

Result<Comparison> load_comparison(Session& session, const CompareRequest& request) {
  RS_ASSERT(request.labels.size() == request.folders.size());
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
    input.align = request.align;
    input.write_reports = request.write_reports;
    RS_TRY(ComparedRun loaded, load_compared_run(session, input));
    session.note(
        fmt::format("{}: {}", request.labels[i], counted(loaded.ranks.size(), "rank", "ranks")));
    runs.push_back(std::move(loaded));
  }
  ComparedRun base = std::move(runs.front());
  runs.erase(runs.begin());
  return compare_runs(std::move(base), std::move(runs), request.rule);
}

Result<CompareResult> compare_folders(Session& session, const CompareRequest& request) {
  if (!request.output.empty()) {
    RS_CHECK(check_places(request));
    RS_CHECK(make_folder(request.output));
  }
  std::optional<OutputFile> markdown;
  if (!request.markdown.empty()) {
    RS_TRY(auto file, OutputFile::create(request.markdown));
    markdown.emplace(std::move(file));
  }
  std::vector<std::pair<OutputFile, std::string (*)(const CompareResult&)>> files;
  for (const auto& [path, text] :
       {std::pair{&request.junit, &verdict_junit}, std::pair{&request.verdict, &verdict_json}})
    if (!path->empty()) {
      RS_TRY(auto file, OutputFile::create(*path));
      files.emplace_back(std::move(file), text);
    }
  CompareResult out;
  RS_TRY(out.comparison, load_comparison(session, request));
  Workbooks workbooks(request.output, out.written);
  if (request.timeline_workbooks)
    RS_CHECK(write_timelines(out.comparison, request, workbooks));
  if (request.collective_workbooks)
    RS_CHECK(write_collectives(session, out.comparison, workbooks));
  out.findings = comparison_findings(out.comparison);
  out.fail_on = fail_outcome(out.comparison, request.fail_on);
  session.partial = session.partial || !out.fail_on.comparable;
  out.final = final_report(out.comparison);
  add_findings_sheet(out.final, all_findings(out));
  if (request.final_workbook)
    RS_CHECK(workbooks.write(out.final, "final_analysis_report.xlsx"));
  if (markdown) {
    if (request.append_markdown)
      markdown->write(text_before(request.markdown));
    markdown->write(verdict_markdown(out, !request.fail_on.empty()));
    RS_CHECK(markdown->commit());
    if (request.markdown != "-")
      out.written.push_back(request.markdown);
  }
  for (auto& [file, text] : files) {
    file.write(text(out));
    RS_CHECK(file.commit());
    if (file.path() != "-")
      out.written.push_back(file.path());
  }
  if (request.page)
    add_page(session, request, out);
  return out;
}

} // namespace rankscope
