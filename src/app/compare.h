// The use case behind `rankscope compare`: tests against a baseline, from folders to workbooks,
// page, verdict.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "analyses/compare/compare_runs.h"
#include "base/result.h"
#include "core/report.h"
#include "engine/rank_parts.h"
#include "engine/session.h"
#include "findings/comparison_findings.h"
#include "findings/condition_findings.h"
#include "readers/discovery.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// "total_time>2%": worse by more than so many percent.
struct FailCondition {
  std::string text;
  std::string metric; ///< of the dashboard, with or without GPU_, NCCL_ and _time
  double percent = 0;
};
/// Errors: kUsage, also for a metric that no comparison has.
Result<FailCondition> parse_fail_condition(const std::string& text);

/// Reads one condition per line; ignores empty lines and text after #. Errors: kUnreadable; kUsage,
/// with the line.
Result<std::vector<FailCondition>> read_fail_conditions(const std::string& path);

/// One condition on one test run.
struct ConditionOutcome {
  std::string label; ///< of the test run
  std::string condition;
  JudgedCondition judged;

  [[nodiscard]] ConditionState state() const { return judged.state; }
  /// The values, or why they cannot be judged.
  [[nodiscard]] const std::string& words() const { return judged.finding.evidence; }
};

/// What --fail-on found, in words.
struct FailOutcome {
  std::vector<ConditionOutcome> conditions; ///< in the order asked for, each over all tests
  std::vector<std::string> regressions;     ///< conditions that are met
  std::vector<std::string> unjudged;        ///< conditions that cannot be judged
};

struct CompareRequest {
  std::vector<std::string> folders; ///< the baseline's, then the tests'; or saved baselines
  std::vector<std::string> labels;  ///< one for each, distinct: they name folders and columns
  std::string output;   ///< folder; "" = nothing is written there, and no part of it is asked for
  std::string markdown; ///< file for the verdict, "-" = stdout, empty = none
  bool append_markdown = false; ///< to the existing text: a job summary has many authors
  std::string junit;            ///< file for the conditions as JUnit's XML; empty = none
  std::string verdict;          ///< file for the verdict as JSON; empty = none
  std::vector<FailCondition> fail_on;
  JudgeRule rule;
  DiscoverOptions discover;
  bool reports_only = false; ///< never read traces
  bool individual = true;    ///< write the report of each rank
  bool collective = true;    ///< gather collectives
  bool write_reports = true; ///< false: nothing of what is read is written
  bool timeline_workbooks = true, collective_workbooks = true, final_workbook = true;
  bool page = true, svg = false;
  bool geomean = false;
  AlignMode align = AlignMode::kCollectives; ///< clocks of the ranks in the collective reports
};

struct CompareResult {
  Comparison comparison;
  ComparisonFindings findings;
  Report final;                     ///< the workbook's sheets, whether written or not
  std::vector<std::string> written; ///< files
  FailOutcome fail_on;
  std::optional<Error> page_error; ///< the page or its plots failed; all other outputs exist
};

/// Returns the last part of each path. If two are equal, returns instead the parts in which the
/// paths differ, from the first on, as many as make all names distinct, joined with _.
/// Example: a/x/run and b/x/run are a and b. The ending of a saved baseline is left out.
[[nodiscard]] std::vector<std::string> folder_names(const std::vector<std::string>& folders);
/// NAME.rsb, also compressed.
[[nodiscard]] bool names_baseline(std::string_view file);
/// Replaces text that cannot name a folder below the output ("..", "a/b", nothing); equal labels
/// get _2, _3, ...
[[nodiscard]] std::vector<std::string> distinct_labels(std::vector<std::string> labels);

/// Names that the user gave; empty: none.
struct GivenLabels {
  std::vector<std::string> all; ///< one per run, the baseline's first
  std::string baseline;
  std::vector<std::string> tests; ///< of the first tests
};
/// Returns a distinct label per folder: as given, else from folder_names(). Errors: kUsage if the
/// number of labels does not fit.
[[nodiscard]] Result<std::vector<std::string>> labels_for(const std::vector<std::string>& folders,
                                                          const GivenLabels& given);

/// Reads all runs, compares, writes. Errors: kUnreadable, kOutput. A page that fails does not
/// fail the command; without Cairo the PNG plots are left out and the session is partial.
Result<CompareResult> compare_folders(Session& session, const CompareRequest& request);

/// Reads all runs and compares them; writes at most the reports of what is read. Errors:
/// kUnreadable, kOutput.
Result<Comparison> load_comparison(Session& session, const CompareRequest& request);

/// Judges the conditions. A change within the noise is not a regression, and neither is one that is
/// not judged (one sample, metrics that the runs lack).
[[nodiscard]] FailOutcome fail_outcome(const Comparison& comparison,
                                       const std::vector<FailCondition>& conditions);

} // namespace rankscope
