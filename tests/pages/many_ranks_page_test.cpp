// Tests the page of thousands of ranks: it contains the outlier ranks, and its size does not grow
// with the other ranks.
#include "pages/data/run_page.h"

#include "read_blob.h"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <set>
#include <simdjson.h>

namespace rankscope {
namespace {

constexpr std::size_t kSlow = 1777, kLate = 2222, kLongest = 31;

/// Returns the data blob of a run of `n` ranks, three of which are outliers; `aside`: ranks are
/// loaded one by one.
std::string page_of(std::size_t n, bool aside = false) {
  TopFacts top;
  top.overview.title = "run";
  top.overview.ranks = static_cast<std::int64_t>(n);
  TopParts parts;
  RunPageInput input{&top, &parts, nullptr, {}, {}, "rankscope page run"};
  for (std::size_t r = 0; r < n; ++r) {
    const auto rank = static_cast<std::int64_t>(r);
    TopRankRow row;
    row.rank = rank;
    row.path = "run/rank" + std::to_string(r) + ".json";
    row.total_ms = 100 + static_cast<double>(r % 7) / 100 + (r == kLongest ? 50 : 0);
    row.compute_ms = 60;
    row.late_us = 1;
    row.slow = r == kSlow;
    row.late = r == kLate;
    top.ranks.push_back(row);
    RankRecord record;
    record.key.rank = rank;
    record.steps.resize(3);
    for (std::size_t s = 0; s < 3; ++s)
      record.steps[s].step = static_cast<std::int64_t>(s);
    parts.records.push_back(std::move(record));
    RankPage page;
    page.rank = rank;
    page.end_ns = 1000;
    page.steps.push_back({1, 0, 1000});
    input.ranks.push_back(std::move(page));
  }
  std::vector<RankPage> pages;
  std::size_t asked = 0;
  if (aside) {
    pages = std::move(input.ranks);
    for (const RankPage& page : pages) {
      RankPage& head = input.ranks.emplace_back();
      head.rank = page.rank;
      head.end_ns = page.end_ns;
    }
    input.load_rank = [&](std::size_t at) -> Result<RankPage> {
      ++asked;
      return std::move(pages[at]);
    };
  }
  Result<std::string> blob = run_page_data(input);
  EXPECT_TRUE(blob);
  EXPECT_LE(asked, 256U);
  input.load_rank = [](std::size_t) -> Result<RankPage> {
    return Error{ErrorCode::kUnreadable, "store", "gone", ""};
  };
  EXPECT_FALSE(run_page_data(input));
  return blob ? *blob : "";
}

std::set<std::size_t> shown_in(const std::string& blob) {
  std::uint32_t length = 0;
  std::memcpy(&length, blob.data(), 4);
  simdjson::dom::parser parser;
  const simdjson::dom::element json =
      parser.parse(simdjson::padded_string(blob.data() + 4, length));
  std::set<std::size_t> out;
  for (const simdjson::dom::element rank : json["ranks"].get_array())
    out.insert(static_cast<std::size_t>(std::int64_t(rank["rank"])));
  EXPECT_EQ(std::uint64_t(json["steps"]["rank"]["n"]), out.size());
  EXPECT_EQ(std::uint64_t(json["top_ranks"]["rows"]), out.size());
  return out;
}

// The places of slow ranks are those among the shown ranks.
TEST(ManyRanksPage, OnlySlowRanksAreMarked) {
  test::ReadBlob blob;
  test::read(page_of(10'000), blob);
  const simdjson::dom::element steps = blob.json["steps"];
  const std::vector<std::int64_t> slow = numbers(blob, steps["slow"]);
  ASSERT_EQ(slow.size(), 1U);
  std::size_t place = 0;
  for (const std::size_t rank : shown_in(page_of(10'000)))
    place += rank < kSlow ? 1 : 0;
  EXPECT_EQ(slow[0], static_cast<std::int64_t>(place));
}

// A rank without GPU work has no times: the other ranks are not moved.
TEST(ManyRanksPage, ARankWithoutWorkMovesNoOther) {
  TopFacts top;
  top.ranks.resize(2);
  TopParts parts;
  parts.records.resize(2);
  RunPageInput input{&top, &parts, nullptr, {}, {}, ""};
  input.ranks.resize(2);
  input.ranks[0].start_ns = 5'000'000'000'000;
  input.ranks[0].end_ns = 5'000'000'001'000;
  input.ranks[1].rank = 1;
  const Result<std::string> blob = run_page_data(input);
  ASSERT_TRUE(blob);
  std::uint32_t length = 0;
  std::memcpy(&length, blob->data(), 4);
  simdjson::dom::parser parser;
  const simdjson::dom::element json =
      parser.parse(simdjson::padded_string(blob->data() + 4, length));
  for (const simdjson::dom::element rank : json["ranks"].get_array())
    EXPECT_EQ(std::int64_t(rank["at"]), 0);
}

// The clock of rank 1 gains 800 us per second. The kernels must be where their collectives are
// joined over the complete trace, at most some microseconds from those of rank 0.
TEST(ManyRanksPage, KernelsFollowADriftAsTheirCollectivesDo) {
  constexpr std::int64_t kCalls = 60, kMs = 1'000'000;
  TopFacts top;
  top.ranks.resize(2);
  TopParts parts;
  parts.records.resize(2);
  RunPageInput input{&top, &parts, nullptr, {}, {}, ""};
  std::vector<RankCollectives> ranks(2);
  for (const std::int64_t rank : {0, 1}) {
    RankCollectives& r = ranks[static_cast<std::size_t>(rank)];
    RankPage& page = input.ranks.emplace_back();
    page.rank = r.rank = rank;
    page.base_ns = r.base_time_ns = 1'700'000'000'000'000'000;
    PageLane& lane = page.lanes.emplace_back();
    for (std::int64_t i = 0; i < kCalls; ++i) {
      const auto drifted = [&](std::int64_t ns) { return ns + (rank == 1 ? ns / 1250 + 5000 : 0); };
      Collective& c = r.rows.emplace_back();
      c.pg_name = r.texts.intern("0");
      c.pg_ranks = r.texts.intern("[0, 1]");
      c.name = r.texts.intern("allreduce");
      c.dtype = r.texts.intern("Float");
      c.kind = CollectiveKind::kAllReduce;
      c.in_nelems = c.out_nelems = 1024;
      c.group_size = 2;
      c.seq = i;
      // both ranks leave at the same time
      c.ts_ns = drifted(kMs + i * 50 * kMs + (i * 7 + rank * 3) % 5 * 10'000);
      c.dur_ns = drifted(kMs + i * 50 * kMs + 400'000) - c.ts_ns;
      PageEvent& event = lane.events.emplace_back();
      event.at.start_ns = c.ts_ns;
      event.at.dur_ns = c.dur_ns;
    }
    lane.in_trace = lane.events.size();
    page.start_ns = r.rows.front().ts_ns;
    page.end_ns = r.rows.back().end_ns();
  }
  const Result<CollectiveFacts> facts = collective_facts(ranks, {});
  ASSERT_TRUE(facts) << facts.error().message();
  ASSERT_EQ(facts->offsets.at(1).fit, ClockFit::kAligned);
  input.collectives = &*facts;
  const Result<std::string> made = run_page_data(input);
  ASSERT_TRUE(made);
  test::ReadBlob blob;
  test::read(*made, blob);
  std::vector<std::vector<std::int64_t>> starts;
  for (const simdjson::dom::element rank : blob.json["ranks"].get_array()) {
    starts.push_back(numbers(blob, rank["lanes"].at(0)["events"]["start"]));
    for (std::int64_t& start : starts.back())
      start += std::int64_t(rank["at"]);
  }
  const auto rank_index = numbers(blob, blob.json["matched"]["rank"]);
  const auto joined = numbers(blob, blob.json["matched"]["start"]);
  ASSERT_EQ(joined.size(), static_cast<std::size_t>(2 * kCalls));
  for (std::size_t i = 0; i < joined.size(); ++i)
    EXPECT_EQ(joined[i], starts.at(static_cast<std::size_t>(rank_index[i]))[i / 2]) << i;
  for (std::size_t i = 0; i < starts[0].size(); ++i)
    EXPECT_LE(std::abs(starts[0][i] - starts[1][i]), 45'000) << i; // they enter up to 40 us apart
}

TEST(ManyRanksPage, FewRanksAreAllThere) {
  const std::string blob = page_of(256);
  EXPECT_EQ(shown_in(blob).size(), 256U);
  EXPECT_EQ(blob.find("are shown one by one"), std::string::npos);
}

TEST(ManyRanksPage, OfThousandsTheOddOnesAndSomeOfTheOthers) {
  const std::string blob = page_of(10'000);
  const std::set<std::size_t> shown = shown_in(blob);
  EXPECT_LE(shown.size(), 256U);
  EXPECT_GE(shown.size(), 200U);
  for (const std::size_t rank : {kSlow, kLate, kLongest})
    EXPECT_EQ(shown.count(rank), 1U) << rank;
  EXPECT_GT(*shown.rbegin(), 9'900U); // evenly chosen, also from the end
  EXPECT_NE(blob.find("of 10000 ranks are shown one by one"), std::string::npos);
  EXPECT_LT(blob.size(), page_of(256).size() * 5 / 4);
  EXPECT_EQ(page_of(10'000, true), blob);
}

} // namespace
} // namespace rankscope
