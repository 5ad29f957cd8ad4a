// The use case behind `rankscope compare`: tests runs against a baseline. Reads folders, and writes
// workbooks, page and verdict.
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

/// A condition such as "total_time>2%": the metric is worse by more than this many percent.
struct FailCondition {
  std::string text;
  std::string metric; ///< a dashboard metric, with or without GPU_, NCCL_ and _time
  double percent = 0;
};
/// Parses one condition. Errors: kUsage, also for a metric that no comparison has.
Result<FailCondition> parse_fail_condition(const std::string& text);

/// Reads one condition per line; ignores empty lines and text after #. Errors: kUnreadable; kUsage,
/// with the line.
Result<std::vector<FailCondition>> read_fail_conditions(const std::string& path);

/// The result of one condition for one test run.
struct ConditionOutcome {
  std::string label; ///< label of the test run
  std::string condition;
  JudgedCondition judged;

  [[nodiscard]] ConditionState state() const { return judged.state; }
  /// Returns the values, or why they cannot be judged.
  [[nodiscard]] const std::string& words() const { return judged.finding.evidence; }
};

/// The results of the --fail-on conditions, in words.
struct FailOutcome {
  std::vector<ConditionOutcome> conditions; ///< in request order; one entry per condition and test
  std::vector<std::string> regressions;     ///< conditions that are met
  std::vector<std::string> unjudged;        ///< conditions that cannot be judged
  /// Whether all runs of the conditions have the same ranks as the baseline and do the same work.
  bool comparable = true;
};

struct CompareRequest {
  std::vector<std::string> folders; ///< the baseline, then the tests: folders or saved baselines
  std::vector<std::string> labels; ///< one per folder, all different: they name folders and columns
  std::string output;   ///< folder; "" = no folder, and no output that needs it is requested
  std::string markdown; ///< file for the verdict, "-" = stdout, empty = none
  bool append_markdown = false; ///< append: several steps may write one job summary
  std::string junit;            ///< file for the conditions as JUnit's XML; empty = none
  std::string verdict;          ///< file for the verdict as JSON; empty = none
  std::vector<FailCondition> fail_on;
  JudgeRule rule;
  DiscoverOptions discover;
  bool reports_only = false; ///< never read traces
  bool individual = true;    ///< write the report of each rank
  bool collective = true;    ///< gather collectives
  bool write_reports = true; ///< false: write no reports of the runs that are read
  bool timeline_workbooks = true, collective_workbooks = true, final_workbook = true;
  bool page = true, svg = false;
  bool geomean = false;
  AlignMode align = AlignMode::kCollectives; ///< clock alignment in the collective reports
};

struct CompareResult {
  Comparison comparison;
  ComparisonFindings findings;
  Report final;                     ///< the workbook's sheets, even if the workbook is not written
  std::vector<std::string> written; ///< files
  FailOutcome fail_on;
  std::optional<Error> page_error; ///< the page or its plots failed; all other outputs exist
};

/// Returns the last part of each path. If two are equal, returns names made of the parts in which
/// the paths differ: the first of these parts, joined with _, as many as make all names distinct.
/// Example: a/x/run and b/x/run get the names a and b. The ending of a saved baseline is left out.
[[nodiscard]] std::vector<std::string> folder_names(const std::vector<std::string>& folders);
/// Returns whether `file` is named NAME.rsb or its compressed form.
[[nodiscard]] bool names_baseline(std::string_view file);
/// Replaces text that cannot name a folder below the output ("..", "a/b", empty text); equal labels
/// get _2, _3, ...
[[nodiscard]] std::vector<std::string> distinct_labels(std::vector<std::string> labels);

/// Labels that the user gave; empty: no labels given.
struct GivenLabels {
  std::vector<std::string> all; ///< one per run, the baseline's label first
  std::string baseline;
  std::vector<std::string> tests; ///< labels of the first tests
};
/// Returns a distinct label per run: the given label, else that of a saved baseline, else the name
/// from folder_names(). Errors: kUsage if the number of labels does not match.
[[nodiscard]] Result<std::vector<std::string>> labels_for(const std::vector<std::string>& folders,
                                                          const GivenLabels& given);

/// Reads all runs, compares them, and writes the outputs. Errors: kUnreadable, kOutput. A page that
/// fails does not fail the command. The session is partial if the PNG plots are left out (without
/// Cairo), or if the conditions have runs that are not comparable.
Result<CompareResult> compare_folders(Session& session, const CompareRequest& request);

/// Reads all runs and compares them; writes at most the reports of the runs that are read. Errors:
/// kUnreadable, kOutput.
Result<Comparison> load_comparison(Session& session, const CompareRequest& request);

/// Judges the conditions. A change within the noise is not a regression. A change that is not
/// judged (one sample, different ranks or work, metrics that the runs lack) is not a regression
/// either.
[[nodiscard]] FailOutcome fail_outcome(const Comparison& comparison,
                                       const std::vector<FailCondition>& conditions);

} // namespace rankscope
