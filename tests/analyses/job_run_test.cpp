// Tests the joined graph of several ranks, with expected values calculated by hand: pipelines,
// whose receives wait for sends, and broadcasts, whose members wait for the root.
#include "analyses/job/counted_steps.h"
#include "analyses/job/job_run.h"
#include "analyses/job/places.h"
#include "analyses/job/stragglers.h"
#include "cost.h"
#include "sanitized.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace rankscope {
namespace {

enum Line : std::uint16_t { kCompute, kReceive, kSend };

/// A rank with kernels on three streams.
struct HandRank {
  RankGraph graph;
  RankCollectives collectives;

  explicit HandRank(std::int64_t rank) {
    graph.rank = collectives.rank = rank;
    for (std::int64_t line = 0; line < 3; ++line)
      graph.lines.push_back({true, line, 0});
    for (const char* name : {"gemm", "recv", "send"}) {
      Activity a;
      a.kind = graph.activities.empty() ? ActivityKind::kKernel : ActivityKind::kCollective;
      a.name = a.op = graph.texts.intern(name);
      graph.activities.push_back(a);
    }
  }
  NodeId add(Line line, std::int64_t start_ns, std::int64_t end_ns) {
    graph.nodes.push_back({start_ns, end_ns - start_ns, line, line});
    graph.step_of.push_back(-1);
    return static_cast<NodeId>(graph.nodes.size() - 1);
  }
  void wait(NodeId node, NodeId from, WaitKind kind) {
    if (node != kNoNode && from != kNoNode)
      graph.waits.emplace_back(node, Wait(from, kind));
  }
  NodeId add_collective(Line line, const char* name, const char* list, std::int64_t size,
                        std::int64_t start_ns, std::int64_t end_ns) {
    Collective c;
    c.pg_name = collectives.texts.intern("1");
    c.pg_ranks = collectives.texts.intern(list);
    c.name = collectives.texts.intern(name);
    c.kind = collective_kind(name);
    c.group_size = size;
    c.stream = line;
    c.step = 0;
    c.ts_ns = start_ns;
    c.dur_ns = end_ns - start_ns;
    collectives.rows.push_back(c);
    return add(line, start_ns, end_ns);
  }
};

JobRun join(std::vector<HandRank> ranks) {
  std::vector<RankCollectives> collectives;
  std::vector<RankGraph> graphs;
  for (HandRank& r : ranks) {
    collectives.push_back(std::move(r.collectives));
    graphs.push_back(std::move(r.graph));
  }
  const Result<CollectiveFacts> facts = collective_facts(collectives, {});
  EXPECT_TRUE(facts);
  return join_ranks(std::move(graphs), facts ? &*facts : nullptr);
}

/// The stages of a pipeline pass four micro-batches to the next stage. A stage takes `compute_ns`
/// for each, posts the next receive when it has computed, and a transfer takes 10.
/// Returns the end of the last computation.
std::int64_t pipeline(const std::vector<std::int64_t>& compute_ns, std::vector<HandRank>& ranks) {
  const std::size_t stages = compute_ns.size();
  std::string list = "[0";
  for (std::size_t r = 1; r < stages; ++r)
    list += ", " + std::to_string(r);
  list += "]";
  const auto size = static_cast<std::int64_t>(stages);
  ranks.clear();
  for (std::size_t r = 0; r < stages; ++r)
    ranks.emplace_back(static_cast<std::int64_t>(r));
  std::vector<std::int64_t> free_ns(stages, 0); // end of the last computation
  std::vector<NodeId> computed(stages, kNoNode), received(stages, kNoNode);
  for (int batch = 0; batch < 4; ++batch)
    for (std::size_t r = 0; r < stages; ++r) {
      const NodeId before = computed[r];
      computed[r] = ranks[r].add(kCompute, free_ns[r], free_ns[r] + compute_ns[r]);
      // the receive of this batch, which the stage before has added
      ranks[r].wait(computed[r], before, WaitKind::kStream);
      ranks[r].wait(computed[r], received[r], WaitKind::kOtherStream);
      free_ns[r] += compute_ns[r];
      if (r + 1 == stages)
        continue;
      const std::int64_t post = free_ns[r + 1];
      const std::int64_t end = std::max(free_ns[r], post) + 10;
      const NodeId sent =
          ranks[r].add_collective(kSend, "send", list.c_str(), size, free_ns[r], end);
      ranks[r].wait(sent, computed[r], WaitKind::kOtherStream);
      received[r + 1] =
          ranks[r + 1].add_collective(kReceive, "recv", list.c_str(), size, post, end);
      ranks[r + 1].wait(received[r + 1], computed[r + 1], WaitKind::kOtherStream);
      if (stages > 2)
        for (const std::size_t side : {r, r + 1}) {
          Collective& c = ranks[side].collectives.rows.back();
          c.src_rank = static_cast<std::int64_t>(r);
          c.dst_rank = c.src_rank + 1;
        }
      free_ns[r + 1] = end;
    }
  return free_ns.back();
}

// Regression test: the row of common steps was copied at each step.
TEST(JobRun, TimeGrowsAsTheNumberOfSteps) {
  test::expect_near_linear(test::kSanitized ? 4'000 : 20'000, [](std::size_t n) {
    std::vector<RankGraph> ranks;
    for (const std::int64_t r : {0, 1}) {
      HandRank rank(r);
      for (std::size_t s = 0; s < n; ++s) {
        const auto begin_ns = static_cast<std::int64_t>(10 * s);
        rank.graph.steps.push_back(static_cast<std::int64_t>(s));
        rank.graph.step_begin_ns.push_back(begin_ns);
        rank.graph.step_of[rank.add(kCompute, begin_ns, begin_ns + 5)] =
            static_cast<std::int32_t>(s);
      }
      ranks.push_back(std::move(rank.graph));
    }
    ASSERT_EQ(join_ranks(std::move(ranks), nullptr).step_numbers.size(), n);
  });
}

StragglerFacts stragglers(std::vector<HandRank> ranks) {
  const JobRun run = join(std::move(ranks));
  const JobEdit ideal = ideal_edit(run, places_of(run, PlaceIn::kEachStep));
  return stragglers_of(run, CountedSteps(run, critical_path(run.graph), step_ends(run, {})), ideal,
                       nullptr);
}

// The first receive of each stage waits for the stages before it. In equal stages, nothing is
// unusual about this.
TEST(JobRun, AnEvenPipelineHasNoStragglers) {
  for (const std::size_t stages : {2U, 4U}) {
    std::vector<HandRank> ranks;
    const std::int64_t end_ns = pipeline(std::vector<std::int64_t>(stages, 1000), ranks);
    const StragglerFacts facts = stragglers(std::move(ranks));
    EXPECT_DOUBLE_EQ(facts.measured_ms, static_cast<double>(end_ns) / 1e6) << stages;
    EXPECT_NEAR(facts.slowdown(), 1, 1e-9) << stages;
    for (const StragglerShare& share : facts.shares)
      EXPECT_NEAR(share.slowdown, 1, 1e-9) << stages << " " << share.name;
  }
}

// Stage 1 takes twice as long: the usual computation takes (3 x 1000 + 2000) / 4 = 1250.
TEST(JobRun, ASlowStageIsTheStragglerOfAPipeline) {
  std::vector<HandRank> ranks;
  const auto usual = static_cast<double>(pipeline({1250, 1250, 1250, 1250}, ranks));
  const auto slow = static_cast<double>(pipeline({1000, 2000, 1000, 1000}, ranks));
  const StragglerFacts facts = stragglers(std::move(ranks));
  EXPECT_NEAR(facts.slowdown(), slow / usual, 1e-9);
  std::vector<std::string> blamed;
  for (const StragglerShare& share : facts.shares)
    if (share.group == StragglerGroup::kRank && share.slowdown > 1)
      blamed.push_back(share.name);
  EXPECT_EQ(blamed, std::vector<std::string>{"1"});
}

// The clock of stage 1 is behind the others. Its receive cannot end before the send starts.
TEST(JobRun, SendsAreNotJoinedIfTheClocksContradictThem) {
  const auto run_of = [](std::int64_t behind_ns) {
    std::vector<HandRank> ranks;
    pipeline(std::vector<std::int64_t>(4, 1'000'000), ranks);
    ranks[1].graph.base_time_ns = ranks[1].collectives.base_time_ns = -behind_ns;
    return join(std::move(ranks));
  };
  const JobRun wrong = run_of(500'000);
  EXPECT_EQ(wrong.clock_conflict_ns, 499'990);
  EXPECT_TRUE(wrong.collectives.empty());
  const JobRun usual = run_of(15'000);
  EXPECT_EQ(usual.clock_conflict_ns, 0);
  ASSERT_EQ(usual.collectives.size(), 12U);
  EXPECT_TRUE(usual.collectives.front().pair);
}

/// Returns the transfer of each rank in the only collective of three ranks.
std::vector<NodeId> transfers_of(const JobRun& run) {
  return run.collectives.size() == 1 ? run.collectives[0].transfers : std::vector<NodeId>(3, 0);
}

// Rank 0 computes until 100, then sends to rank 1, which has waited since 0, and to rank 2, which
// comes at 200 when rank 0 has long left.
TEST(JobRun, MembersOfABroadcastWaitForThoseThatCameBeforeTheirEnd) {
  const auto run_of = [](const char* name, std::int64_t root_end, std::int64_t late_start) {
    std::vector<HandRank> ranks;
    for (std::int64_t r = 0; r < 3; ++r)
      ranks.emplace_back(r);
    const char* const list = "[0, 1, 2]";
    const NodeId computed = ranks[0].add(kCompute, 0, 100);
    const NodeId sent = ranks[0].add_collective(kSend, name, list, 3, 100, root_end);
    ranks[0].wait(sent, computed, WaitKind::kOtherStream);
    ranks[1].add_collective(kSend, name, list, 3, 0, root_end);
    ranks[2].add_collective(kSend, name, list, 3, late_start, late_start + 115);
    return join(std::move(ranks));
  };
  const JobRun run = run_of("broadcast", 110, 200);
  std::vector<NodeId> transfers = transfers_of(run);
  EXPECT_EQ(run.graph.contradicted(), 0U);
  EXPECT_FALSE(run.collectives.at(0).together);
  EXPECT_EQ(run.graph.dur_ns(transfers[0]), 10);
  EXPECT_EQ(run.graph.dur_ns(transfers[1]), 10); // it has waited for rank 0
  EXPECT_EQ(run.graph.dur_ns(transfers[2]), 115);
  // without the computation of rank 0, rank 1 is done at 10, and rank 2 at the same time as before
  JobEdit edit = JobEdit::of(run.graph);
  for (NodeId n = 0; n < run.graph.size(); ++n)
    if (run.is_activity(n) && run.activity(n).kind == ActivityKind::kKernel)
      edit.dur_ns[n] = 0;
  const std::vector<std::int64_t> start = replay_starts(run.graph, edit);
  EXPECT_EQ(start[transfers[1]], 0);
  EXPECT_EQ(start[transfers[2]], 200);
  // all were there together: rank 2 came last, at 105
  for (const char* const name : {"broadcast", "reduce", "gather", "scatter", "barrier"}) {
    const JobRun together = run_of(name, 220, 105);
    transfers = transfers_of(together);
    ASSERT_EQ(together.collectives.size(), 1U) << name;
    EXPECT_TRUE(together.collectives[0].together) << name;
    for (const NodeId n : transfers)
      EXPECT_EQ(together.graph.dur_ns(n), 115) << name;
  }
}

} // namespace
} // namespace rankscope
