// The rank analysis "gemm": the five GEMMs of each rank whose calls differ most, the three tables
// of all of them.
#include "analyses/gemm/gemm_part.h"
#include "analyses/rank_analysis.h"

namespace rankscope {
namespace {

constexpr std::size_t kTopK = 5; // as the documented tables have it

Result<GemmFacts> extract_rank_gemms(const LoadedTrace& trace, const RankOptions& options) {
  std::vector<RankGemms> rank(1);
  rank[0] = extract_gemms(trace, options.report);
  RS_CHECK(attach_sheet(rank[0], trace, options.report));
  return gemm_facts(rank, kTopK, GemmRanking::kRange);
}

Result<Report> combine_rank_gemms(const std::vector<GemmFacts>& ranks, const RankOptions&) {
  std::vector<const GemmFacts*> parts;
  for (const GemmFacts& rank : ranks)
    parts.push_back(&rank);
  const GemmFacts all = join_gemm_facts(parts, GemmRanking::kRange);
  Report out;
  for (const GemmTable t : {GemmTable::kVariance, GemmTable::kTimestamps, GemmTable::kOverlap})
    out.tables.push_back(gemm_table(all, t, kTopK));
  return out;
}

} // namespace

const RankAnalysis gemm_rank_analysis =
    rank_analysis<GemmFacts, extract_rank_gemms, combine_rank_gemms>(
        "gemm", "GEMMs whose calls differ most, when, and the collectives that overlap them",
        kGemmFactsVersion);

} // namespace rankscope
