// The rank analysis "timeline": the timeline and GEMM kernels of each rank, the summary of all.
#include "analyses/rank_analysis.h"
#include "analyses/sweep/sweep_part.h"

namespace rankscope {
namespace {

Result<RankRecord> extract_rank_records(const LoadedTrace& trace, const RankOptions& options) {
  return make_record(trace, options.report);
}

Result<Report> combine_rank_records(const std::vector<RankRecord>& ranks, const RankOptions&) {
  Report out;
  out.tables = summary_tables(ranks, 0);
  return out;
}

} // namespace

const RankAnalysis timeline_rank_analysis =
    rank_analysis<RankRecord, extract_rank_records, combine_rank_records>(
        "timeline", "how the GPUs' time divides on each rank, the slowest rank, GEMM kernels",
        kRankRecordVersion);

} // namespace rankscope
