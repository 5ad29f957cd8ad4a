// The data of the page of a trace, or of the ranks of a run.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "analyses/top/top_facts.h"
#include "pages/data/page_head.h"
#include "pages/data/rank_page.h"

#include <functional>
#include <string>
#include <vector>

namespace rankscope {

struct RunPageInput {
  const TopFacts* top = nullptr;
  const TopParts* parts = nullptr;              ///< of the same ranks as `ranks`
  const CollectiveFacts* collectives = nullptr; ///< none where the ranks have none
  std::vector<RankPage> ranks;                  ///< ascending
  /// Where set, `ranks` have their number and times alone, and this gives the whole of one by its
  /// place. Called for those that are shown one by one.
  std::function<Result<RankPage>(std::size_t)> whole = {};
  std::string command = {};         ///< that makes the page
  std::vector<PageLink> links = {}; ///< of files beside it
};

/// The blob of pages/data/page_blob.h. Figures are those of `top`. Errors: those of `whole`.
[[nodiscard]] Result<std::string> run_page_data(const RunPageInput& input);

} // namespace rankscope
