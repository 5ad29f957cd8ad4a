// Findings of a sweep: the answer, the reasons, what to do next.
#pragma once

#include "analyses/sweep/sweep.h"
#include "analyses/sweep/sweep_judgement.h"
#include "core/finding.h"

#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// Returns the findings by importance: the fastest configurations and the cost of the others, the
/// reasons, the work that takes time, and the GEMMs that vary. The facts' own findings are not
/// read.
[[nodiscard]] std::vector<Finding> sweep_findings(const SweepFacts& facts);
/// Returns these findings when the tests were made before.
[[nodiscard]] std::vector<Finding> sweep_findings(const SweepFacts& facts,
                                                  const SweepJudgement& judgement);

/// Findings as text: the answer in one paragraph, one line per reason and one line per action.
struct AnswerText {
  std::string answer;
  std::vector<std::string> reasons, actions;
};
[[nodiscard]] AnswerText answer_text(std::span<const Finding> findings);

} // namespace rankscope
