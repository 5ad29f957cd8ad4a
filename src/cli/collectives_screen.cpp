#include "cli/collectives_screen.h"

#include "analyses/collectives/collective_schemas.h"
#include "analyses/collectives/like_groups.h"
#include "base/number_text.h"
#include "base/sort.h"

#include <fmt/format.h>

namespace rankscope {

void show_collectives(const Context& ctx, const CollectivesResult& result) {
  constexpr std::size_t kRows = 16;
  const auto show = [&ctx](const Table& table) {
    if (table.rows() == 0)
      return;
    ctx.out(table.name() + "\n");
    ctx.table(table, kRows);
    ctx.out("\n");
  };
  const CollectiveFacts& facts = result.facts;
  show(sync_summary_short_schema().table(
      facts.summary.size() > kRows ? over_like_groups(facts.summary) : facts.summary));
  show(straggler_schema().table(facts.stragglers)); // the ranks for which others wait are first
  std::vector<ExposedRank> exposed = facts.exposed_ranks;
  if (exposed.size() > kRows) { // if not all rows fit, the outliers are first
    sort_stably(exposed, std::ranges::greater(), &ExposedRank::exposed_ns);
    for (const std::string& line : rank_spreads(facts))
      ctx.out(line + "\n");
    ctx.out("\n");
  }
  show(exposed_rank_schema().table(exposed));
  for (const Finding& finding : result.findings)
    ctx.out("- " + finding.sentence() + "\n");
  for (const std::string& w : result.written)
    ctx.out(fmt::format("{}: {}, {}\n", w, counted(result.report.tables.size(), "sheet", "sheets"),
                        counted(result.ranks, "rank", "ranks")));
}

} // namespace rankscope
