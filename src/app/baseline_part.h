// The fields of a saved baseline as a part (core/part.h). After a change to them, or to fields
// inside them, raise kBaselineVersion.
#pragma once

#include "analyses/compare/compare_part.h"
#include "analyses/sweep/sweep_part.h"
#include "app/baseline.h"

#include <algorithm>

namespace rankscope {

inline constexpr const char* kBaselineKind = "baseline";
inline constexpr std::uint32_t kBaselineVersion = 5;

template <class Archive, PartOf<RankCollectiveKey> Row> void part_fields(Archive& archive, Row& k) {
  archive(k.rank, k.collective, k.stream);
}

template <class Archive, PartOf<RankSummary> Row> void part_fields(Archive& archive, Row& s) {
  archive(s.rank, s.group, s.group_ranks, s.name, s.dtype, s.in_split, s.out_split, s.group_size,
          s.in_nelems, s.out_nelems, s.stream, s.in_mib, s.out_mib, s.dur_us, s.count, s.node,
          s.node_span);
}

template <class Archive, PartOf<RunCollectives> Row> void part_fields(Archive& archive, Row& c) {
  archive(c.summary, c.rank_summary, c.samples, c.rank_dur_us, c.agg_metrics, c.notes);
  archive.choice(c.clocks, static_cast<std::uint64_t>(ClockState::kAligned) + 1);
  if constexpr (Archive::kReads) {
    static const std::vector<std::string> kKnown = {"mean", "median", "min", "max", "std"};
    for (const std::string& agg : c.agg_metrics)
      if (std::find(kKnown.begin(), kKnown.end(), agg) == kKnown.end())
        archive.fail("an unknown metric of collectives");
  }
}

template <class Archive, PartOf<RankTimeline> Row> void part_fields(Archive& archive, Row& t) {
  std::vector<KindRecord> records;
  if constexpr (!Archive::kReads)
    records = kind_records(t);
  archive(records);
  if constexpr (Archive::kReads)
    t = timeline_of_records(records);
}

template <class Archive, PartOf<ComparedRun> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.label, r.ranks, r.operators, r.work, r.collectives);
}

template <class Archive, PartOf<SavedBaseline> Row> void part_fields(Archive& archive, Row& b) {
  archive(b.made_by, b.source, b.complete, b.run, b.run.damaged);
}

/// A baseline of a version that does not contain the ranks that lost events.
struct OldBaseline {
  SavedBaseline saved;
};
inline constexpr std::uint32_t kWithoutDamagedRanks = 4;

template <class Archive, PartOf<OldBaseline> Row> void part_fields(Archive& archive, Row& b) {
  archive(b.saved.made_by, b.saved.source, b.saved.complete, b.saved.run);
}

} // namespace rankscope
