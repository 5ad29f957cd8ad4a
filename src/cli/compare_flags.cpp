#include "cli/compare_flags.h"

#include "cli/discover_flags.h"

#include <cstdlib>

namespace rankscope {

void add_compare_choice(FlagSet& app, CompareFlags& f) {
  CompareRequest& request = f.request;
  app.add(options::all, f.all, "write everything (default)");
  app.add_flag("--compare-all-runs", f.all, "same as --all");
  app.add_flag("--gpu-timeline", f.gpu_timeline, "write only the timeline workbooks");
  app.add_flag("--collective", f.collective, "write only the collective workbooks");
  app.add_flag("--final-report", f.final_report, "write only the final workbook and its inputs");
  app.add_flag("--generate-plots", f.plots, "write only the plots and the HTML page");
  app.add(options::no_plots, f.no_plots);
  app.add(options::svg, request.svg);
  app.add_flag("--individual-only", f.individual_only, "leave out the collective reports");
  app.add_flag("--collective-only", f.collective_only, "leave out the individual reports");
  app.add_flag("--geo-mean", request.geomean,
               "use geometric means over ranks in the timeline summaries");
}

void add_label_flags(FlagSet& app, GivenLabels& labels) {
  app.add(options::labels, labels.all).delimiter(',');
  app.add(options::label, labels.all, "same as --labels, with one name per option").group("");
  app.add_option("--baseline-label", labels.baseline, "name of the baseline");
  app.add_option("--test-label", labels.tests,
                 "name of a test (repeatable, in the order of the tests)");
}

void add_verdict_flags(FlagSet& app, CompareFlags& f) {
  CompareRequest& request = f.request;
  app.add_option("--threshold", request.rule.threshold_percent,
                 "largest change that counts as Similar, percent")
      .not_negative()
      .capture_default_str();
  app.add_option(
         "--assume-noise", request.rule.assumed_noise_percent,
         "assumed standard deviation of a sample, for metrics with one sample per run, percent")
      .positive();
  app.add_flag("--any-work", request.rule.any_work,
               "judge runs that do different work too (the same batch in another way)");
  app.add_option(
      "--fail-on", f.fail_on,
      "exit with 5 if a metric is significantly worse by more than a percentage: 'total_time>2%'");
  app.add_option("--fail-on-file", f.fail_on_file,
                 "read --fail-on conditions from a file, one per line");
  app.add_flag("--annotate", f.annotate,
               "print results of conditions as annotations of a GitHub workflow");
  app.add_option("--junit", request.junit, "write the conditions as JUnit test cases");
  app.add_option("--verdict", request.verdict, "write the verdict as JSON");
  app.add_option("--markdown", request.markdown, "write a summary for a pull request; - is stdout");
}

void add_compare_flags(FlagSet& app, CompareFlags& f) {
  CompareRequest& request = f.request;
  in_group(app, "Runs", [&] {
    app.add(options::baseline, f.baseline).required();
    app.add(options::test, f.tests).required();
    add_label_flags(app, f.labels);
    app.add(options::skip_tracelens, request.reports_only);
    app.add(options::align, request.align);
  });
  in_group(app, "Verdict", [&] { add_verdict_flags(app, f); });
  in_group(app, "Outputs", [&] {
    app.add(options::output, request.output, "folder for the workbooks").required();
    add_compare_choice(app, f);
  });
  add_discover_flags(app, request.discover, false);
}

Result<CompareRequest> compare_request(const CompareFlags& f) {
  CompareRequest request = f.request;
  for (const std::string& text : f.fail_on) {
    RS_TRY(FailCondition condition, parse_fail_condition(text));
    request.fail_on.push_back(std::move(condition));
  }
  if (f.individual_only && f.collective_only)
    return Error{ErrorCode::kUsage, "",
                 "--individual-only and --collective-only exclude each other", ""};
  if (!f.fail_on_file.empty()) {
    RS_TRY(std::vector<FailCondition> more, read_fail_conditions(f.fail_on_file));
    request.fail_on.insert(request.fail_on.end(), more.begin(), more.end());
  }
  request.folders = {f.baseline};
  request.folders.insert(request.folders.end(), f.tests.begin(), f.tests.end());
  RS_TRY(request.labels, labels_for(request.folders, f.labels));
  // several steps append to this file
  const char* const job_summary = std::getenv("GITHUB_STEP_SUMMARY");
  request.append_markdown = job_summary != nullptr && request.markdown == job_summary;
  // without a choice, everything is written
  const bool everything = f.all || !(f.gpu_timeline || f.collective || f.final_report || f.plots);
  const bool individual = everything || f.final_report || f.individual_only;
  request.write_reports = individual || f.collective || f.collective_only;
  request.individual = individual && !f.collective_only;
  request.collective = !f.individual_only;
  request.timeline_workbooks = everything || f.gpu_timeline || f.final_report;
  request.collective_workbooks =
      !f.individual_only && (everything || f.collective || f.final_report);
  request.final_workbook = everything || f.final_report;
  request.page = (everything || f.plots) && !f.no_plots;
  return request;
}

} // namespace rankscope
