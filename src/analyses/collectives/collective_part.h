// Writes and reads the fields of RankCollectives in a part (core/part.h), with the rows by process
// group.
#pragma once

#include "analyses/collectives/collective_data.h"
#include "analyses/collectives/packed_rows.h"
#include "core/part.h"

namespace rankscope {

inline constexpr std::uint32_t kRankCollectivesVersion = 6;

/// Restores the rows of all groups in file order. Returns false unless each row occurs once.
[[nodiscard]] bool join_groups(std::vector<PackedRows> groups, std::vector<Collective>& rows);

template <class Archive, PartOf<RankCollectives> Ranks>
void part_fields(Archive& archive, Ranks& r) {
  archive(r.rank, r.path, r.base_time_ns, r.device_count, r.texts, r.comm_ns, r.exposed_ns,
          r.hidden_compute_ns, r.hidden_memcpy_ns);
  std::vector<PackedRows> groups;
  if constexpr (!Archive::kReads)
    for (const std::vector<std::size_t>& rows : rows_of_groups(r))
      groups.push_back(rows_to_pack(r, rows));
  archive.list(groups, [&](auto& group) {
    if constexpr (Archive::kReads)
      group.texts = r.texts.size();
    archive(group);
  });
  if constexpr (Archive::kReads)
    if (!join_groups(std::move(groups), r.rows))
      archive.fail("rows that do not occur exactly once in the groups");
}

} // namespace rankscope
