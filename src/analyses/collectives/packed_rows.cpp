#include "analyses/collectives/packed_rows.h"

#include "analyses/collectives/collective_part.h"
#include "base/sort.h"

#include <tuple>
#include <utility>

namespace rankscope {
namespace {

constexpr const char* kKind = "rows";
constexpr std::uint32_t kVersion = 2;

auto shape_key(const Collective& c) {
  return std::tuple(c.pg_name, c.pg_ranks, c.pg_description, c.name, c.dtype, c.in_split,
                    c.out_split, c.kernel, c.kind, c.name_from, c.in_nelems, c.out_nelems,
                    c.group_size, c.src_rank, c.dst_rank, c.stream, c.has_ids);
}

} // namespace

packed_rows::Shapes packed_rows::shapes_of(const std::vector<Collective>& rows) {
  Shapes out;
  std::map<decltype(shape_key(Collective())), std::uint32_t> numbers;
  out.numbers.reserve(rows.size());
  for (const Collective& row : rows) {
    const auto [at, fresh] =
        numbers.emplace(shape_key(row), static_cast<std::uint32_t>(numbers.size()));
    if (fresh)
      out.shapes.push_back(row);
    out.numbers.push_back(at->second);
  }
  return out;
}

std::vector<std::vector<std::size_t>> rows_of_groups(const RankCollectives& rank) {
  using Key = std::tuple<StrId, StrId, std::int64_t, std::int64_t>;
  std::map<Key, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < rank.rows.size(); ++i) {
    const Collective& c = rank.rows[i];
    groups[{c.pg_name, c.pg_ranks, c.src_rank, c.dst_rank}].push_back(i);
  }
  std::vector<std::vector<std::size_t>> out;
  for (auto& [key, rows] : groups) {
    sort_stably(rows, [&](std::size_t a, std::size_t b) {
      return rank.rows[a].ts_ns < rank.rows[b].ts_ns;
    });
    out.push_back(std::move(rows));
  }
  return out;
}

PackedRows rows_to_pack(const RankCollectives& rank, std::span<const std::size_t> which) {
  PackedRows out;
  out.texts = rank.texts.size();
  out.rows.reserve(which.size());
  for (const std::size_t i : which) {
    out.rows.push_back(rank.rows[i]);
    out.in_file.push_back(i);
  }
  return out;
}

bool join_groups(std::vector<PackedRows> groups, std::vector<Collective>& rows) {
  std::size_t all = 0;
  for (const PackedRows& group : groups)
    all += group.rows.size();
  rows.assign(all, {});
  std::vector<bool> seen(all, false);
  for (PackedRows& group : groups) {
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      const std::uint64_t at = group.in_file[i];
      if (at >= all || seen[at])
        return false;
      seen[at] = true;
      rows[at] = group.rows[i];
    }
    group = {};
  }
  return true;
}

std::string pack_rows(const PackedRows& rows) {
  return encode_part(kKind, kVersion, rows);
}

Result<PackedRows> unpack_rows(std::string_view bytes, std::size_t texts) {
  RS_TRY(PartReader reader, PartReader::open(bytes, kKind, kVersion));
  PackedRows out;
  out.texts = texts;
  reader(out);
  RS_CHECK(reader.finish());
  return out;
}

} // namespace rankscope
