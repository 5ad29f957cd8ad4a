// The fields of a RankGraph as a part (core/part.h). Raise kRankGraphVersion if the fields or the
// results of rank_graph_of() change.
#pragma once

#include "analyses/job/rank_graph.h"
#include "core/part.h"

#include <algorithm>

namespace rankscope {

inline constexpr std::uint32_t kRankGraphVersion = 11;

template <class Archive, PartOf<RankLine> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.stream, r.id, r.device);
}

/// Reads or writes an activity. `texts`: the number of texts in the graph.
template <class Archive, PartOf<Activity> Row>
void activity_fields(Archive& archive, Row& a, std::size_t texts) {
  archive.choice(a.kind, kActivityKinds);
  for (auto* id : {&a.name, &a.op, &a.context, &a.shapes, &a.types, &a.callers[0], &a.callers[1]})
    archive.below(*id, texts);
  archive(a.bytes);
}

template <class Archive, PartOf<RankGraph> Row> void part_fields(Archive& archive, Row& g) {
  archive(g.rank, g.base_time_ns, g.steps, g.step_begin_ns, g.lines, g.texts, g.gpu_model,
          g.unlinked_ns, g.gpu_ns, g.early_ns, g.early_until_ns, g.stacks, g.frame_cost_percent,
          g.blocking_launches);
  archive.list(g.activities, [&](auto& a) { activity_fields(archive, a, g.texts.size()); });
  archive.list(g.nodes, [&](auto& n) {
    archive(n.start_ns, n.dur_ns, n.recorded);
    archive.below(n.activity, g.activities.size());
    archive.below(n.line, std::min(g.lines.size(), kMostLines));
    if constexpr (Archive::kReads)
      if (!usable_time(n.start_ns, n.dur_ns))
        archive.fail("an unknown time");
  });
  archive.list(g.waits, [&](auto& w) {
    archive.below(w.node, g.nodes.size());
    archive.below(w.from, g.nodes.size());
    std::int32_t lag_ns = w.lag_ns();
    WaitKind kind = w.kind();
    archive(lag_ns);
    archive.choice(kind, kWaitKinds);
    if constexpr (Archive::kReads)
      w = {w.node, Wait(w.from, kind, lag_ns)};
  });
  archive(g.step_of, g.operator_ns);
  if constexpr (Archive::kReads) {
    const auto is_row = [&](std::int32_t row) {
      return row >= -1 && row < static_cast<std::int32_t>(g.steps.size());
    };
    if (g.step_begin_ns.size() != g.steps.size() || g.step_of.size() != g.nodes.size() ||
        g.operator_ns.size() > g.nodes.size() / 2 || !std::ranges::all_of(g.step_of, is_row))
      archive.fail("steps without times, nodes with unknown steps, or operators without nodes");
  }
}

} // namespace rankscope
