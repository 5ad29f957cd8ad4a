// Findings of a sweep: the answer, its reasons, and what to do next.
#pragma once

#include "analyses/sweep/sweep.h"
#include "analyses/sweep/sweep_judgement.h"
#include "core/finding.h"

#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// Returns the findings in order of importance: the fastest configurations and the cost of the
/// others, the reasons, the work that takes time, and GEMMs whose time varies. The findings in
/// `facts` are not used.
[[nodiscard]] std::vector<Finding> sweep_findings(const SweepFacts& facts);
/// Like the function above, if the tests have been made before.
[[nodiscard]] std::vector<Finding> sweep_findings(const SweepFacts& facts,
                                                  const SweepJudgement& judgement);

/// The findings as text: one paragraph with the answer, one line per reason and one line per
/// action.
struct AnswerText {
  std::string answer;
  std::vector<std::string> reasons, actions;
};
[[nodiscard]] AnswerText answer_text(std::span<const Finding> findings);

} // namespace rankscope
