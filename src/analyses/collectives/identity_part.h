// Writes and reads the fields of RankIdentity in a part (core/part.h). Raise kRankIdentityVersion
// when the fields change.
#pragma once

#include "analyses/collectives/run_consistency.h"
#include "core/run_part.h"

namespace rankscope {

inline constexpr std::uint32_t kRankIdentityVersion = 1;

template <class Archive, PartOf<KnownGroup> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.name, r.ranks);
}

template <class Archive, PartOf<RankIdentity> Row> void part_fields(Archive& archive, Row& r) {
  archive(r.rank, r.header_rank, r.world_size, r.groups, r.largest_group, r.steps, r.device,
          r.launch, r.gpu_events, r.content, r.start_ns, r.end_ns);
}

} // namespace rankscope
