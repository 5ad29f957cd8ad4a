// Tests files with several ranks and from several producers, with a reader that exists only in the
// tests.
#include "readers/discovery.h"
#include "temp_folder.h"
#include "toy_reader.h"

#include <array>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

class ToyReader : public ::testing::Test {
protected:
  ToyReader() { options_.known = known_; }
  ReadOptions read_options(const RankFile& file) const {
    ReadOptions out;
    out.known = known_;
    out.rank = file.rank_in_file;
    return out;
  }

  test::TempFolder folder_;
  const std::array<const Reader*, 2> known_ = {&kineto_json_reader, &toy_reader};
  DiscoverOptions options_;
  Diagnostics diag_;
};

TEST_F(ToyReader, TwoRanksInOneFile) {
  folder_.write("node.toy", test::kTwoToyRanks);
  folder_.write("notes.md", "no trace");
  const Result<RunPlan> plan = discover_run({folder_.path()}, options_, diag_);
  ASSERT_TRUE(plan) << plan.error().message();
  ASSERT_EQ(plan->ranks.size(), 2U);
  EXPECT_TRUE(diag_.empty());
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(plan->ranks[r].rank, static_cast<std::int64_t>(r));
    const Result<Trace> trace = read_trace(plan->ranks[r].path, read_options(plan->ranks[r]));
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_EQ(trace->header.rank, plan->ranks[r].rank);
    EXPECT_EQ(trace->events.size(), r + 1);
    EXPECT_EQ(trace->events.dur_ns[0], r == 0 ? 10 : 20);
  }
}

TEST_F(ToyReader, WhereTheNameDoesNotTellTheFirstBytesDo) {
  folder_.write("a.txt", test::kTwoToyRanks);
  folder_.write("b.txt", "just a text");
  const Result<RunPlan> plan = discover_run({folder_.path()}, options_, diag_);
  ASSERT_TRUE(plan) << plan.error().message();
  ASSERT_EQ(plan->ranks.size(), 2U);
  EXPECT_TRUE(plan->ranks[0].path.ends_with("a.txt"));
  // without that reader there is no trace, and the message lists the supported endings
  const Result<RunPlan> none = discover_run({folder_.path()}, DiscoverOptions{}, diag_);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().hint, "traces are " + trace_endings(readers()));
}

TEST_F(ToyReader, OneFilePerRankAndMixedProducers) {
  folder_.write("rank0.toy", "toy 1\n0 gemm 0 10\n");
  folder_.write("rank1.json", R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k",
      "pid": 0, "tid": 0, "ts": 1, "dur": 2}]})");
  const Result<RunPlan> plan = discover_run({folder_.path()}, options_, diag_);
  ASSERT_TRUE(plan) << plan.error().message();
  ASSERT_EQ(plan->ranks.size(), 2U);
  for (const RankFile& file : plan->ranks) {
    EXPECT_FALSE(file.rank_in_file);
    EXPECT_TRUE(read_trace(file.path, read_options(file)));
  }
}

TEST_F(ToyReader, ACommandOfOneRankSaysThatThereAreTwo) {
  RankFile file;
  file.path = folder_.write("node.toy", test::kTwoToyRanks);
  const Result<Trace> both = read_trace(file.path, read_options(file));
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code, ErrorCode::kUsage);
  EXPECT_NE(both.error().what.find("2 ranks (0, 1)"), std::string::npos) << both.error().what;
  file.rank_in_file = 5;
  const Result<Trace> none = read_trace(file.path, read_options(file));
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().what.find("does not contain rank 5; ranks in the file: 0, 1"),
            std::string::npos);
}

} // namespace
} // namespace rankscope
