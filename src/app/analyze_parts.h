// The fields of analyze's saved state, as parts (core/part.h). After a change to them, or to fields
// inside them, raise kStateVersion.
#pragma once

#include "analyses/compare/compare_part.h"
#include "analyses/gemm/gemm_part.h"
#include "analyses/sweep/sweep_part.h"
#include "app/analyze_state.h"

namespace rankscope {

inline constexpr std::uint32_t kStateVersion = 13;

template <class Archive, PartOf<TimelineRow> Row> void part_fields(Archive& archive, Row& r) {
  archive.choice(r.kind, kTimeKinds);
  archive(r.time_ns, r.percent, r.recompute);
}

template <class Archive, PartOf<OpsSummaryRow> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.name, r.recompute, r.count, r.direct_ns, r.subtree_ns, r.categories, r.percent,
          r.cumulative_percent);
}

template <class Archive, PartOf<ComparedRank> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.timeline, r.ops);
}

template <class Archive, PartOf<ExposedWaits> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.exposed_ns, r.least_ns, r.most_ns, r.all_ranks);
}

template <class Archive, PartOf<ConfigResult> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.configuration, r.records, r.gemms, r.compared, r.collectives, r.collective_samples,
          r.collective_file, r.outputs, r.complete, r.exposed, r.per_node);
}

template <class Archive, PartOf<SweepState> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.top_k);
  archive.choice(r.ranking, static_cast<std::uint64_t>(GemmRanking::kTotalExcess) + 1);
  archive(r.labels);
}

} // namespace rankscope
