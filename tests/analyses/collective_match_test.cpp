// Tests matching of the collectives of two ranks, with expected values calculated by hand. Each
// iteration has three collectives, iterations differ in duration, and the ranks have different
// clocks.
#include "analyses/collectives/collective_match.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

constexpr std::size_t kPerStep = 3;

/// Returns the end of call `call` in step `step` on the true clock. Steps take 10 ms, plus up to
/// 0.5 ms.
std::int64_t end_ns(std::size_t step, std::size_t call) {
  return static_cast<std::int64_t>(step) * 10'000'000 +
         static_cast<std::int64_t>(call) * 2'000'000 +
         static_cast<std::int64_t>(step * step * 7919 % 11) * 50'000;
}

/// Returns the collectives of steps [from, to) as rank `rank` records them.
RankCollectives window(std::int64_t rank, std::size_t from, std::size_t to,
                       std::int64_t clock_ns = 0) {
  RankCollectives out;
  out.rank = rank;
  for (std::size_t s = from; s < to; ++s)
    for (std::size_t call = 0; call < kPerStep; ++call) {
      Collective c;
      c.pg_name = out.texts.intern("0");
      c.pg_ranks = out.texts.intern("[0, 1]");
      c.name = out.texts.intern("allreduce");
      c.dtype = out.texts.intern("Float");
      c.kind = CollectiveKind::kAllReduce;
      c.in_nelems = c.out_nelems = static_cast<std::int64_t>(1000 * (call + 1));
      c.group_size = 2;
      c.dur_ns = 500'000;
      // the ranks leave a collective within 3 us
      c.ts_ns =
          end_ns(s, call) - c.dur_ns + clock_ns + rank * static_cast<std::int64_t>(s % 4) * 1000;
      out.rows.push_back(c);
    }
  return out;
}

std::vector<RankCollectives> two(RankCollectives a, RankCollectives b) {
  std::vector<RankCollectives> out;
  out.push_back(std::move(a));
  out.push_back(std::move(b));
  return out;
}

std::size_t pairs(const MatchResult& match) {
  std::size_t out = 0;
  for (const MatchedCollective& m : match.collectives)
    out += m.members.size() == 2 ? 1 : 0;
  return out;
}

// Counts, sizes and order also fit shift 0; only the intervals between the ends show the shift of
// one iteration.
TEST(CollectiveMatch, AWindowShiftedByAnIterationIsFoundWhateverTheClocksSay) {
  for (const std::int64_t clock_ns : {0, 10'000'000, -10'000'000, 400'000'000}) {
    const std::vector<RankCollectives> ranks = two(window(0, 0, 10), window(1, 1, 11, clock_ns));
    const MatchResult match = match_collectives(ranks);
    EXPECT_EQ(pairs(match), 27U) << clock_ns;
    EXPECT_EQ(match.collectives.size(), 33U);
    ASSERT_EQ(match.problems.size(), 1U);
    EXPECT_TRUE(match.problems[0].partial); // exit code 4
    EXPECT_EQ(match.problems[0].problem, "its recording starts 3 collectives after that of rank 0; "
                                         "collectives are matched with this shift");
    for (const MatchedCollective& m : match.collectives)
      EXPECT_EQ(m.incomplete(), m.members.size() < 2);
    for (const MatchedCollective& m : match.collectives)
      EXPECT_TRUE(m.all_read); // both traces exist: a rank did not record the collective
  }
  // the same window, recorded with clocks that differ by one iteration: no shift is found
  const MatchResult same = match_collectives(two(window(0, 0, 10), window(1, 0, 10, 10'000'000)));
  EXPECT_EQ(pairs(same), 30U);
  EXPECT_TRUE(same.problems.empty());
}

TEST(CollectiveMatch, ARankWithoutATraceIsNotARankWithoutARecord) {
  std::vector<RankCollectives> ranks = two(window(0, 0, 2), window(2, 0, 2));
  for (const bool listed : {true, false}) { // the group's ranks are 0 and 1
    const MatchResult match = match_collectives(ranks);
    ASSERT_FALSE(match.collectives.empty());
    for (const MatchedCollective& m : match.collectives)
      EXPECT_EQ(m.all_read, !listed);
    for (RankCollectives& r : ranks)
      for (Collective& c : r.rows)
        c.pg_ranks = r.texts.intern("");
  }
}

TEST(CollectiveMatch, WhatStaysAmbiguousIsSaid) {
  std::vector<RankCollectives> ranks = two(window(0, 0, 10), window(1, 0, 10, 5'000'000));
  for (RankCollectives& r : ranks) // regular iterations: the intervals do not vary
    for (std::size_t i = 0; i < r.rows.size(); ++i)
      r.rows[i].ts_ns =
          static_cast<std::int64_t>(i / kPerStep * 10'000'000 + i % kPerStep * 1'000'000) +
          r.rank * 5'000'000;
  const MatchResult match = match_collectives(ranks);
  ASSERT_EQ(match.problems.size(), 1U);
  EXPECT_TRUE(match.problems[0].partial);
  EXPECT_NE(match.problems[0].problem.find("other shifts against rank 0 fit as well"),
            std::string::npos)
      << match.problems[0].problem;
}

TEST(CollectiveMatch, SeqThatCountsSomethingElseIsNotBelieved) {
  const auto numbered = [](RankCollectives r, std::int64_t first, std::int64_t step) {
    for (Collective& c : r.rows) {
      c.seq = first;
      first += step;
    }
    return r;
  };
  // correct Seq: a window that lacks a step causes no warning
  MatchResult match =
      match_collectives(two(numbered(window(0, 0, 10), 0, 1), numbered(window(1, 1, 10), 3, 1)));
  EXPECT_EQ(pairs(match), 27U);
  EXPECT_TRUE(match.problems.empty());
  // Seq doubled on both ranks: the numbers are still equal
  match =
      match_collectives(two(numbered(window(0, 0, 10), 0, 2), numbered(window(1, 0, 10), 0, 2)));
  EXPECT_EQ(pairs(match), 30U);
  EXPECT_TRUE(match.problems.empty());
  // Seq of rank 1 doubled; counted from 1000; counted from 3
  for (const auto& [first, step] : {std::pair(0, 2), std::pair(1000, 1), std::pair(3, 1)}) {
    match = match_collectives(
        two(numbered(window(0, 0, 10), 0, 1), numbered(window(1, 0, 10), first, step)));
    EXPECT_EQ(pairs(match), 30U) << first << " " << step;
    ASSERT_EQ(match.problems.size(), 1U) << first << " " << step;
    EXPECT_EQ(match.problems[0].problem, "its Seq does not count the collectives of this group "
                                         "like that of rank 0: collectives are matched by order");
    EXPECT_FALSE(match.problems[0].partial);
  }
}

/// Adds a send or a receive of a pipeline of four ranks. As in PyTorch, only the peer is recorded,
/// and Seq counts the sends and receives of the rank in the group.
void add_transfer(RankCollectives& r, std::int64_t peer, bool sends, std::int64_t step,
                  std::int64_t end_ns) {
  Collective c;
  c.pg_name = r.texts.intern("1");
  c.pg_ranks = r.texts.intern("[0, 1, 2, 3]");
  c.name = r.texts.intern(sends ? "send" : "recv");
  c.kind = sends ? CollectiveKind::kSend : CollectiveKind::kRecv;
  c.src_rank = sends ? r.rank : peer;
  c.dst_rank = sends ? peer : r.rank;
  c.in_nelems = c.out_nelems = 1 << 20;
  c.group_size = 4;
  c.seq = static_cast<std::int64_t>(r.rows.size());
  c.step = step;
  c.dur_ns = 50'000;
  c.ts_ns = end_ns - c.dur_ns;
  r.rows.push_back(c);
}

/// Returns the rows of four ranks that pass two activations per step down a pipeline: 3 transfers
/// each, 12 in two steps. The group also has an all-reduce at the end of each step.
std::vector<RankCollectives> pipeline() {
  std::vector<RankCollectives> out(4);
  for (std::int64_t r = 0; r < 4; ++r) {
    out[static_cast<std::size_t>(r)].rank = r;
    for (std::int64_t step = 0; step < 2; ++step) {
      RankCollectives& rank = out[static_cast<std::size_t>(r)];
      for (std::int64_t batch = 0; batch < 2; ++batch) {
        const std::int64_t at = step * 10'000'000 + batch * 2'000'000;
        if (r > 0)
          add_transfer(rank, r - 1, false, step, at + r * 1'000'000);
        if (r < 3)
          add_transfer(rank, r + 1, true, step, at + (r + 1) * 1'000'000);
      }
      add_transfer(rank, kNoId, true, step, step * 10'000'000 + 8'000'000);
      Collective& c = rank.rows.back();
      c.name = rank.texts.intern("allreduce");
      c.kind = CollectiveKind::kAllReduce;
      c.src_rank = c.dst_rank = kNoId;
      c.seq = step;
    }
  }
  return out;
}

// The first row of each rank has Seq 0, but is the send of rank 0 and the receives of three ranks.
TEST(CollectiveMatch, SendsInLargeGroupsAreMatchedWithTheirReceives) {
  std::vector<RankCollectives> ranks = pipeline();
  MatchResult match = match_collectives(ranks);
  EXPECT_TRUE(match.problems.empty()) << match.problems.front().problem;
  ASSERT_EQ(match.collectives.size(), 14U); // 12 transfers, 2 all-reduces
  std::size_t transfers = 0;
  for (const MatchedCollective& m : match.collectives) {
    EXPECT_EQ(m.pg, "1");
    EXPECT_EQ(m.name_index, 0U); // a pair is not a group of its own
    EXPECT_FALSE(m.incomplete());
    if (m.kind == CollectiveKind::kAllReduce) {
      EXPECT_EQ(m.members.size(), 4U);
      continue;
    }
    ++transfers;
    ASSERT_EQ(m.members.size(), 2U);
    EXPECT_EQ(m.expected, 2);
    const auto& [src, src_row] = m.members[0]; // activations go to the next rank
    const auto& [dst, dst_row] = m.members[1];
    EXPECT_EQ(dst, src + 1);
    EXPECT_EQ(ranks[src].rows[src_row].kind, CollectiveKind::kSend);
    EXPECT_EQ(ranks[dst].rows[dst_row].kind, CollectiveKind::kRecv);
    EXPECT_EQ(ranks[src].rows[src_row].end_ns(), ranks[dst].rows[dst_row].end_ns());
  }
  EXPECT_EQ(transfers, 12U);
  // the trace of rank 3 is missing: its four transfers lack a member, those of the others do not
  ranks.pop_back();
  match = match_collectives(ranks);
  ASSERT_EQ(match.collectives.size(), 14U);
  for (const MatchedCollective& m : match.collectives) {
    const Collective& c = ranks[m.members[0].first].rows[m.members[0].second];
    EXPECT_EQ(m.incomplete(), c.dst_rank == 3 || c.kind == CollectiveKind::kAllReduce);
  }
}

// Without the other rank, it is unknown which calls belong together, so none of them is joined.
TEST(CollectiveMatch, SendsInLargeGroupsWithoutAPeerHaveUnknownMembers) {
  std::vector<RankCollectives> ranks = pipeline();
  for (RankCollectives& r : ranks)
    for (Collective& c : r.rows)
      (c.kind == CollectiveKind::kSend ? c.dst_rank : c.src_rank) = kNoId;
  const MatchResult match = match_collectives(ranks);
  EXPECT_TRUE(match.problems.empty());
  ASSERT_EQ(match.collectives.size(), 26U); // 12 sends, 12 receives, 2 all-reduces
  for (const MatchedCollective& m : match.collectives) {
    EXPECT_FALSE(m.incomplete());
    if (m.kind == CollectiveKind::kAllReduce)
      continue;
    EXPECT_EQ(m.members.size(), 1U);
    EXPECT_EQ(m.expected, 0);
  }
}

} // namespace
} // namespace rankscope
