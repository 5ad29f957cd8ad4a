// rankscope compare: GPU timelines of a baseline run against one or more test runs.
#include "analyses/analysis.h"
#include "analyses/compare_runs.h"
#include "base/output_file.h"
#include "cli/command.h"
#include "readers/loader.h"
#include "writers/console.h"
#include "writers/writer.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <set>

namespace rankscope {
namespace {

struct Flags {
  std::string baseline;
  std::vector<std::string> tests;
  std::string output;
  std::vector<std::string> fail_on;
  std::vector<std::string> labels;
  double threshold = 1;
  bool gpu_timeline = false; ///< accepted for the sake of older command lines
};

struct Condition {
  std::string text;
  std::string type;
  double percent = 0;
};

/// "total_time>2%".
Result<Condition> parse_condition(const std::string& text) {
  Condition c;
  c.text = text;
  const std::size_t at = text.find('>');
  char* end = nullptr;
  if (at != std::string::npos && at > 0)
    c.percent = std::strtod(text.c_str() + at + 1, &end);
  if (end == nullptr || end == text.c_str() + at + 1 || std::string_view(end) != "%")
    return Error{ErrorCode::kUsage, "", "--fail-on '" + text + "' is no condition",
                 "write it as 'total_time>2%'"};
  c.type = text.substr(0, at);
  return c;
}

Result<RunTimelines> load_run(Context& ctx, const std::string& folder, const std::string& label,
                              const std::string& out) {
  RS_TRY(const RunPlan plan, discover_run({folder}, {}, ctx.diagnostics));
  LoadOptions load;
  load.threads = ctx.threads;
  ReportOptions options;
  RunTimelines run;
  run.label = label;
  std::mutex mutex;
  std::optional<Error> failed;
  RS_CHECK(load_each(plan.ranks, load, [&](std::size_t i, Result<LoadedTrace> loaded) {
    const std::int64_t rank = plan.ranks[i].rank;
    const auto lose = [&](const std::string& why) {
      ctx.diagnostics.add(Severity::kDataLoss, "rank_lost_" + plan.ranks[i].path,
                          plan.ranks[i].path, fmt::format("rank {} is left out: {}", rank, why));
    };
    if (!loaded)
      return lose(loaded.error().message());
    Result<Report> report = build_report(*loaded, options);
    if (!report)
      return lose(report.error().message());
    const std::string path = fmt::format("{}/individual_reports/perf_rank{}.xlsx", out, rank);
    Result<void> written = find_writer("xlsx")->write(*report, path);
    const std::lock_guard lock(mutex);
    if (!written)
      failed = written.error();
    else if (const Table* timeline = report->find("gpu_timeline"))
      run.ranks.emplace(rank, timeline->select({"type", "time ms", "percent"}));
  }));
  if (failed)
    return *failed;
  if (run.ranks.empty())
    return Error{ErrorCode::kUnreadable, folder, "no rank has a GPU timeline", ""};
  return run;
}

std::string leaf_name(const std::string& path) {
  const std::filesystem::path p = std::filesystem::absolute(path).lexically_normal();
  return (p.has_filename() ? p : p.parent_path()).filename().string();
}

Result<void> run(Context& ctx, const Flags& f) {
  std::vector<Condition> conditions;
  for (const std::string& text : f.fail_on) {
    RS_TRY(Condition c, parse_condition(text));
    conditions.push_back(std::move(c));
  }
  std::vector<RunTimelines> runs;
  std::set<std::string> labels;
  std::vector<std::string> folders{f.baseline};
  folders.insert(folders.end(), f.tests.begin(), f.tests.end());
  if (!f.labels.empty() && f.labels.size() != folders.size())
    return Error{ErrorCode::kUsage, "", "--labels needs one label per run, the baseline's first",
                 ""};
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const std::string& folder = folders[i];
    const std::string name = f.labels.empty() ? leaf_name(folder) : f.labels[i];
    std::string label = name;
    for (int n = 2; !labels.insert(label).second; ++n)
      label = fmt::format("{}_{}", name, n); // equal folder names stay apart
    const std::string out = f.output + "/" + label;
    RS_CHECK(make_folder(out + "/individual_reports"));
    RS_TRY(RunTimelines loaded, load_run(ctx, folder, label, out));
    runs.push_back(std::move(loaded));
  }
  Report report;
  report.title = "gpu timeline comparison";
  std::vector<std::string> regressions;
  for (std::size_t t = 1; t < runs.size(); ++t) {
    for (Table& table : compare_timelines(runs[0], runs[t], f.threshold)) {
      if (runs.size() > 2)
        table.set_name(table.name() + "_" + runs[t].label);
      report.tables.push_back(std::move(table));
    }
    for (const Condition& c : conditions) {
      const auto value = [&](const RunTimelines& r) {
        const auto exact = mean_time_ms(r, c.type);
        return exact ? exact : mean_time_ms(r, c.type + "_time");
      };
      const auto base = value(runs[0]);
      const auto test = value(runs[t]);
      if (!base || !test)
        return Error{ErrorCode::kUsage, "", "--fail-on: no timeline row named " + c.type, ""};
      const auto change = improvement_percent(*base, *test);
      if (!change || -*change > c.percent)
        regressions.push_back(fmt::format("{}: {} ({:.3f} ms against {:.3f} ms)", runs[t].label,
                                          c.text, *test, *base));
    }
  }
  const std::string path = f.output + "/gpu_timeline_comparison.xlsx";
  RS_CHECK(find_writer("xlsx")->write(report, path));
  if (ctx.json) {
    ctx.out(json_text(report));
  } else {
    for (const Table& table : report.tables)
      if (table.name().rfind("Summary", 0) == 0)
        ctx.out(console_table(table));
    ctx.out(fmt::format("{}: {} sheets\n", path, report.tables.size()));
  }
  if (!regressions.empty())
    return Error{ErrorCode::kRegression, "", fmt::format("{}", fmt::join(regressions, "; ")), ""};
  return {};
}

Action setup(CLI::App& app) {
  auto f = std::make_shared<Flags>();
  app.add_option("--baseline", f->baseline, "folder with the rank traces of the baseline")
      ->required();
  app.add_option("--test", f->tests, "folder of a run to compare; may be given again")->required();
  app.add_option("--output", f->output, "folder for the workbooks")->required();
  app.add_option("--labels", f->labels, "a name per run, the baseline's first (default: folders)")
      ->delimiter(',');
  app.add_option("--threshold", f->threshold, "changes up to this count as Similar, percent")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--fail-on", f->fail_on, "exit 5 when a row grew by more, as 'total_time>2%'");
  app.add_flag("--gpu-timeline", f->gpu_timeline, "compare the timelines (always done)");
  return [f](Context& ctx) { return run(ctx, *f); };
}

} // namespace

const Command compare_command{
    "compare", "GPU timelines of test runs against a baseline run, rank by rank",
    "  rankscope compare --baseline base --test new --output out\n"
    "  rankscope compare --baseline base --test new --output out --fail-on 'total_time>2%'",
    setup};

} // namespace rankscope
