// rankscope compare: one or more test runs against a baseline run: timelines, collectives, a final
// workbook with a dashboard, a verdict for pull requests.
#include "analyses/compare/compare_runs.h"
#include "app/compare_load.h"
#include "cli/command.h"
#include "cli/discover_flags.h"
#include "os/output_file.h"
#include "pages/compare_page.h"
#include "writers/console.h"
#include "writers/markdown.h"
#include "writers/writer.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <set>

namespace rankscope {
namespace {

struct Flags {
  std::string baseline;
  std::vector<std::string> tests;
  std::string output;
  std::string markdown;
  std::vector<std::string> fail_on;
  std::vector<std::string> labels;
  std::string baseline_label;
  std::vector<std::string> test_labels;
  double threshold = 1;
  DiscoverOptions discover;
  bool skip_tracelens = false;
  bool individual_only = false;
  bool collective_only = false;
  bool gpu_timeline = false;
  bool collective = false;
  bool final_report = false;
  bool all = false;
  bool compare_all_runs = false;
  bool geomean = false;
  bool plots = false;
  bool no_plots = false;
  bool svg = false;

  /// Without a choice everything is made.
  [[nodiscard]] bool everything() const {
    return all || compare_all_runs || !(gpu_timeline || collective || final_report || plots);
  }
};

struct Condition {
  std::string text;
  std::string metric;
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
  c.metric = text.substr(0, at);
  return c;
}

/// The dashboard's row of a metric, by its name with or without GPU_, NCCL_ and _time.
std::optional<std::size_t> metric_row(const Table& dashboard, const std::string& name) {
  for (const char* before : {"", "GPU_", "NCCL_"})
    for (const char* after : {"", "_time"})
      for (std::size_t r = 0; r < dashboard.rows(); ++r)
        if (dashboard.at(r, 0).text == before + name + after)
          return r;
  return std::nullopt;
}

std::string leaf_name(const std::string& path) {
  const std::filesystem::path p = std::filesystem::absolute(path).lexically_normal();
  return (p.has_filename() ? p : p.parent_path()).filename().string();
}

/// A label per run: the flags', else folder names; equal ones get _2, _3, ...
Result<std::vector<std::string>> labels_of(const Flags& f,
                                           const std::vector<std::string>& folders) {
  std::vector<std::string> wanted = f.labels;
  if (wanted.empty())
    for (const std::string& folder : folders)
      wanted.push_back(leaf_name(folder));
  if (wanted.size() != folders.size())
    return Error{ErrorCode::kUsage, "", "--labels needs one label per run, the baseline's first",
                 ""};
  if (!f.baseline_label.empty())
    wanted.front() = f.baseline_label;
  if (f.test_labels.size() > f.tests.size())
    return Error{ErrorCode::kUsage, "", "more --test-label than --test", ""};
  for (std::size_t i = 0; i < f.test_labels.size(); ++i)
    wanted[i + 1] = f.test_labels[i];
  std::set<std::string> used;
  for (std::string& label : wanted) {
    for (char& c : label) // it names a folder
      if (c == '/' || static_cast<unsigned char>(c) < 0x20)
        c = '_';
    const std::string name = label;
    for (int n = 2; !used.insert(label).second; ++n)
      label = fmt::format("{}_{}", name, n);
  }
  return wanted;
}

std::string verdict(const Table& dashboard, const std::vector<std::string>& regressions,
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

/// Conditions that hold, in words. A change within the noise is no regression.
Result<std::vector<std::string>> regressions_of(const Table& dashboard,
                                                const std::vector<ComparedRun>& tests,
                                                const std::vector<Condition>& conditions) {
  std::vector<std::string> out;
  for (const Condition& c : conditions) {
    const auto row = metric_row(dashboard, c.metric);
    if (!row)
      return Error{ErrorCode::kUsage, "", "--fail-on: no metric named " + c.metric,
                   "the dashboard lists them, for example total_time, exposed_comm"};
    for (std::size_t i = 0; i < tests.size(); ++i) {
      const std::size_t first = 3 + 6 * i;
      const Value base = dashboard.at(*row, 2);
      const Value test = dashboard.at(*row, first);
      const Value change = dashboard.at(*row, first + 1);
      const Value high = dashboard.at(*row, first + 4);
      const bool appeared = change.is_null() && !test.is_null() && test.number() > 0;
      const bool grew = !change.is_null() && -change.number() > c.percent;
      if (appeared || (grew && (high.is_null() || high.number() < 0)))
        out.push_back(fmt::format("{}: {} ({:.3f} {} against {:.3f})", tests[i].label, c.text,
                                  test.number(), dashboard.at(*row, 1).text,
                                  base.is_null() ? 0.0 : base.number()));
    }
  }
  return out;
}

Result<void> run(Context& ctx, const Flags& f) {
  std::vector<Condition> conditions;
  for (const std::string& text : f.fail_on) {
    RS_TRY(Condition c, parse_condition(text));
    conditions.push_back(std::move(c));
  }
  if (f.individual_only && f.collective_only)
    return Error{ErrorCode::kUsage, "",
                 "--individual-only and --collective-only exclude each other", ""};
  std::vector<std::string> folders{f.baseline};
  folders.insert(folders.end(), f.tests.begin(), f.tests.end());
  RS_TRY(const std::vector<std::string> labels, labels_of(f, folders));
  RS_CHECK(make_folder(f.output));
  std::optional<OutputFile> markdown;
  if (!f.markdown.empty()) {
    RS_TRY(auto file, OutputFile::create(f.markdown));
    markdown.emplace(std::move(file));
  }
  std::vector<ComparedRun> tests;
  ComparedRun base;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    CompareInput input;
    input.folder = folders[i];
    input.label = labels[i];
    input.out = f.output + "/" + labels[i];
    input.discover = f.discover;
    input.reports_only = f.skip_tracelens;
    input.individual = !f.collective_only;
    input.collective = !f.individual_only;
    RS_TRY(ComparedRun loaded, load_compared_run(ctx, input));
    ctx.note(fmt::format("{}: {} ranks", labels[i], loaded.ranks.size()));
    if (i == 0)
      base = std::move(loaded);
    else
      tests.push_back(std::move(loaded));
  }
  std::vector<std::string> written;
  const auto write = [&](const Report& report, const std::string& name) -> Result<void> {
    if (report.tables.empty())
      return {};
    const std::string path = f.output + "/" + name;
    RS_CHECK(find_writer("xlsx")->write(report, path));
    written.push_back(path);
    return {};
  };
  const auto styled = [](Table t, const std::string& after) {
    t.styled = true;
    t.set_name(t.name() + after);
    return t;
  };
  const bool with_collectives =
      !f.individual_only && (f.everything() || f.collective || f.final_report);
  if (f.everything() || f.gpu_timeline || f.final_report) {
    std::vector<Report> sides{timeline_summary(base, f.geomean)};
    for (const ComparedRun& t : tests)
      sides.push_back(timeline_summary(t, f.geomean));
    for (std::size_t i = 0; i < sides.size(); ++i) {
      RS_CHECK(make_folder(f.output + "/" + labels[i]));
      RS_CHECK(write(sides[i], fmt::format("{}/gpu_timeline_summary_{}.xlsx", labels[i],
                                           f.geomean ? "geomean" : "mean")));
    }
    std::vector<const Report*> pointers;
    for (const Report& side : sides)
      pointers.push_back(&side);
    Report combined = combine_reports(pointers, labels);
    RS_CHECK(write(combined, "gpu_timeline_combined.xlsx"));
    for (const ComparedRun& t : tests) {
      std::vector<Table> tables = compare_timelines(base, t, f.threshold);
      const std::string after = tests.size() > 1 ? "_" + t.label : "";
      combined.tables.push_back(styled(std::move(tables[1]), after));
      combined.tables.push_back(styled(std::move(tables[0]), after));
    }
    RS_CHECK(write(combined, "gpu_timeline_comparison.xlsx"));
  }
  if (with_collectives) {
    std::vector<Report> sides(1 + tests.size());
    std::vector<const Report*> pointers;
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const ComparedRun& side = i == 0 ? base : tests[i - 1];
      for (const Table* t : {&side.nccl_summary_implicit_sync, &side.nccl_summary_long})
        if (t->rows() > 0)
          sides[i].tables.push_back(*t);
      pointers.push_back(&sides[i]);
    }
    Report combined = combine_reports(pointers, labels);
    RS_CHECK(write(combined, "collective_combined.xlsx"));
    for (const ComparedRun& t : tests)
      for (Table& table : compare_collectives(base, t, f.threshold))
        combined.tables.push_back(styled(std::move(table), tests.size() > 1 ? "_" + t.label : ""));
    if (combined.tables.empty())
      ctx.note("no collectives on either side: no collective comparison");
    RS_CHECK(write(combined, "collective_comparison.xlsx"));
  }
  const Report final = final_report(base, tests, f.threshold);
  if (f.everything() || f.final_report)
    RS_CHECK(write(final, "final_analysis_report.xlsx"));
  if ((f.everything() || f.plots) && !f.no_plots) {
    if (Result<void> drawn = write_compare_page(base, tests, f.threshold, f.output, f.svg); drawn) {
      written.push_back(f.output + "/performance_analysis_report.html");
    } else if (drawn.error().code == ErrorCode::kMissingTool) {
      ctx.warn(drawn.error().message());
      ctx.partial = true;
    } else {
      return drawn;
    }
  }
  const Table& dashboard = final.tables.front();
  RS_TRY(const std::vector<std::string> regressions, regressions_of(dashboard, tests, conditions));
  if (markdown) {
    markdown->write(verdict(dashboard, regressions, !conditions.empty()));
    RS_CHECK(markdown->commit());
    written.push_back(f.markdown);
  }
  if (ctx.json) {
    ctx.out(json_text(final));
  } else {
    ctx.out(console_table(dashboard, 40) + "\n");
    for (const std::string& note : dashboard.notes)
      ctx.out("- " + note + "\n");
    for (const std::string& path : written)
      ctx.out(path + "\n");
  }
  if (!regressions.empty())
    return Error{ErrorCode::kRegression, "", fmt::format("{}", fmt::join(regressions, "; ")), ""};
  return {};
}

Action setup(CLI::App& app) {
  auto f = std::make_shared<Flags>();
  app.add_option("--baseline", f->baseline, "folder of the baseline: rank traces or their reports")
      ->required();
  app.add_option("--test", f->tests, "folder of a run to compare; may be given again")->required();
  app.add_option("--output", f->output, "folder for the workbooks")->required();
  app.add_option("--labels", f->labels, "a name per run, the baseline's first (default: folders)")
      ->delimiter(',');
  app.add_option("--baseline-label", f->baseline_label, "name of the baseline");
  app.add_option("--test-label", f->test_labels, "name of a test, in their order");
  app.add_option("--threshold", f->threshold, "changes up to this count as Similar, percent")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--fail-on", f->fail_on,
                 "exit 5 when a metric is worse by more, beyond noise: 'total_time>2%'");
  app.add_option("--markdown", f->markdown, "write a summary for a pull request; - is stdout");
  app.add_flag("--all", f->all, "everything (also what happens without a choice)");
  app.add_flag("--compare-all-runs", f->compare_all_runs, "the same as --all");
  app.add_flag("--gpu-timeline", f->gpu_timeline, "only the timeline workbooks");
  app.add_flag("--collective", f->collective, "only the collective workbooks");
  app.add_flag("--final-report", f->final_report, "only what the final workbook needs");
  app.add_flag("--generate-plots", f->plots, "only the plots and the HTML page");
  app.add_flag("--no-plots", f->no_plots, "neither plots nor HTML page");
  app.add_flag("--svg", f->svg, "plots as SVG too");
  app.add_flag("--skip-tracelens", f->skip_tracelens, "use existing reports, never the traces");
  app.add_flag("--individual-only", f->individual_only, "leave the collectives out");
  app.add_flag("--collective-only", f->collective_only, "write no individual reports");
  app.add_flag("--geo-mean", f->geomean, "geometric means over ranks in the timeline summaries");
  add_discover_flags(app, f->discover, false);
  return [f](Context& ctx) { return run(ctx, *f); };
}

} // namespace

const Command compare_command{
    "compare", "test runs against a baseline: timelines, collectives, dashboard, verdict",
    "  rankscope compare --baseline base --test new --output out\n"
    "  rankscope compare --baseline 56cu_256threads --test 37cu_384threads --test 32cu_512threads "
    "--output out\n"
    "  rankscope compare --baseline base --test new --output out --markdown pr.md "
    "--fail-on 'total_time>2%' --fail-on 'exposed_comm>5%'",
    setup};

} // namespace rankscope
