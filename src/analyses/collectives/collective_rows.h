// The collectives of all ranks, with packed rows in a ByteStore. Other data of each rank stays in
// memory. Rows are read again by group, by rank, or in pieces of a group.
#pragma once

#include "analyses/collectives/group_match.h"
#include "analyses/collectives/packed_rows.h"
#include "base/noncopyable.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope {

/// Stores bytes and returns them on request.
class ByteStore : public Interface {
public:
  /// Stores the bytes and returns their position. Errors: kOutput.
  virtual Result<std::uint64_t> put(std::string_view bytes) = 0;
  /// Returns `size` bytes at position `at`. Errors: kUnreadable.
  [[nodiscard]] virtual Result<std::string> get(std::uint64_t at, std::size_t size) const = 0;
};

/// A process group on one rank.
struct GroupMember {
  std::size_t rank = 0; ///< position in the list of ranks
  std::size_t rows = 0, first_chunk = 0;
  bool all_seq = true;
  bool rising_seq = true; ///< no row's Seq is below the Seq of an earlier row
};

struct StoredGroup {
  std::string pg; ///< name of the group
  std::size_t name_index = 0;
  [[nodiscard]] GroupName name() const { return {pg, name_index}; }
  std::vector<GroupMember> members;
};

class CollectiveRows {
public:
  explicit CollectiveRows(ByteStore& store) : store_(store) {}

  /// Adds a rank. Ranks must be added in ascending order. Errors: those of the store.
  Result<void> add(RankCollectives rank);
  /// Completes the groups. Must be called after the last rank.
  void finish();

  /// Returns the ranks. They contain only the rows that the caller puts there.
  [[nodiscard]] std::vector<RankCollectives>& ranks() { return ranks_; }
  [[nodiscard]] const std::vector<RankCollectives>& ranks() const { return ranks_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  /// Returns the groups, ordered by name and list of ranks as in MatchResult.
  [[nodiscard]] const std::vector<StoredGroup>& groups() const { return groups_; }
  /// The groups of a rank, ascending: (group, index among the group's members).
  using Places = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  [[nodiscard]] const Places& groups_of(std::size_t rank) const { return groups_of_[rank]; }

  /// Returns rows `from` to before `to` of a group on a rank, in the order of time. Unreadable rows
  /// are blank, and status() returns the error.
  [[nodiscard]] PackedRows load(const GroupMember& member, std::size_t from, std::size_t to) const;
  [[nodiscard]] PackedRows load(const GroupMember& member) const {
    return load(member, 0, member.rows);
  }
  /// Returns the rows of a member with a Seq from `from` to before `to`. Requires rising_seq.
  [[nodiscard]] PackedRows load_seq(const GroupMember& member, std::int64_t from,
                                    std::int64_t to) const;
  /// Returns the first Seq of each piece of a member's rows.
  [[nodiscard]] std::vector<std::int64_t> first_seqs(const GroupMember& member) const;
  /// Returns the first error that occurred while rows were loaded.
  [[nodiscard]] Result<void> status() const;

  static constexpr std::size_t kChunkRows = 64;

private:
  struct Chunk {
    std::uint64_t at = 0;
    std::int64_t first_seq = 0;
    std::uint32_t bytes = 0;
  };
  Result<GroupMember> put(const RankCollectives& rank, const std::vector<std::size_t>& rows);
  void append(const GroupMember& member, std::size_t chunk, PackedRows& to) const;

  ByteStore& store_;
  std::vector<RankCollectives> ranks_;
  std::vector<Chunk> chunks_;
  std::map<std::string, StoredGroup> by_key_; ///< empty after finish()
  std::vector<StoredGroup> groups_;
  std::vector<Places> groups_of_;
  std::size_t rows_ = 0;
  mutable std::optional<Error> error_;
};

/// A stored group for group_order().
class StoredMembers final : public GroupMembers {
public:
  StoredMembers(const CollectiveRows& rows, const StoredGroup& group)
      : rows_(rows), group_(group) {}
  [[nodiscard]] std::size_t size() const override { return group_.members.size(); }
  [[nodiscard]] std::size_t rank(std::size_t i) const override { return group_.members[i].rank; }
  [[nodiscard]] std::size_t rows(std::size_t i) const override { return group_.members[i].rows; }
  [[nodiscard]] bool all_seq(std::size_t i) const override { return group_.members[i].all_seq; }
  [[nodiscard]] const RankRows& load(std::size_t i, RankRows& room) const override;

private:
  const CollectiveRows& rows_;
  const StoredGroup& group_;
  mutable std::map<Signature, std::size_t> numbers_;
};

/// The place and rows of a collective, from which matched_collective() makes a MatchedCollective.
struct PlacedCollective {
  CollectivePlace place;
  std::vector<std::pair<std::size_t, std::size_t>> rows; ///< (position of the rank, row of the
                                                         ///< rank)
};

/// Passes the collectives of a group to `use` in the order of their places, about `most_rows` rows
/// at a time (all rows at once if Seq jumps back). While `use` runs, these rows are in
/// rows.ranks().
void each_window(CollectiveRows& rows, const StoredGroup& group, const GroupOrder& order,
                 std::size_t most_rows,
                 const std::function<void(std::vector<PlacedCollective>)>& use);

} // namespace rankscope
