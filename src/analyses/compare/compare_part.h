// The data of one rank for a comparison, and its fields as a part (core/part.h).
#pragma once

#include "analyses/collectives/collective_part.h"
#include "analyses/compare/compared_run.h"
#include "base/result.h"
#include "core/run_part.h"

#include <concepts>
#include <optional>
#include <type_traits>
#include <vector>

namespace rankscope {

struct ComparePart {
  std::int64_t rank = 0;
  RankTimeline timeline;
  OperatorTimes operators;
  StepWork work;
  RankCollectives collectives; ///< without rows if they are not needed
};

inline constexpr std::uint32_t kComparePartVersion = 10;

/// Returns a run made of these parts. The collectives of the parts are moved to `collectives`, not
/// to the run.
[[nodiscard]] ComparedRun run_of_parts(const std::string& label, std::vector<ComparePart> parts,
                                       std::vector<RankCollectives>& collectives);

/// A kind of time with its times per step, as stored in a part.
struct KindRecord {
  TimeKind kind = TimeKind::kTotal;
  std::optional<std::int64_t> time_ns;
  double percent = 0;
  std::map<std::int64_t, std::int64_t> step_ns;
};

template <class Archive, PartOf<KindRecord> Row> void part_fields(Archive& archive, Row& k) {
  archive.choice(k.kind, kTimeKinds);
  archive(k.time_ns, k.percent, k.step_ns);
}

template <class Archive, PartOf<WorkKey> Row> void part_fields(Archive& archive, Row& k) {
  archive.choice(k.kind, kStepWorkKinds);
  archive(k.op, k.shapes, k.name);
}

template <class Archive, PartOf<Work> Row> void part_fields(Archive& archive, Row& w) {
  archive(w.self_ns, w.wait_ns, w.launches, w.place, w.path, w.grid, w.block);
}

template <class Archive, PartOf<CollectiveSelfTime> Row>
void part_fields(Archive& archive, Row& c) {
  archive(c.rank, c.step, c.stream, c.ts_ns);
  std::int64_t end = 0;
  archive.list(c.parts, [&](auto& part) {
    archive(part.start, part.end);
    if constexpr (Archive::kReads)
      if (part.start < end || part.end < part.start)
        archive.fail("own time of a collective that is not ascending");
    end = part.end;
  });
}

/// Without Work::kernels, which only ComparePart contains.
template <class Archive, PartOf<StepWork> Row> void part_fields(Archive& archive, Row& w) {
  archive(w.without_steps, w.waits_known, w.ranks, w.steps, w.total_ns, w.work);
  if constexpr (Archive::kReads)
    if (const char* const wrong = wrong_with(w); wrong != nullptr)
      archive.fail(wrong);
}

[[nodiscard]] std::vector<KindRecord> kind_records(const RankTimeline& timeline);
[[nodiscard]] RankTimeline timeline_of_records(const std::vector<KindRecord>& records);

template <class Archive, PartOf<ComparePart> Row> void part_fields(Archive& archive, Row& p) {
  std::vector<KindRecord> records;
  if constexpr (!Archive::kReads)
    records = kind_records(p.timeline);
  archive(p.rank, records, p.operators, p.work, p.collectives);
  for (auto& [key, work] : p.work.work)
    archive(work.kernels);
  if constexpr (Archive::kReads)
    p.timeline = timeline_of_records(records);
}

template <class Archive, PartOf<SampleSet::StepSum> Row>
void part_fields(Archive& archive, Row& s) {
  archive(s.sum, s.count);
  if constexpr (Archive::kReads)
    if (s.count < 1)
      archive.fail("a step without samples");
}

template <class Archive, PartOf<SampleSet> Row> void part_fields(Archive& archive, Row& s) {
  std::map<std::int64_t, SampleSet::StepSum> steps;
  if constexpr (!Archive::kReads)
    steps = s.steps();
  archive(steps);
  if constexpr (Archive::kReads)
    s = SampleSet(std::move(steps));
}

template <class Archive, PartOf<CollectiveSamples> Row> void part_fields(Archive& archive, Row& s) {
  archive(s.latency_us, s.start_skew_us, s.bus_gbps);
}

template <class Archive, PartOf<CollectiveKey> Row> void part_fields(Archive& archive, Row& k) {
  archive(k.name, k.dtype, k.in_nelems, k.group);
}

} // namespace rankscope
