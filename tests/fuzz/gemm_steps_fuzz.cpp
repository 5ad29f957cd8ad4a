// The input has two tables that the steps of the GEMM analysis exchange: GEMM variance and
// collectives. The first table is also tested as the GEMM sheet of a report. Each step must return
// as many rows as it gets.
#include "analyses/gemm/gemm_steps.h"
#include "fuzz/fuzz_target.h"
#include "readers/reports/report_tables.h"

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

using namespace rankscope;

namespace {

/// Calls that match rows of the seeds, by operator and by kernel.
RankGemms calls() {
  RankGemms out;
  GemmGroup group;
  group.op = "aten::mm";
  group.kernel = "Cijk_a";
  group.dims = "[[4, 8], [8, 6]]";
  group.strides = "[[8, 1], [6, 1]]";
  group.instances = {{1'000'000, 10'000}, {2'000'000, 30'000}};
  group.longest = 1;
  out.groups.push_back(std::move(group));
  return out;
}

} // namespace

RS_FUZZ_TARGET(gemm_steps) {
  std::string parts[2]; // the table, the collectives
  test::split_parts(bytes, parts);
  const Table variance = table_from_csv("top5_gemm_kernels_time_variance", parts[0]).value();
  const Table collectives = table_from_csv("nccl_long", parts[1]).value();
  static const RankGemms gemms = calls();
  std::vector<FoundInstances> found;
  for (std::size_t r = 0; r < variance.rows(); ++r)
    found.push_back(find_instances(variance, r, gemms));
  const Table timestamps = with_timestamps(variance, found, 0.01);
  if (timestamps.rows() != variance.rows())
    std::abort();
  const std::vector<const Table*> sheets(timestamps.rows(), &collectives);
  if (with_overlap(timestamps, sheets).rows() != variance.rows())
    std::abort();
  Report report;
  report.tables.push_back(variance);
  report.tables.back().set_name("GEMM");
  if (const auto facts = variance_of_report(report, {}, 5); facts && facts->rows.size() > 5)
    std::abort();
}
