// The fields of RankCollectives as a part (core/part.h).
#pragma once

#include "analyses/collectives/collective_data.h"
#include "core/part.h"

namespace rankscope {

inline constexpr std::uint32_t kRankCollectivesVersion = 2;

/// Texts are ids of the rank's pool: written before the rows, checked against it when read.
template <class Archive, class Row>
requires std::same_as<std::remove_const_t<Row>, Collective>
void collective_fields(Archive& archive, Row& c, std::size_t texts) {
  for (auto* id : {&c.pg_name, &c.pg_ranks, &c.pg_description, &c.name, &c.dtype, &c.in_split,
                   &c.out_split, &c.kernel})
    archive.below(*id, texts);
  archive.choice(c.kind, static_cast<std::uint64_t>(CollectiveKind::kOther) + 1);
  archive.choice(c.name_from, 4);
  archive(c.in_nelems, c.out_nelems, c.group_size, c.seq, c.stream, c.step, c.ts_ns, c.dur_ns,
          c.hidden_compute_ns, c.hidden_memcpy_ns, c.has_ids);
}

template <class Archive, class Ranks>
requires std::same_as<std::remove_const_t<Ranks>, RankCollectives>
void part_fields(Archive& archive, Ranks& r) {
  archive(r.rank, r.path, r.base_time_ns, r.device_count, r.texts, r.comm_ns, r.exposed_ns,
          r.hidden_compute_ns, r.hidden_memcpy_ns);
  archive.list(r.rows, [&](auto& row) { collective_fields(archive, row, r.texts.size()); });
}

} // namespace rankscope
