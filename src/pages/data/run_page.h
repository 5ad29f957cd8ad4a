// The page data of a trace, or of the ranks of a run.
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
  const CollectiveFacts* collectives = nullptr; ///< null if the ranks have no collectives
  std::vector<RankPage> ranks;                  ///< ascending
  /// If set, `ranks` contain only number and times, and this returns the complete rank at an index
  /// of `ranks`. Called for those that are shown one by one.
  std::function<Result<RankPage>(std::size_t)> whole = {};
  std::string command = {};         ///< the command that makes the page
  std::vector<PageLink> links = {}; ///< to files of the same data
};

/// Returns the blob of pages/data/page_blob.h. Values are those of `top`. Errors: those of `whole`.
[[nodiscard]] Result<std::string> run_page_data(const RunPageInput& input);

} // namespace rankscope
