// The rank analysis "collectives": RankCollectives of each rank, one report of all of them.
#include "analyses/collectives/collective_part.h"
#include "analyses/collectives/collective_report.h"
#include "analyses/rank_analysis.h"

namespace rankscope {
namespace {

Result<RankCollectives> extract_rank_collectives(const LoadedTrace& trace, const RankOptions&) {
  return extract_collectives(trace);
}

Result<Report> combine_rank_collectives(const std::vector<RankCollectives>& ranks,
                                        const RankOptions& options) {
  CollectiveOptions collectives;
  collectives.compat_tracelens = options.report.compat_tracelens;
  return build_collective_report(ranks, collectives);
}

} // namespace

const RankAnalysis collectives_rank_analysis =
    rank_analysis<RankCollectives, extract_rank_collectives, combine_rank_collectives>(
        "collectives", "bandwidth, skew, stragglers and exposed time of all ranks' collectives",
        kRankCollectivesVersion);

} // namespace rankscope
