// Groups of comparison rows that are judged together. For tests that count wrong verdicts.
#pragma once

#include "analyses/compare/compare_runs.h"

#include <vector>

namespace rankscope::test {

struct RowFamily {
  const char* name;
  std::vector<Verdict> (*verdicts)(const Comparison&);
  int pairs = 0, pairs_with = 0; ///< compared pairs of runs; those with a counted row
  int rows = 0, rows_with = 0;
};

template <class Rows> std::vector<Verdict> verdicts_of(const Rows& rows) {
  std::vector<Verdict> out;
  for (const auto& row : rows)
    out.push_back(row.judgement.verdict);
  return out;
}

/// Returns the families of rows of a comparison with one test run.
inline std::vector<RowFamily> row_families() {
  return {
      {"Summary_Comparison", [](const Comparison& c) { return verdicts_of(c.timelines[0].mean); }},
      {"Comparison_By_Rank",
       [](const Comparison& c) { return verdicts_of(c.timelines[0].by_rank); }},
      {"nccl_implicit_sync_cmp",
       [](const Comparison& c) { return verdicts_of(c.collectives[0].all_ranks); }},
      {"nccl_long_cmp", [](const Comparison& c) { return verdicts_of(c.collectives[0].by_rank); }},
      {"dashboard NCCL", [](const Comparison& c) {
         std::vector<Verdict> out;
         for (std::size_t i = c.dashboard.gpu_rows; i < c.dashboard.rows.size(); ++i)
           out.push_back(c.dashboard.rows[i].tests[0]->judgement.verdict);
         return out;
       }}};
}

} // namespace rankscope::test
