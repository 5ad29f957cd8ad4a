// The causes of a run (analyses/job/causes.h) as findings: the effect, its numbers and the excluded
// alternatives, and what to do.
#pragma once

#include "analyses/job/causes.h"
#include "analyses/top/top_facts.h"
#include "core/finding.h"
#include "core/schema.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// Returns the causes as findings, largest gain first. Value and interval are the gain per step.
[[nodiscard]] std::vector<Finding> cause_findings(const CauseFacts& facts);
/// Returns a finding on communication without overlap of at least 5 % of a step: waiting for late
/// ranks and transfer.
[[nodiscard]] std::optional<Finding> exposed_time_finding(const CauseFacts& facts);
/// Returns "gains 30.0 ms (29.0 to 31.0)", "gains at most 17.4 ms", or "" where the graph explains
/// too little.
[[nodiscard]] std::string gain_text(const CauseFacts& facts, const StepCause& cause);
/// Returns what is uncertain because the clocks of the ranks differ or were not compared; "":
/// nothing.
[[nodiscard]] std::string clock_text(const CauseFacts& facts);
/// Returns "step 12 is left out: ...".
[[nodiscard]] std::string boundary_step_text(const BoundaryStep& step);
[[nodiscard]] Finding boundary_step_finding(const BoundaryStep& step);
/// Returns "step 6 takes 502 ms, 390 ms longer than the median step: ...".
[[nodiscard]] std::string long_step_text(const LongStep& step);
/// Returns why some signs of causes are not reported, one line for each rule and reason, and what
/// the trace does not contain.
[[nodiscard]] std::vector<std::string> unsaid_lines(const CauseFacts& facts);

/// Returns the commands that check the remedies of the first three causes, each once; most remedies
/// have no such command. A word stands for the paths of the run: with_paths() replaces it.
[[nodiscard]] std::vector<TopNext> cause_commands(const CauseFacts& facts);
/// Returns the commands with the paths of the run, as the user gave them. Empty for standard input.
/// With several paths, commands for one folder are left out.
[[nodiscard]] std::vector<TopNext> with_paths(const std::vector<TopNext>& commands,
                                              const std::vector<std::string>& paths);

/// What causes.def says about a rule.
struct CauseHelp {
  const FindingRule& finding;
  std::string_view question, detection, applies_to, remedy, source, checked;
};
[[nodiscard]] const CauseHelp& help_of(CauseRule rule);

/// The remedies of the causes, a row for each rule and remedy, for JSON and for the dictionary of
/// columns.
[[nodiscard]] Table remedy_table(const CauseFacts& facts);
[[nodiscard]] SheetInfo remedy_sheet();

} // namespace rankscope
