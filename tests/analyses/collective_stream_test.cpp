// Compares the streamed facts of collectives with collective_facts(), which has everything in
// memory: for random runs, every cell of every table is the same, even if only few rows are
// buffered at once.
#include "analyses/collectives/collective_report.h"
#include "analyses/collectives/collective_stream.h"
#include "sanitized.h"

#include <gtest/gtest.h>
#include <random>

namespace rankscope {
namespace {

class MemoryStore final : public ByteStore {
public:
  Result<std::uint64_t> put(std::string_view bytes) override {
    const std::uint64_t at = bytes_.size();
    bytes_ += bytes;
    return at;
  }
  [[nodiscard]] Result<std::string> get(std::uint64_t at, std::size_t size) const override {
    if (fails)
      return Error{ErrorCode::kUnreadable, "store", "gone", ""};
    return bytes_.substr(at, size);
  }
  bool fails = false;

private:
  std::string bytes_;
};

/// How a group of a random run numbers its collectives.
enum class Seq { kCounted, kNone, kGaps, kPerRank, kTwice, kJumps };

struct RandomRun {
  explicit RandomRun(unsigned seed) : random(seed) {}
  std::mt19937 random;
  std::int64_t below(std::int64_t n) {
    return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random);
  }

  struct Group {
    std::string name, list;
    std::vector<std::size_t> members;
    Seq seq = Seq::kCounted;
    bool clean = true; ///< no row is lost, no window shifted
  };

  std::vector<Group> groups_of(std::size_t ranks) {
    std::vector<Group> out;
    for (const char* name : {"0", "1", "2", "", "Unknown_Group", "10"}) {
      if (below(3) == 0)
        continue;
      Group g;
      g.name = name;
      for (std::size_t r = 0; r < ranks; ++r)
        if (below(4) != 0)
          g.members.push_back(r);
      if (g.members.empty())
        continue;
      g.list = "[";
      for (const std::size_t r : g.members)
        g.list += (g.list.size() > 1 ? ", " : "") + std::to_string(r);
      g.list += "]";
      g.seq = static_cast<Seq>(below(6));
      g.clean = below(2) == 0;
      out.push_back(std::move(g));
    }
    return out;
  }

  std::int64_t seq_of(const Group& g, std::int64_t i, std::size_t rank) {
    switch (g.seq) {
    case Seq::kCounted:
      return i;
    case Seq::kGaps:
      return 3 * i + i % 2;
    case Seq::kPerRank:
      return i + 100 * static_cast<std::int64_t>(rank);
    case Seq::kTwice:
      return i / 2;
    case Seq::kJumps:
      return i % 7 == 3 ? i - 3 : i;
    case Seq::kNone:
      break;
    }
    return kNoId;
  }

  void add(RankCollectives& r, const Group& g, std::int64_t i, std::size_t rank) {
    static const char* const kNames[] = {"allreduce",   "_allgather_base", "_reduce_scatter_base",
                                         "all_to_allv", "broadcast",       "",
                                         "send"};
    Collective c;
    const auto kind =
        static_cast<std::size_t>((i * 7 + static_cast<std::int64_t>(g.name.size())) % 7);
    c.pg_name = r.texts.intern(g.name);
    c.pg_ranks = r.texts.intern(g.list);
    c.name = r.texts.intern(kNames[kind]);
    c.kind = collective_kind(kNames[kind]);
    c.dtype = r.texts.intern(i % 5 == 4 ? "BFloat16" : "Float");
    c.kernel = r.texts.intern("ncclDevKernel_" + std::to_string(kind));
    if (c.kind == CollectiveKind::kAllToAllV)
      c.in_split = c.out_split = r.texts.intern("[" + std::to_string(below(4)) + ", 2]");
    c.in_nelems = c.out_nelems = 1024 * (1 + i % 3) + (below(40) == 0 ? 1 : 0);
    c.group_size = static_cast<std::int64_t>(g.members.size()) + (below(60) == 0 ? 1 : 0);
    c.seq = seq_of(g, i, rank);
    c.stream = static_cast<std::int32_t>(20 + kind);
    if (c.kind == CollectiveKind::kSend && c.group_size > 2) { // each rank sends to the next one
      c.src_rank = r.rank - (i % 2 == 0 ? 0 : 2);
      c.dst_rank = below(10) == 0 ? kNoId : c.src_rank + 2;
    }
    c.step = steps ? i / 20 : -1;
    const std::int64_t late = below(40'000);
    c.ts_ns = 1'000'000 * i + 37'000 * static_cast<std::int64_t>(g.list.size()) + late;
    c.dur_ns = 60'000 - late + below(500);
    c.hidden_compute_ns = below(1000);
    c.hidden_memcpy_ns = below(100);
    c.has_ids = below(9) != 0;
    r.rows.push_back(c);
  }

  std::vector<RankCollectives> ranks() {
    std::vector<RankCollectives> out(static_cast<std::size_t>(1 + below(6)));
    steps = below(2) == 0;
    const std::vector<Group> groups = groups_of(out.size());
    const std::int64_t collectives = 1 + below(below(3) == 0 ? 200 : 30);
    for (std::size_t r = 0; r < out.size(); ++r) {
      out[r].rank = static_cast<std::int64_t>(2 * r);
      out[r].path = "rank" + std::to_string(r);
      out[r].base_time_ns = 1'000'000'000 + below(300'000);
      out[r].device_count = 2;
      out[r].comm_ns = below(1'000'000);
      const std::int64_t shift = below(3);
      for (std::int64_t i = 0; i < collectives; ++i)
        for (const Group& g : groups)
          if (std::find(g.members.begin(), g.members.end(), r) != g.members.end() &&
              (g.clean || (i >= shift && below(30) != 0)))
            add(out[r], g, i, r);
      if (below(3) == 0)
        std::shuffle(out[r].rows.begin(), out[r].rows.end(), random); // a file has any order
    }
    return out;
  }
  bool steps = true;
};

/// Copies the fields that a part contains. Only tests copy RankCollectives.
RankCollectives copy_of(const RankCollectives& r) {
  RankCollectives out;
  out.rank = r.rank;
  out.path = r.path;
  out.base_time_ns = r.base_time_ns;
  out.device_count = r.device_count;
  out.rows = r.rows;
  out.texts = r.texts.share();
  out.comm_ns = r.comm_ns;
  return out;
}

std::string cell_text(const Value& v) {
  switch (v.kind) {
  case CellKind::kText:
    return std::string(v.text);
  case CellKind::kDouble:
    return std::to_string(std::bit_cast<std::uint64_t>(v.d));
  case CellKind::kInt:
  case CellKind::kBool:
    return std::to_string(v.i);
  case CellKind::kNull:
    break;
  }
  return "-";
}

/// Returns a line for each table, column, note and row.
std::vector<std::string> lines_of(const Report& report) {
  std::vector<std::string> out;
  for (const Table& t : report.tables) {
    std::string head = t.name();
    for (const Column& c : t.columns())
      head += "|" + c.name;
    out.push_back(head + "|" + std::to_string(t.charts.size()));
    out.insert(out.end(), t.notes.begin(), t.notes.end());
    for (std::size_t r = 0; r < t.rows(); ++r) {
      std::string row = t.name() + " " + std::to_string(r);
      for (std::size_t c = 0; c < t.cols(); ++c)
        row += "|" + cell_text(t.at(r, c));
      out.push_back(std::move(row));
    }
  }
  return out;
}

Result<Report> streamed(const std::vector<RankCollectives>& ranks, const CollectiveOptions& options,
                        std::size_t window_rows, std::size_t most_rows, MemoryStore& store,
                        std::vector<ClockOffset>& offsets) {
  CollectiveStream stream(store, options, window_rows);
  for (const RankCollectives& r : ranks)
    RS_CHECK(stream.add(copy_of(r)));
  RS_TRY(const CollectiveFacts facts, stream.facts());
  offsets = facts.offsets;
  RowStreams streams;
  RS_TRY(Report report, streamed_tables(stream, facts, options, most_rows, streams));
  RS_CHECK(load_rows(report, streams));
  return report;
}

TEST(CollectiveStream, RandomRunsGiveTheCellsOfTheWholeInMemory) {
  const unsigned rounds = test::kSanitized ? 8 : 120;
  std::size_t compared = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    RandomRun make(round);
    const std::vector<RankCollectives> ranks = make.ranks();
    CollectiveOptions options;
    options.compat_tracelens = make.below(4) == 0;
    options.all_to_all_v_heatmap = make.below(2) == 0;
    options.align = static_cast<AlignMode>(make.below(3));
    const Result<CollectiveFacts> facts = collective_facts(ranks, options);
    for (const std::size_t window : {std::size_t{1}, std::size_t{150}, std::size_t{1} << 18}) {
      MemoryStore store;
      std::vector<ClockOffset> offsets;
      const auto got = streamed(ranks, options, window, window == 150 ? 1000 : 0, store, offsets);
      ASSERT_EQ(got.has_value(), facts.has_value()) << round;
      if (!facts) {
        EXPECT_EQ(got.error().message(), facts.error().message());
        continue;
      }
      const std::vector<std::string> want = lines_of(collective_tables(*facts, options));
      const std::vector<std::string> lines = lines_of(*got);
      ASSERT_EQ(lines.size(), want.size()) << "round " << round << " window " << window;
      for (std::size_t i = 0; i < want.size(); ++i)
        ASSERT_EQ(lines[i], want[i]) << "round " << round << " window " << window;
      ASSERT_EQ(offsets.size(), facts->offsets.size());
      for (std::size_t i = 0; i < offsets.size(); ++i) {
        EXPECT_EQ(offsets[i].line.offset_ns, facts->offsets[i].line.offset_ns);
        EXPECT_EQ(offsets[i].fit, facts->offsets[i].fit);
        EXPECT_EQ(offsets[i].via, facts->offsets[i].via);
      }
      compared += want.size();
    }
  }
  EXPECT_GT(compared, rounds * 100);
}

TEST(CollectiveStream, RowsThatAreGoneAreAnError) {
  RandomRun make(3);
  const std::vector<RankCollectives> ranks = make.ranks();
  MemoryStore store;
  CollectiveStream stream(store, {});
  for (const RankCollectives& r : ranks)
    ASSERT_TRUE(stream.add(copy_of(r)));
  const auto facts = stream.facts();
  ASSERT_TRUE(facts) << facts.error().message();
  store.fails = true;
  const auto kernels = stream.each_kernel([](auto) { return Result<void>(); });
  ASSERT_FALSE(kernels);
  EXPECT_EQ(kernels.error().what, "gone");

  MemoryStore broken;
  CollectiveStream none(broken, {});
  for (const RankCollectives& r : ranks)
    ASSERT_TRUE(none.add(copy_of(r)));
  broken.fails = true;
  const auto lost = none.facts();
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().what, "gone");
}

TEST(CollectiveRows, WhatIsPutAsideLeavesNoMemory) {
  RandomRun make(3);
  MemoryStore store;
  CollectiveRows rows(store);
  for (const RankCollectives& r : make.ranks())
    ASSERT_TRUE(rows.add(copy_of(r)));
  rows.finish();
  ASSERT_GT(rows.rows(), 0U);
  const auto loaded = [&rows] {
    std::size_t out = 0;
    for (const RankCollectives& r : rows.ranks())
      out += r.rows.capacity();
    return out;
  };
  EXPECT_EQ(loaded(), 0U);
  std::size_t in_window = 0;
  for (const StoredGroup& group : rows.groups()) {
    GroupOrder order;
    order.shift.assign(group.members.size(), 0);
    each_window(rows, group, order, 10, [&](auto) { in_window = std::max(in_window, loaded()); });
  }
  EXPECT_GT(in_window, 0U);
  EXPECT_EQ(loaded(), 0U);
}

// Rows of two shapes with consecutive times, Seq numbers and positions: about 9 bytes per row, plus
// the shapes.
TEST(PackedRows, ARowIsSomeBytes) {
  RankCollectives r;
  const StrId name = r.texts.intern("allreduce");
  for (int i = 0; i < 640; ++i) {
    Collective c;
    c.name = name;
    c.kind = CollectiveKind::kAllReduce;
    c.in_nelems = i % 2 == 0 ? 1 << 20 : 1 << 24;
    c.seq = i;
    c.ts_ns = 1'700'000'000'000'000'000 + 40'000 * i;
    c.dur_ns = 20'000 + i;
    r.rows.push_back(c);
  }
  const auto groups = rows_of_groups(r);
  ASSERT_EQ(groups.size(), 1U);
  const std::string bytes = pack_rows(rows_to_pack(r, groups[0]));
  EXPECT_LT(bytes.size(), 640U * 13);
  const auto back = unpack_rows(bytes, r.texts.size());
  ASSERT_TRUE(back);
  ASSERT_EQ(back->rows.size(), 640U);
  EXPECT_EQ(back->rows[639].ts_ns, r.rows[639].ts_ns);
  EXPECT_EQ(back->rows[639].in_nelems, 1 << 24);
  EXPECT_EQ(back->in_file[639], 639U);
  EXPECT_FALSE(unpack_rows(bytes, 1)) << "a text that the rank has not";
}

} // namespace
} // namespace rankscope
