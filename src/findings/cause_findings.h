// The causes of a run (analyses/job/causes.h) as findings: what happens, the numbers behind it and
// what was excluded, what to do.
#pragma once

#include "analyses/job/causes.h"
#include "core/finding.h"

#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// Most gain first. Value and interval are the gain of a step.
[[nodiscard]] std::vector<Finding> cause_findings(const CauseFacts& facts);
/// Communication that nothing overlaps, at least 5 % of a step: waiting for late ranks and
/// transfer.
[[nodiscard]] std::optional<Finding> exposed_time_finding(const CauseFacts& facts);
/// "gains 30.0 ms (29.0 to 31.0)", "gains at most 17.4 ms"; "" where the graph explains too little.
[[nodiscard]] std::string gain_text(const CauseFacts& facts, const StepCause& cause);
/// "step 12 is left out: ...".
[[nodiscard]] std::string boundary_step_text(const BoundaryStep& step);
/// Why signs of causes are not reported, one line for each rule and reason, and what the trace
/// does not contain.
[[nodiscard]] std::vector<std::string> unsaid_lines(const CauseFacts& facts);

/// A row of remedies.def.
struct Remedy {
  CauseRule rule;
  std::string_view applies_to, text, source, checked;
};
[[nodiscard]] const Remedy& remedy_of(CauseRule rule);
/// The catalogue: a row for each rule, in the order of CauseRule.
struct CauseRuleHelp {
  std::string_view id, question, detection;
};
[[nodiscard]] const CauseRuleHelp& help_of(CauseRule rule);

} // namespace rankscope
