// Tests that clock offsets that the generator adds are found from the ends of the collectives.
#include "analyses/collectives/clock_alignment.h"
#include "readers/reader.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <gtest/gtest.h>
#include <simdjson.h>

namespace rankscope {
namespace {

class ClockAlignment : public ::testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(ClockAlignment, InjectedOffsetsAreFound) {
  test::TempFolder folder;
  synth::Options o;
  o.threads = {256};
  o.channels = {42};
  o.layers = 3;
  o.steps = 3;
  o.clock_offset_us = 20000;
  o.process_groups = std::get<0>(GetParam());
  o.seq = std::get<1>(GetParam());
  o.straggler_us = 3000;
  o.shift_window = 3;
  ASSERT_TRUE(synth::generate(o, folder.path(), 1, nullptr));
  simdjson::dom::parser parser;
  simdjson::dom::element truth;
  ASSERT_EQ(parser.load(folder.path() + "/ground_truth.json").get(truth), simdjson::SUCCESS);
  std::vector<RankCollectives> ranks;
  std::vector<std::int64_t> injected;
  for (const auto rank : truth["configs"].at(0)["ranks"].get_array()) {
    const Result<Trace> trace =
        read_trace(folder.path() + "/" + std::string(rank["file"].get_string().value()));
    ASSERT_TRUE(trace);
    ranks.push_back(described_collectives(*trace, rank["rank"].get_int64().value()));
    injected.push_back(rank["clock_offset_ns"].get_int64().value());
  }
  const MatchResult match = match_collectives(ranks);
  // Without Seq, the window that lacks a step is reported for each group of the rank. For groups
  // with two collectives per step, only the clocks found with the larger groups show the shift.
  ASSERT_EQ(match.problems.size(), o.seq ? 0U : o.process_groups == 1 ? 1U : 3U);
  for (const CollectiveProblem& p : match.problems) {
    EXPECT_EQ(p.rank, 3);
    EXPECT_TRUE(p.partial);
    EXPECT_NE(p.problem.find("; collectives are matched with this shift"), std::string::npos)
        << p.problem;
  }
  const std::vector<CollectiveEnds> ends = collective_ends(ranks, match.collectives);
  const std::vector<ClockOffset> found = align_clocks(ends);
  ASSERT_EQ(found.size(), 8U);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(found[i].aligned());
    // generated ranks leave within 3 us; medians over two hops have a much smaller error
    EXPECT_NEAR(static_cast<double>(found[i].line.offset_ns),
                static_cast<double>(injected[i] - injected[0]), 2500)
        << "rank " << i;
    EXPECT_LT(found[i].residual_ns, 3000);
  }
  EXPECT_EQ(found[0].line.offset_ns, 0);
}
INSTANTIATE_TEST_SUITE_P(Groups, ClockAlignment,
                         ::testing::Combine(::testing::Values(1, 2), ::testing::Bool()));

CollectiveEnds ends_of(std::int64_t rank, std::vector<std::pair<std::size_t, std::int64_t>> ends) {
  CollectiveEnds out;
  out.rank = rank;
  for (const auto& [id, end] : ends)
    out.ends.push_back({id, end - 10, end});
  return out;
}

TEST(ClockAlignmentByHand, MedianAndChains) {
  // rank 1 relative to rank 0: +100, +100, +900 (it leaves late once); rank 2 only shares a
  // collective with rank 1: -50
  const std::vector<CollectiveEnds> ranks = {
      ends_of(0, {{1, 1000}, {2, 2000}, {3, 3000}}),
      ends_of(1, {{1, 1100}, {2, 2100}, {3, 3900}, {8, 5000}}),
      ends_of(2, {{8, 4950}}),
      ends_of(7, {{9, 1}}),
  };
  const std::vector<ClockOffset> found = align_clocks(ranks);
  EXPECT_EQ(found[1].line.offset_ns, 100);
  EXPECT_EQ(found[1].residual_ns, 0);
  EXPECT_EQ(found[1].samples, 3U);
  EXPECT_EQ(found[2].line.offset_ns, 50);
  EXPECT_EQ(found[2].via, 1);
  EXPECT_FALSE(found[3].aligned());
  EXPECT_EQ(clock_note(found[3]),
            "rank 7: its clock is not aligned: it shares no collective with an aligned rank");
  EXPECT_TRUE(align_clocks({}).empty());
}

// Ends vary by 1.2 ms around an offset of 2 ms, starts by 0.3 ms: the offset is not a reliable
// measurement.
TEST(ClockAlignmentByHand, AFitThatScattersMoreThanItsEffectIsNotUsed) {
  CollectiveEnds base;
  CollectiveEnds other;
  other.rank = 3;
  for (std::size_t i = 0; i < 40; ++i) {
    const auto t = static_cast<std::int64_t>(i) * 10'000'000;
    const std::int64_t end = t + 2'000'000 + (static_cast<std::int64_t>(i % 3) - 1) * 1'200'000;
    base.ends.push_back({i, t - 5'000'000, t});
    other.ends.push_back(
        {i, t - 5'000'000 + 2'000'000 + (static_cast<std::int64_t>(i % 3) - 1) * 300'000, end});
  }
  const ClockOffset poor = align_clocks(std::vector{base, other})[1];
  EXPECT_EQ(poor.fit, ClockFit::kPoor);
  EXPECT_TRUE(poor.scattered());
  EXPECT_EQ(poor.used().at(12345), 0); // the time base is used
  EXPECT_EQ(clock_note(poor).substr(0, 48), "rank 3: its clock is not aligned: the ends of 40");
  // a clock that is one second ahead is aligned, although the ranks leave the collectives at
  // different times
  for (SharedEnd& e : other.ends) {
    e.start_ns += 1'000'000'000;
    e.end_ns += 1'000'000'000;
  }
  EXPECT_EQ(align_clocks(std::vector{base, other})[1].fit, ClockFit::kAligned);
}

// ST-C23: if ranks do not wait for each other, one rank was aligned, because its offset is four
// times its variation, and the other ranks were not: the report mixed two clocks.
TEST(ClockAlignmentByHand, RanksThatScatterStayOnOneClock) {
  std::vector<CollectiveEnds> ranks(3);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    ranks[r].rank = static_cast<std::int64_t>(r);
    const std::int64_t offset = r == 2 ? 500'000 : 0;
    for (std::size_t i = 0; i < 40; ++i) {
      const auto scatter = (static_cast<std::int64_t>(i * (r + 2) * 7 % 5) - 2) * 100'000;
      const std::int64_t end =
          static_cast<std::int64_t>(i) * 10'000'000 + offset + (r == 0 ? 0 : scatter);
      ranks[r].ends.push_back({i, end - 5'000'000, end});
    }
  }
  std::vector<ClockOffset> clocks = align_clocks(ranks);
  EXPECT_EQ(clocks[1].fit, ClockFit::kPoor);
  EXPECT_EQ(clocks[2].fit, ClockFit::kPoor) << clocks[2].residual_ns;
  // without the rank whose fit is poor
  ranks.erase(ranks.begin() + 1);
  EXPECT_EQ(align_clocks(ranks)[1].fit, ClockFit::kAligned);
}

// 30 us per second over 20 s: with a constant offset, the error is 300 us at both ends.
TEST(ClockAlignmentByHand, ALongWindowGetsADrift) {
  CollectiveEnds base;
  CollectiveEnds other;
  other.rank = 1;
  for (std::size_t i = 0; i < 200; ++i) {
    const auto t = static_cast<std::int64_t>(i) * 100'000'000;
    const auto noise = static_cast<std::int64_t>((i * 7919) % 2000) - 1000; // +- 1 us
    base.ends.push_back({i, t - 5'000'000, t});
    other.ends.push_back(
        {i, t - 4'900'000, t + 500'000 + static_cast<std::int64_t>(i) * 3'000 + noise});
  }
  const ClockOffset drifting = align_clocks(std::vector{base, other})[1];
  EXPECT_NEAR(static_cast<double>(drifting.line.drift_ppt), 30e6, 1e5);
  EXPECT_LT(drifting.residual_ns, 1000);
  EXPECT_NEAR(static_cast<double>(drifting.used().at(base.ends[0].end_ns)), 500'000, 1500);
  EXPECT_NEAR(static_cast<double>(drifting.used().at(base.ends[199].end_ns)), 1'097'000, 1500);
  // noise alone does not give a drift, and neither do few collectives
  for (std::size_t i = 0; i < 200; ++i)
    other.ends[i].end_ns -= static_cast<std::int64_t>(i) * 3'000;
  EXPECT_EQ(align_clocks(std::vector{base, other})[1].line.drift_ppt, 0);
  base.ends.resize(10);
  EXPECT_EQ(align_clocks(std::vector{base, other})[1].line.drift_ppt, 0);
}

} // namespace
} // namespace rankscope
