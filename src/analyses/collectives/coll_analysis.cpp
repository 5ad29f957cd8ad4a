// coll_analysis: the collective summary of a single trace (docs/reference/collective-formulas.md
// 2).
#include "analyses/analysis.h"
#include "analyses/collectives/collective_schemas.h"
#include "analyses/collectives/collective_sums.h"

namespace rankscope {
namespace {

std::vector<SheetInfo> describe_coll_analysis(const ReportOptions&) {
  return {rank_summary_schema("coll_analysis", false).info()};
}

Result<std::vector<Table>> run_coll_analysis(const LoadedTrace& t, const ReportOptions& options) {
  std::vector<Table> out;
  if (!options.coll_analysis || t.trace.collectives.empty())
    return out;
  RankCollectives collectives = extract_collectives(t);
  if (options.compat_tracelens)
    collectives.rank = 0; // the reference does not determine the rank of a single trace
  if (const std::vector<RankSummary> rows = rank_summary({&collectives}, 0); !rows.empty())
    out.push_back(rank_summary_schema("coll_analysis", false).table(rows));
  return out;
}

} // namespace

const Analysis coll_analysis_analysis{"coll_analysis",
                                      "collectives of this rank",
                                      {"coll_analysis"},
                                      run_coll_analysis,
                                      describe_coll_analysis};

} // namespace rankscope
