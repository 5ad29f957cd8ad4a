// Offsets that the generator put into the clocks come back out of the ends of the collectives.
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
  if (o.seq) // without Seq, shifted windows cannot be told apart
    o.shift_window = 3;
  ASSERT_TRUE(synth::generate(o, folder.path(), 1, nullptr));
  simdjson::dom::parser parser;
  simdjson::dom::element truth;
  ASSERT_EQ(parser.load(folder.path() + "/ground_truth.json").get(truth), simdjson::SUCCESS);
  std::vector<CollectiveEnds> ends;
  std::vector<std::int64_t> injected;
  for (const auto rank : truth["configs"].at(0)["ranks"].get_array()) {
    const Result<Trace> trace =
        read_trace(folder.path() + "/" + std::string(rank["file"].get_string().value()));
    ASSERT_TRUE(trace);
    ends.push_back(collective_ends(*trace, rank["rank"].get_int64().value()));
    injected.push_back(rank["clock_offset_ns"].get_int64().value());
  }
  const std::vector<ClockOffset> found = align_clocks(ends);
  ASSERT_EQ(found.size(), 8U);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(found[i].aligned);
    // the generator lets ranks leave within 3 us; medians of two hops stay well below that
    EXPECT_NEAR(static_cast<double>(found[i].offset_ns),
                static_cast<double>(injected[i] - injected[0]), 2500)
        << "rank " << i;
    EXPECT_LT(found[i].residual_ns, 3000);
  }
  EXPECT_EQ(found[0].offset_ns, 0);
}
INSTANTIATE_TEST_SUITE_P(Groups, ClockAlignment,
                         ::testing::Combine(::testing::Values(1, 2), ::testing::Bool()));

TEST(ClockAlignmentByHand, MedianAndChains) {
  // rank 1 against rank 0: +100, +100, +900 (one late leaver); rank 2 only meets rank 1: -50
  const std::vector<CollectiveEnds> ranks = {
      {0, {{"a", 1000}, {"b", 2000}, {"c", 3000}}},
      {1, {{"a", 1100}, {"b", 2100}, {"c", 3900}, {"x", 5000}}},
      {2, {{"x", 4950}}},
      {7, {{"y", 1}}},
  };
  const std::vector<ClockOffset> found = align_clocks(ranks);
  EXPECT_EQ(found[1].offset_ns, 100);
  EXPECT_EQ(found[1].residual_ns, 0);
  EXPECT_EQ(found[1].samples, 3U);
  EXPECT_EQ(found[2].offset_ns, 50);
  EXPECT_EQ(found[2].via, 1);
  EXPECT_FALSE(found[3].aligned);
  EXPECT_TRUE(align_clocks({}).empty());
}

} // namespace
} // namespace rankscope
