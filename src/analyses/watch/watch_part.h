// Writes and reads the fields that `watch` stores between two runs in a part (core/part.h). Raise
// kWatchStateVersion (watch_state.h) when fields change.
#pragma once

#include "analyses/collectives/collective_part.h"
#include "analyses/watch/watch_judge.h"
#include "core/run_part.h"

namespace rankscope {

template <class Archive, PartOf<RunningSample> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.n, r.mean, r.squares);
}

template <class Archive, PartOf<BandwidthSample> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.steps, r.windows);
}

template <class Archive, PartOf<BandwidthBefore> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.all, r.first);
}

template <class Archive, PartOf<WatchReason> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.raised, r.last_window);
}

template <class Archive, PartOf<WatchedRank> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.collectives, r.steps, r.start_ns, r.step_ms);
}

template <class Archive, PartOf<Alarm> Row> void part_fields(Archive& archive, Row& r) {
  archive.choice(r.kind, kAlarmKinds);
  archive(r.subject, r.sentence, r.window, r.raised_ns, r.label);
}

} // namespace rankscope
