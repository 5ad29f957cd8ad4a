#include "analyses/sweep/sweep.h"

#include "analyses/sweep/sweep_findings.h"

#include <algorithm>

namespace rankscope {

bool SweepFacts::empty() const {
  return std::all_of(records.begin(), records.end(),
                     [](const RankRecord& r) { return !r.error.empty(); });
}

void add_findings(SweepFacts& sweep) {
  const SweepJudgement judgement = judge(sweep.records);
  sweep.findings = summary_findings(judgement, sweep.records);
  for (std::string& finding : gemm_findings(sweep.gemms, 5))
    sweep.findings.push_back(std::move(finding));
  sweep.next = next_steps(judgement, sweep.collectives);
}

} // namespace rankscope
