// Tests the job graph with random graphs: a replay without edits gives the times of the run, the
// pieces of the critical path add up to the makespan, nodes off the path have slack, and a search
// over all paths has the same result.
#include "analyses/job/job_graph.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace rankscope {
namespace {

/// Returns a random graph: a node starts when its waits have ended, or after a delay. `negative`:
/// some nodes start 1 ns too early.
JobGraph random_graph(std::uint64_t seed, bool negative = false) {
  std::mt19937_64 random(seed);
  const auto pick = [&random](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
  };
  JobGraphBuilder builder;
  std::vector<std::int64_t> end;
  for (NodeId n = 0; n < 60; ++n) {
    std::int64_t ready = 1000;
    std::vector<NodeId> from;
    for (std::int64_t k = pick(3); k > 0 && n > 0; --k)
      from.push_back(static_cast<NodeId>(pick(n - 1)));
    for (const NodeId f : from)
      ready = std::max(ready, end[f] + 2);
    const std::int64_t start = ready + (pick(3) == 0 ? pick(50) : 0) - (negative ? pick(1) : 0);
    const std::int64_t dur = 5 + pick(100);
    builder.add(start, dur);
    end.push_back(start + dur);
    for (const NodeId f : from)
      builder.wait(n, f, f % 2 == 0 ? WaitKind::kStream : WaitKind::kHandOver, 2);
  }
  return builder.built();
}

/// Returns the end of node `n`: searches all paths backwards, without the order of the nodes.
std::int64_t longest_end(const JobGraph& graph, const JobEdit& edit, NodeId n,
                         std::vector<std::int64_t>& known) {
  if (known[n] != INT64_MIN)
    return known[n];
  std::int64_t ready = 0;
  bool first = true;
  for (const Wait& wait : graph.waits(n)) {
    const std::int64_t at = longest_end(graph, edit, wait.from, known) + wait.lag_ns();
    ready = first ? at : std::max(ready, at);
    first = false;
  }
  return known[n] = ready + (edit.delay_ns.empty() ? graph.delay_ns(n) : edit.delay_ns[n]) +
                    edit.dur_ns[n];
}

TEST(JobGraph, AReplayWithoutEditsIsTheRun) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const JobGraph graph = random_graph(seed, seed % 2 == 1);
    const std::vector<std::int64_t> starts = replay_starts(graph, {});
    for (NodeId n = 0; n < graph.size(); ++n)
      ASSERT_EQ(starts[n], graph.start_ns(n)) << seed << " " << n;
    EXPECT_EQ(replay_makespan(graph, JobEdit::of(graph)), graph.makespan_ns());
  }
}

TEST(JobGraph, LongDelaysAndNegativeLagsAreKept) {
  constexpr std::int64_t kDelay = 5'000'000'000;
  JobGraphBuilder builder;
  const NodeId first = builder.add(0, 100), late = builder.add(kDelay, 10),
               early = builder.add(kDelay + 5, 10);
  builder.wait(late, first, WaitKind::kQueue, 30);
  builder.wait(early, late, WaitKind::kHost, -7);
  const JobGraph graph = builder.built(Trust::kWaits);
  EXPECT_EQ(graph.delay_ns(0), 0);
  EXPECT_EQ(graph.delay_ns(1), kDelay - 130);
  EXPECT_EQ(graph.delay_ns(2), 2);
  EXPECT_EQ(graph.waits(1).front().kind(), WaitKind::kQueue);
  EXPECT_EQ(graph.waits(2).front().lag_ns(), -7);
  EXPECT_EQ(replay_starts(graph, JobEdit::of(graph))[2], kDelay + 5);
}

TEST(JobGraph, ThePathAddsUpToTheMakespan) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const JobGraph graph = random_graph(seed, seed % 2 == 1);
    std::int64_t at = 0;
    for (const PathPiece& piece : critical_path(graph)) {
      EXPECT_EQ(piece.begin_ns, at) << seed;
      EXPECT_GT(piece.end_ns, piece.begin_ns) << seed;
      at = piece.end_ns;
    }
    EXPECT_EQ(at, graph.makespan_ns()) << seed;
  }
}

TEST(JobGraph, AWalkOverAllPathsAgrees) {
  std::mt19937_64 random(1);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const JobGraph graph = random_graph(seed);
    JobEdit edit = JobEdit::of(graph);
    for (std::int64_t& dur : edit.dur_ns)
      if (random() % 3 == 0)
        dur = static_cast<std::int64_t>(random() % 200);
    for (NodeId n = 0; n < graph.size(); ++n)
      if (!graph.waits(n).empty() && random() % 3 == 0)
        edit.delay(graph, n) = 0;
    std::vector<std::int64_t> known(graph.size(), INT64_MIN);
    std::int64_t last = 0;
    for (NodeId n = 0; n < graph.size(); ++n)
      last = std::max(last, longest_end(graph, edit, n, known));
    EXPECT_EQ(replay_makespan(graph, edit), last) << seed;
    const std::vector<PathPiece> path = critical_path(graph, edit);
    EXPECT_EQ(path.back().end_ns, last) << seed;
  }
}

TEST(JobGraph, OnlyWhatIsOnThePathMatters) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const JobGraph graph = random_graph(seed);
    std::vector<bool> on_path(graph.size());
    for (const PathPiece& piece : critical_path(graph))
      on_path[piece.node] = on_path[piece.node] || piece.kind == PathPiece::Kind::kActivity;
    for (NodeId n = 0; n < graph.size(); ++n) {
      JobEdit shorter = JobEdit::of(graph), longer = JobEdit::of(graph);
      --shorter.dur_ns[n];
      ++longer.dur_ns[n];
      if (on_path[n]) {
        EXPECT_EQ(replay_makespan(graph, longer), graph.makespan_ns() + 1) << seed << " " << n;
      } else {
        EXPECT_EQ(replay_makespan(graph, shorter), graph.makespan_ns()) << seed << " " << n;
      }
    }
  }
}

TEST(JobGraph, AWaitThatDidNotHoldIsLeftOutAndCounted) {
  JobGraphBuilder builder;
  const NodeId late = builder.add(100, 10);
  const NodeId early = builder.add(50, 10);
  builder.wait(early, late, WaitKind::kStream);
  const JobGraph graph = builder.built();
  EXPECT_EQ(graph.contradicted(), 1U);
  EXPECT_EQ(graph.wait_count(), 0U);
  EXPECT_EQ(graph.makespan_ns(), 60);
}

TEST(JobGraph, LostWaitsAreUnexplainedTime) {
  // nodes at 0-10 and 40-60; the graph does not contain the reason for the gap
  JobGraphBuilder builder;
  const NodeId first = builder.add(0, 10);
  const NodeId second = builder.add(40, 20);
  builder.wait(second, first, WaitKind::kStream, 1);
  const JobGraph graph = builder.built();
  const JobGraphQuality quality = quality_of(graph, critical_path(graph));
  EXPECT_EQ(quality.makespan_ns, 60);
  EXPECT_EQ(quality.unexplained_ns, 29);
  EXPECT_EQ(quality.without_delays_ns, 31);
  EXPECT_NEAR(quality.unexplained_percent(), 100.0 * 29 / 60, 1e-9);
}

TEST(JobGraph, WaitsThatTimesContradictAreLeftOutOrKeptAsNegativeDelays) {
  for (const Trust trust : {Trust::kTimes, Trust::kWaits}) {
    JobGraphBuilder builder;
    const NodeId late = builder.add(100, 10), early = builder.add(0, 50),
                 last = builder.add(120, 5);
    builder.wait(early, late, WaitKind::kStream);
    builder.wait(last, early, WaitKind::kStream);
    const JobGraph graph = builder.built(trust);
    const bool kept = trust == Trust::kWaits;
    EXPECT_EQ(graph.contradicted(), kept ? 0U : 1U);
    const std::vector<std::int64_t> starts = replay_starts(graph, {});
    EXPECT_EQ(starts[builder.numbers()[late]], 100);
    EXPECT_EQ(starts[builder.numbers()[early]], 0);
    EXPECT_EQ(starts[builder.numbers()[last]], 120);
    EXPECT_EQ(graph.delay_ns(builder.numbers()[early]), kept ? -110 : 0);
  }
  // a cycle cannot be represented: one of its waits is left out
  JobGraphBuilder circle;
  const NodeId a = circle.add(0, 1), b = circle.add(5, 1);
  circle.wait(a, b, WaitKind::kStream);
  circle.wait(b, a, WaitKind::kStream);
  const JobGraph graph = circle.built(Trust::kWaits);
  EXPECT_EQ(graph.contradicted(), 1U);
  EXPECT_EQ(replay_starts(graph, {})[circle.numbers()[b]], 5);
}

} // namespace
} // namespace rankscope
