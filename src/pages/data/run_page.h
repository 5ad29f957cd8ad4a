// The page data of one trace, or of the ranks of a run.
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "analyses/job/path_rows.h"
#include "analyses/top/top_facts.h"
#include "pages/data/page_head.h"
#include "pages/data/rank_page.h"

#include <functional>
#include <string>
#include <vector>

namespace rankscope {

struct RunPageInput {
  const TopFacts* top = nullptr;
  const TopParts* parts = nullptr;              ///< parts of the same ranks as `ranks`
  const CollectiveFacts* collectives = nullptr; ///< nullptr if the ranks have no collectives
  std::vector<RankPage> ranks;                  ///< ascending
  /// If set, `ranks` contain only rank number and times, and this function returns the complete
  /// rank at an index of `ranks`. It is called only for the ranks that the page shows individually.
  std::function<Result<RankPage>(std::size_t)> load_rank = {};
  std::string command = {};         ///< the command that makes the page
  std::vector<PageLink> links = {}; ///< links to files with the same data
  std::vector<PathPart> path = {};  ///< critical path; empty: unknown
};

/// Returns the data as a blob (pages/data/page_blob.h). Values are equal to those of `top`. Errors:
/// those of `load_rank`.
[[nodiscard]] Result<std::string> run_page_data(const RunPageInput& input);

} // namespace rankscope
