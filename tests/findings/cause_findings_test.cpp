#include "findings/cause_findings.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

// A rank can compute longer than its peers without being late, but a late rank is late.
TEST(CauseFindings, ARankWithoutACauseIsNotCalledBothLateAndNotLate) {
  CauseFacts facts;
  facts.ranks = 4;
  facts.stacks = true;
  facts.late_rank_parts.resize(1);
  facts.late_rank_parts[0].rank = 3;
  facts.late_rank_parts[0].all.excess_ms = -4.02;
  facts.unexplained_ranks = {{3, 5.76}};
  EXPECT_EQ(unsaid_lines(facts).at(0),
            "rank 3 computes 5.76 ms longer than its peers; it is not late at its collectives");
  facts.unexplained_ranks = {{3, 0}};
  EXPECT_EQ(unsaid_lines(facts).at(0),
            "rank 3 is later than its peers; the differences of its kernels and host activities "
            "do not add up to this");
}

} // namespace
} // namespace rankscope
