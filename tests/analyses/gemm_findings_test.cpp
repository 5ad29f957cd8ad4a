// What is said of the GEMMs with the largest spread.
#include "analyses/gemm/gemm_facts.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

/// Rows whose calls are 10 us slower when overlapped, +- 8 us for one alone (ten calls).
GemmFacts rows_of(std::size_t n) {
  GemmFacts facts;
  for (std::size_t i = 0; i < n; ++i) {
    GemmRow& row = facts.rows.emplace_back();
    row.op = "aten::mm";
    row.dims = std::to_string(i);
    row.calls_us.count = 10;
    row.slowdown_us = 10;
    row.slowdown_half_us = 8;
  }
  return facts;
}

// The most spread rows are chosen out of all: each interval is at a level for all of them.
TEST(GemmFindings, TheIntervalIsForAllRows) {
  const std::string one = gemm_findings(rows_of(1), 1).at(0);
  EXPECT_NE(one.find("collectives explain it: 10.0 +- 8.0 us"), std::string::npos) << one;
  // t(8) is 2.306 at 95 % and 3.833 at 99.5 %: 8 * 3.833 / 2.306 = 13.3
  const std::string ten = gemm_findings(rows_of(10), 1).at(0);
  EXPECT_NE(ten.find("it cannot be told whether collectives matter: 10.0 +- 13.3 us"),
            std::string::npos)
      << ten;
  EXPECT_NE(ten.find("95 % over 10 rows"), std::string::npos) << ten;
}

} // namespace
} // namespace rankscope
