// What a sweep shows: the answer, the reasons, what to do next.
#pragma once

#include "analyses/sweep/sweep.h"
#include "analyses/sweep/sweep_judgement.h"
#include "core/finding.h"

#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// In the order of their importance: which configurations are fastest and what the others cost,
/// why, what takes time, which GEMMs vary. The facts' own findings are not read.
[[nodiscard]] std::vector<Finding> sweep_findings(const SweepFacts& facts);
/// The same where the tests were made before.
[[nodiscard]] std::vector<Finding> sweep_findings(const SweepFacts& facts,
                                                  const SweepJudgement& judgement);

/// Findings as text: the answer in one paragraph, a line for each reason, a line for
/// each thing to do.
struct AnswerText {
  std::string answer;
  std::vector<std::string> reasons, actions;
};
[[nodiscard]] AnswerText answer_text(std::span<const Finding> findings);

} // namespace rankscope
