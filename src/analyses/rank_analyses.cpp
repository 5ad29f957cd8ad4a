#include "analyses/rank_analysis.h"

#include <algorithm>
#include <vector>

namespace rankscope {

std::span<const RankAnalysis* const> rank_analyses() {
  static const std::vector<const RankAnalysis*> kAll = {
#define RANKSCOPE_RANK_ANALYSIS(id) &id##_rank_analysis,
#include "analyses/rank_analyses.def"
#undef RANKSCOPE_RANK_ANALYSIS
  };
  return kAll;
}

const RankAnalysis* find_rank_analysis(std::string_view name) {
  const auto all = rank_analyses();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const RankAnalysis* a) { return a->name == name; });
  return found == all.end() ? nullptr : *found;
}

} // namespace rankscope
