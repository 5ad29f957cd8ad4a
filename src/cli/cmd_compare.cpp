// rankscope compare: one or more test runs against a baseline run: timelines, collectives, a final
// workbook with a dashboard, a verdict for pull requests.
#include "analyses/compare/compare_tables.h"
#include "app/compare.h"
#include "cli/command.h"
#include "cli/discover_flags.h"
#include "writers/writer.h"

#include <cstdlib>
#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct Flags {
  CompareRequest request;
  std::string baseline;
  std::vector<std::string> tests, fail_on;
  GivenLabels labels;
  std::string align = "collectives";
  bool individual_only = false, collective_only = false;
  bool gpu_timeline = false, collective = false, final_report = false, plots = false; ///< choices
  bool all = false, compare_all_runs = false;
  bool no_plots = false;
};

Result<CompareRequest> request_of(const Flags& f) {
  CompareRequest request = f.request;
  for (const std::string& text : f.fail_on) {
    RS_TRY(FailCondition condition, parse_fail_condition(text));
    request.fail_on.push_back(std::move(condition));
  }
  if (f.individual_only && f.collective_only)
    return Error{ErrorCode::kUsage, "",
                 "--individual-only and --collective-only exclude each other", ""};
  request.folders = {f.baseline};
  request.folders.insert(request.folders.end(), f.tests.begin(), f.tests.end());
  RS_TRY(request.labels, labels_for(request.folders, f.labels));
  const char* const job_summary = std::getenv("GITHUB_STEP_SUMMARY"); // steps append to it
  request.append_markdown = job_summary != nullptr && request.markdown == job_summary;
  request.align = align_mode(f.align).value_or(request.align);
  // without a choice everything is made
  const bool everything =
      f.all || f.compare_all_runs || !(f.gpu_timeline || f.collective || f.final_report || f.plots);
  request.individual = !f.collective_only;
  request.collective = !f.individual_only;
  request.timeline_workbooks = everything || f.gpu_timeline || f.final_report;
  request.collective_workbooks =
      !f.individual_only && (everything || f.collective || f.final_report);
  request.final_workbook = everything || f.final_report;
  request.page = (everything || f.plots) && !f.no_plots;
  return request;
}

Result<void> compare_runs_of(Context& ctx, const Flags& f) {
  RS_TRY(const CompareRequest request, request_of(f));
  RS_TRY(const CompareResult result, compare_folders(ctx, request));
  if (ctx.json) {
    for (const std::string& remark : result.comparison.remarks)
      ctx.warn(remark);
    ctx.out(json_text(result.final));
  } else if (f.request.markdown != "-") { // that is on stdout already
    for (const std::string& remark : result.comparison.remarks)
      ctx.out("NOTE: " + remark + "\n");
    const Table dashboard = dashboard_table(result.comparison);
    ctx.table(dashboard, 40);
    ctx.out("\n");
    for (std::size_t i = result.comparison.remarks.size(); i < dashboard.notes.size(); ++i)
      ctx.out("- " + dashboard.notes[i] + "\n");
    for (const std::string& path : result.written)
      ctx.out(path + "\n");
  }
  for (const std::string& text : result.fail_on.unjudged)
    ctx.warn("--fail-on: " + text);
  const std::vector<std::string>& regressions = result.fail_on.regressions;
  if (!regressions.empty()) {
    if (result.page_error)
      ctx.warn(result.page_error->message());
    return Error{ErrorCode::kRegression, "", fmt::format("{}", fmt::join(regressions, "; ")), ""};
  }
  if (result.page_error)
    return *result.page_error;
  return {};
}

void add_choice(FlagSet& app, Flags& f) {
  CompareRequest& request = f.request;
  app.add_flag("--all", f.all, "everything (also what happens without a choice)");
  app.add_flag("--compare-all-runs", f.compare_all_runs, "the same as --all");
  app.add_flag("--gpu-timeline", f.gpu_timeline, "only the timeline workbooks");
  app.add_flag("--collective", f.collective, "only the collective workbooks");
  app.add_flag("--final-report", f.final_report, "only what the final workbook needs");
  app.add_flag("--generate-plots", f.plots, "only the plots and the HTML page");
  app.add_flag("--no-plots", f.no_plots, "neither plots nor HTML page");
  app.add_flag("--svg", request.svg, "plots as SVG too");
  app.add_flag("--individual-only", f.individual_only, "leave the collectives out");
  app.add_flag("--collective-only", f.collective_only, "write no individual reports");
  app.add_flag("--geo-mean", request.geomean,
               "geometric means over ranks in the timeline summaries");
}

void add_verdict(FlagSet& app, Flags& f) {
  CompareRequest& request = f.request;
  app.add_option("--threshold", request.rule.threshold_percent,
                 "changes up to this count as Similar, percent")
      .not_negative()
      .capture_default_str();
  app.add_option("--assume-noise", request.rule.assumed_noise_percent,
                 "where a run has one sample: judge with this standard deviation of a sample, "
                 "percent")
      .positive();
  app.add_option("--fail-on", f.fail_on,
                 "exit 5 when a metric is worse by more, beyond noise: 'total_time>2%'");
  app.add_option("--markdown", request.markdown, "write a summary for a pull request; - is stdout");
}

Action setup(FlagSet& app) {
  auto f = std::make_shared<Flags>();
  CompareRequest& request = f->request;
  in_group(app, "Runs", [&] {
    app.add_option("--baseline", f->baseline, "folder of the baseline: rank traces or reports")
        .required();
    app.add_option("--test", f->tests, "folder of a run to compare; may be given again").required();
    app.add_option("--labels", f->labels.all,
                   "a name per run, the baseline's first (default: "
                   "folders)")
        .delimiter(',');
    app.add_option("--baseline-label", f->labels.baseline, "name of the baseline");
    app.add_option("--test-label", f->labels.tests, "name of a test, in their order");
    app.add_flag("--skip-tracelens", request.reports_only,
                 "use existing reports, never the traces");
    add_align_flag(app, f->align);
  });
  in_group(app, "Verdict", [&] { add_verdict(app, *f); });
  in_group(app, "Outputs", [&] {
    app.add_option("--output", request.output, "folder for the workbooks").required();
    add_choice(app, *f);
  });
  add_discover_flags(app, request.discover, false);
  return [f](Context& ctx) { return compare_runs_of(ctx, *f); };
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
