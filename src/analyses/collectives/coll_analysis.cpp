// coll_analysis: the collective summary of a single trace (perf-report.md 1.9).
#include "analyses/analysis.h"
#include "analyses/collectives/collective_report.h"

namespace rankscope {
namespace {

Result<std::vector<Table>> run(const LoadedTrace& t, const ReportOptions& options) {
  std::vector<Table> out;
  if (!options.coll_analysis || t.trace.collectives.empty())
    return out;
  const RankCollectives mine = extract_collectives(t);
  Table table = nccl_summary_long({&mine}, "coll_analysis");
  if (table.rows() > 0)
    out.push_back(std::move(table));
  return out;
}

} // namespace

const Analysis coll_analysis_analysis{
    "coll_analysis", "collectives of this rank", {"coll_analysis"}, run};

} // namespace rankscope
