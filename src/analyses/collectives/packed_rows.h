// Rows of RankCollectives in few bytes: repeated data (names, sizes, the group) is stored once,
// times are stored as differences. Parts of ranks contain rows in this form, by process group. Runs
// with too many rows for memory use the same form.
#pragma once

#include "analyses/collectives/collective_data.h"
#include "core/part.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Some rows of one rank.
struct PackedRows {
  std::size_t texts = 0; ///< size of the rank's pool: ids must be below this size
  std::vector<Collective> rows;
  std::vector<std::uint64_t> in_file; ///< index of each row among the rank's rows
};

/// Returns the row numbers of each process group and pair of ranks in the order of time (equal
/// times in file order). They are ordered by the ids of the group's name and list of ranks, then by
/// the pair.
[[nodiscard]] std::vector<std::vector<std::size_t>> rows_of_groups(const RankCollectives& rank);

[[nodiscard]] PackedRows rows_to_pack(const RankCollectives& rank,
                                      std::span<const std::size_t> which);

/// Packs a piece of a rank's rows, independent of other pieces. unpack_rows() accepts untrusted
/// bytes; `texts`: size of the rank's pool. Errors: kUnreadable.
[[nodiscard]] std::string pack_rows(const PackedRows& rows);
[[nodiscard]] Result<PackedRows> unpack_rows(std::string_view bytes, std::size_t texts);

namespace packed_rows {

/// Stores a number as its distance from the previous number; distances wrap around beyond 2^63.
template <class Archive, class Number>
void distance(Archive& archive, Number& value, std::int64_t& before) {
  std::int64_t far = 0;
  if constexpr (!Archive::kReads)
    far = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) -
                                    static_cast<std::uint64_t>(before));
  archive(far);
  if constexpr (Archive::kReads)
    value = static_cast<std::remove_const_t<Number>>(static_cast<std::uint64_t>(before) +
                                                     static_cast<std::uint64_t>(far));
  before = static_cast<std::int64_t>(value);
}

/// Archives the fields that rows of one shape share. Texts are ids of the rank's pool.
template <class Archive, class Row> void shape_fields(Archive& archive, Row& c, std::size_t texts) {
  for (auto* id : {&c.pg_name, &c.pg_ranks, &c.pg_description, &c.name, &c.dtype, &c.in_split,
                   &c.out_split, &c.kernel})
    archive.below(*id, texts);
  archive.choice(c.kind, static_cast<std::uint64_t>(CollectiveKind::kOther) + 1);
  archive.choice(c.name_from, 4);
  archive(c.in_nelems, c.out_nelems, c.group_size, c.src_rank, c.dst_rank, c.stream, c.has_ids);
}

/// The distinct shapes of rows, and the number of each row's shape.
struct Shapes {
  std::vector<Collective> shapes;
  std::vector<std::uint32_t> numbers;
};
[[nodiscard]] Shapes shapes_of(const std::vector<Collective>& rows);

} // namespace packed_rows

template <class Archive, PartOf<PackedRows> Rows> void part_fields(Archive& archive, Rows& r) {
  packed_rows::Shapes shapes;
  if constexpr (!Archive::kReads)
    shapes = packed_rows::shapes_of(r.rows);
  archive.list(shapes.shapes,
               [&](auto& shape) { packed_rows::shape_fields(archive, shape, r.texts); });
  std::size_t i = 0;
  std::int64_t place = -1, seq = 0, step = 0, ts_ns = 0;
  archive.list(r.rows, [&](auto& row) {
    std::uint32_t shape = 0;
    std::uint64_t in_file = 0;
    if constexpr (!Archive::kReads) {
      shape = shapes.numbers[i];
      in_file = r.in_file[i];
    }
    archive.below(shape, shapes.shapes.size());
    if constexpr (Archive::kReads)
      if (shape < shapes.shapes.size()) // else the archive has failed
        row = shapes.shapes[shape];
    ++place; // expected: the row after the previous row
    packed_rows::distance(archive, in_file, place);
    packed_rows::distance(archive, row.seq, seq);
    packed_rows::distance(archive, row.step, step);
    packed_rows::distance(archive, row.ts_ns, ts_ns);
    archive(row.dur_ns, row.hidden_compute_ns, row.hidden_memcpy_ns);
    if constexpr (Archive::kReads)
      r.in_file.push_back(in_file);
    ++i;
  });
}

} // namespace rankscope
