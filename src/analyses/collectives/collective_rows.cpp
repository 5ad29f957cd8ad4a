#include "analyses/collectives/collective_rows.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace rankscope {
namespace {

/// Returns the rows of a rank by group key, in the order of time.
std::map<std::string, std::vector<std::size_t>> by_group(const RankCollectives& rank) {
  std::map<std::string, std::vector<std::size_t>> out;
  for (std::vector<std::size_t>& rows : rows_of_groups(rank)) {
    std::vector<std::size_t>& to = out[group_key(rank, rank.rows[rows.front()])];
    if (to.empty()) {
      to = std::move(rows);
      continue;
    }
    to.insert(to.end(), rows.begin(), rows.end()); // different names can have the same key
    std::sort(to.begin(), to.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(rank.rows[a].ts_ns, a) < std::pair(rank.rows[b].ts_ns, b);
    });
  }
  return out;
}

} // namespace

Result<GroupMember> CollectiveRows::put(const RankCollectives& rank,
                                        const std::vector<std::size_t>& rows) {
  GroupMember out;
  out.rank = ranks_.size();
  out.rows = rows.size();
  out.first_chunk = chunks_.size();
  std::int64_t before = std::numeric_limits<std::int64_t>::min();
  for (const std::size_t i : rows) {
    const std::int64_t seq = rank.rows[i].seq;
    out.all_seq = out.all_seq && seq != kNoId && !rank.rows[i].of_pair();
    out.rising_seq = out.rising_seq && seq >= before;
    before = seq;
  }
  const std::span<const std::size_t> all(rows);
  for (std::size_t at = 0; at < rows.size(); at += kChunkRows) {
    const std::string bytes =
        pack_rows(rows_to_pack(rank, all.subspan(at, std::min(kChunkRows, rows.size() - at))));
    Chunk chunk;
    RS_TRY(chunk.at, store_.put(bytes));
    chunk.bytes = static_cast<std::uint32_t>(bytes.size());
    chunk.first_seq = rank.rows[rows[at]].seq;
    chunks_.push_back(chunk);
  }
  return out;
}

Result<void> CollectiveRows::add(RankCollectives rank) {
  for (const auto& [key, rows] : by_group(rank)) {
    RS_TRY(const GroupMember member, put(rank, rows));
    by_key_[key].members.push_back(member);
  }
  rows_ += rank.rows.size();
  rank.rows = std::vector<Collective>(); // = {} keeps the memory
  ranks_.push_back(std::move(rank));
  return {};
}

void CollectiveRows::finish() {
  groups_of_.resize(ranks_.size());
  groups_.reserve(by_key_.size());
  GroupNames names;
  for (auto& [key, group] : by_key_) {
    const GroupName name = names.name_of(key);
    group.pg = name.pg;
    group.name_index = name.name_index;
    for (std::size_t m = 0; m < group.members.size(); ++m)
      groups_of_[group.members[m].rank].emplace_back(groups_.size(), m);
    groups_.push_back(std::move(group));
  }
  by_key_.clear();
}

void CollectiveRows::append(const GroupMember& member, std::size_t chunk, PackedRows& to) const {
  const std::size_t wanted = std::min(kChunkRows, member.rows - chunk * kChunkRows);
  const Chunk& at = chunks_[member.first_chunk + chunk];
  const auto read = [&]() -> Result<PackedRows> {
    RS_TRY(const std::string bytes, store_.get(at.at, at.bytes));
    return unpack_rows(bytes, ranks_[member.rank].texts.size());
  };
  Result<PackedRows> rows = read();
  if (rows && rows->rows.size() != wanted)
    rows = Error{ErrorCode::kUnreadable, "", "rows that were put aside are others", ""};
  if (!rows) {
    if (!error_)
      error_ = rows.error();
    to.rows.resize(to.rows.size() + wanted);
    to.in_file.resize(to.in_file.size() + wanted);
    return;
  }
  to.rows.insert(to.rows.end(), rows->rows.begin(), rows->rows.end());
  to.in_file.insert(to.in_file.end(), rows->in_file.begin(), rows->in_file.end());
}

PackedRows CollectiveRows::load(const GroupMember& member, std::size_t from, std::size_t to) const {
  PackedRows out;
  to = std::min(to, member.rows);
  if (from >= to)
    return out;
  const std::size_t first = from / kChunkRows;
  const std::size_t last = (to + kChunkRows - 1) / kChunkRows;
  out.rows.reserve((last - first) * kChunkRows);
  for (std::size_t chunk = first; chunk < last; ++chunk)
    append(member, chunk, out);
  const auto before = static_cast<std::ptrdiff_t>(from - first * kChunkRows);
  out.rows.resize(to - first * kChunkRows);
  out.in_file.resize(to - first * kChunkRows);
  out.rows.erase(out.rows.begin(), out.rows.begin() + before);
  out.in_file.erase(out.in_file.begin(), out.in_file.begin() + before);
  return out;
}

PackedRows CollectiveRows::load_seq(const GroupMember& member, std::int64_t from,
                                    std::int64_t to) const {
  const auto first = chunks_.begin() + static_cast<std::ptrdiff_t>(member.first_chunk);
  const auto end = first + static_cast<std::ptrdiff_t>((member.rows + kChunkRows - 1) / kChunkRows);
  const auto before = [](const Chunk& chunk, std::int64_t seq) { return chunk.first_seq < seq; };
  const auto stop = std::lower_bound(first, end, to, before);
  auto at = std::lower_bound(first, stop, from, before);
  at -= at != first ? 1 : 0; // the previous piece may end with matching rows
  PackedRows all;
  for (; at < stop; ++at)
    append(member, static_cast<std::size_t>(at - first), all);
  PackedRows out;
  for (std::size_t i = 0; i < all.rows.size(); ++i)
    if (all.rows[i].seq >= from && all.rows[i].seq < to) {
      out.rows.push_back(all.rows[i]);
      out.in_file.push_back(all.in_file[i]);
    }
  return out;
}

std::vector<std::int64_t> CollectiveRows::first_seqs(const GroupMember& member) const {
  std::vector<std::int64_t> out;
  for (std::size_t at = 0; at < member.rows; at += kChunkRows)
    out.push_back(chunks_[member.first_chunk + at / kChunkRows].first_seq);
  return out;
}

Result<void> CollectiveRows::status() const {
  if (error_)
    return *error_;
  return {};
}

const RankRows& StoredMembers::load(std::size_t i, RankRows& room) const {
  const GroupMember& member = group_.members[i];
  const RankCollectives& rank = rows_.ranks()[member.rank];
  const PackedRows packed = rows_.load(member);
  using Kind = std::tuple<StrId, StrId, CollectiveKind, std::int64_t, std::int64_t>;
  std::map<Kind, std::size_t> known; // saves comparisons of signatures: these have texts, which are
                                     // slow to compare
  room = {};
  room.rank = member.rank;
  for (const Collective& c : packed.rows) {
    const auto [at, fresh] =
        known.emplace(Kind{c.name, c.dtype, c.kind, c.in_nelems, c.out_nelems}, std::size_t{0});
    if (fresh)
      at->second = numbers_.emplace(signature(rank, c), numbers_.size()).first->second;
    room.what.push_back(at->second);
    room.seq.push_back(c.seq);
    room.end_ns.push_back(rank.base_time_ns + c.end_ns());
    if (c.of_pair())
      room.step.push_back(c.step);
  }
  return room;
}

namespace {

constexpr std::int64_t kBefore = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kBehind = std::numeric_limits<std::int64_t>::max();

const GroupMember& longest(const StoredGroup& group) {
  return *std::ranges::max_element(group.members, {}, &GroupMember::rows);
}

/// Returns the starts of the windows: Seq values or, if matched by order, places. The last window
/// ends at kBehind.
std::vector<std::int64_t> window_starts(const CollectiveRows& rows, const StoredGroup& group,
                                        const GroupOrder& order, std::size_t most_rows) {
  std::vector<std::int64_t> out = {kBefore};
  const std::size_t each = std::max<std::size_t>(1, most_rows / group.members.size());
  const GroupMember& reference = longest(group);
  if (!order.by_seq) {
    for (std::size_t at = each; at < reference.rows; at += each)
      out.push_back(static_cast<std::int64_t>(at));
    return out;
  }
  if (!std::ranges::all_of(group.members, [](const GroupMember& m) { return m.rising_seq; }))
    return out;
  const std::vector<std::int64_t> seqs = rows.first_seqs(reference);
  const std::size_t step = std::max<std::size_t>(1, each / CollectiveRows::kChunkRows);
  for (std::size_t chunk = step; chunk < seqs.size(); chunk += step)
    if (seqs[chunk] > out.back())
      out.push_back(seqs[chunk]);
  return out;
}

/// Returns the rows of a member in the window and, if matched by order, the index of the first row.
std::pair<PackedRows, std::size_t> in_window(const CollectiveRows& rows, const GroupMember& member,
                                             const GroupOrder& order, std::size_t number,
                                             std::int64_t from, std::int64_t to) {
  if (order.by_seq)
    return {from == kBefore && to == kBehind ? rows.load(member) : rows.load_seq(member, from, to),
            0};
  const std::int64_t shift = order.shift[number];
  const auto row_at = [&](std::int64_t place) {
    if (place == kBefore)
      return std::size_t{0};
    if (place == kBehind)
      return member.rows;
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(place - shift, 0, static_cast<std::int64_t>(member.rows)));
  };
  return {rows.load(member, row_at(from), row_at(to)), row_at(from)};
}

} // namespace

void each_window(CollectiveRows& rows, const StoredGroup& group, const GroupOrder& order,
                 std::size_t most_rows,
                 const std::function<void(std::vector<PlacedCollective>)>& use) {
  const std::vector<std::int64_t> starts = window_starts(rows, group, order, most_rows);
  for (std::size_t w = 0; w < starts.size(); ++w) {
    const std::int64_t to = w + 1 < starts.size() ? starts[w + 1] : kBehind;
    std::map<CollectivePlace, PlacedCollective> placed;
    for (std::size_t m = 0; m < group.members.size(); ++m) {
      const GroupMember& member = group.members[m];
      auto [some, first] = in_window(rows, member, order, m, starts[w], to);
      std::vector<std::int64_t> seqs;
      for (const Collective& c : some.rows)
        seqs.push_back(c.seq);
      const std::vector<CollectivePlace> by_seq =
          order.by_seq ? seq_places(seqs) : std::vector<CollectivePlace>();
      for (std::size_t i = 0; i < some.rows.size(); ++i)
        placed[order.by_seq ? by_seq[i] : order.place(m, first + i)].rows.emplace_back(member.rank,
                                                                                       i);
      rows.ranks()[member.rank].rows = std::move(some.rows);
    }
    std::vector<PlacedCollective> out;
    out.reserve(placed.size());
    for (auto& [place, collective] : placed) {
      collective.place = place;
      out.push_back(std::move(collective));
    }
    placed.clear();
    use(std::move(out));
    for (const GroupMember& member : group.members)
      rows.ranks()[member.rank].rows = std::vector<Collective>();
  }
}

} // namespace rankscope
