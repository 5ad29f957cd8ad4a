// Tests the level of detail of a timeline against slow implementations that check every nanosecond.
#include "pages/data/lane_columns.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace rankscope {
namespace {

constexpr Interval kSpan{100, 1100};

std::vector<LaneEvent> random_lane(std::mt19937& random, std::size_t count) {
  std::vector<LaneEvent> out;
  constexpr std::array kKinds = {LaneKind::kCompute, LaneKind::kExposedComm, LaneKind::kCopy};
  for (std::size_t i = 0; i < count; ++i) {
    const auto start = static_cast<std::int64_t>(100 + random() % 1000);
    const auto most = static_cast<std::uint32_t>(kSpan.end - start);
    const std::uint32_t wanted = random() % 8 == 0 ? 400 : 12;
    out.push_back({start, static_cast<std::int64_t>(random() % (std::min(wanted, most) + 1)),
                   kKinds[random() % kKinds.size()]});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const LaneEvent& a, const LaneEvent& b) { return a.start_ns < b.start_ns; });
  return out;
}

/// Returns the kind at one nanosecond: computation takes precedence over communication, and
/// communication over copies; -1: nothing runs.
int kind_at(const std::vector<LaneEvent>& events, const IntervalSet& computing, std::int64_t ns) {
  bool comm = false, copy = false;
  for (const LaneEvent& e : events) {
    if (ns < e.start_ns || ns >= e.end_ns())
      continue;
    if (e.kind == LaneKind::kCompute)
      return static_cast<int>(LaneKind::kCompute);
    comm = comm || e.kind == LaneKind::kExposedComm;
    copy = copy || e.kind == LaneKind::kCopy;
  }
  if (comm)
    return static_cast<int>(computing.covered(ns, ns + 1) > 0 ? LaneKind::kHiddenComm
                                                              : LaneKind::kExposedComm);
  return copy ? static_cast<int>(LaneKind::kCopy) : -1;
}

/// Returns the longest event that touches [from, to), the first of several equal ones. An event of
/// length 0 touches its start.
std::uint32_t longest_in(const std::vector<LaneEvent>& events, std::int64_t from, std::int64_t to) {
  std::uint32_t best = kNoLaneEvent;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    const std::int64_t last = std::max(events[i].end_ns() - 1, events[i].start_ns);
    if (events[i].start_ns < to && last >= from &&
        (best == kNoLaneEvent || events[i].dur_ns > events[best].dur_ns))
      best = i;
  }
  return best;
}

TEST(LaneColumns, AreWhatEveryNanosecondSays) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const std::vector<LaneEvent> events = random_lane(random, 1 + random() % 60);
    const IntervalSet computing({{150, 300}, {320, 321}, {700, 1050}});
    const std::size_t count = 1 + random() % 70;
    const LaneColumns c = lane_columns(events, computing, kSpan, count);
    ASSERT_EQ(c.ns.size(), count);
    std::vector<std::array<std::int64_t, kLaneKinds>> slow(count);
    for (std::int64_t ns = kSpan.start; ns < kSpan.end; ++ns)
      if (const int kind = kind_at(events, computing, ns); kind >= 0)
        ++slow[static_cast<std::size_t>((ns - c.start_ns) / c.width_ns)]
              [static_cast<std::size_t>(kind)];
    std::uint32_t begun = 0;
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(c.ns[i], slow[i]) << "round " << round << " column " << i;
      const std::int64_t from = c.start_ns + static_cast<std::int64_t>(i) * c.width_ns;
      // an event that starts at the end of the span counts in the last column
      const std::int64_t to = i + 1 == count ? kSpan.end + 1 : from + c.width_ns;
      if (from < kSpan.end) {
        EXPECT_EQ(c.longest[i], longest_in(events, from, to)) << "round " << round << " " << i;
      }
      begun += c.begun[i];
    }
    EXPECT_EQ(begun, events.size());
  }
}

TEST(LaneColumns, OneNanosecondManyColumns) {
  const std::vector<LaneEvent> events = {{5, 1, LaneKind::kCopy}};
  const LaneColumns c = lane_columns(events, {}, {5, 6}, 16);
  EXPECT_EQ(c.width_ns, 1);
  EXPECT_EQ(c.ns[0][static_cast<std::size_t>(LaneKind::kCopy)], 1);
  EXPECT_EQ(c.longest[1], kNoLaneEvent);
  const LaneColumns none = lane_columns({}, {}, {0, 0}, 4);
  EXPECT_EQ(none.begun, std::vector<std::uint32_t>(4));
}

TEST(ImportantEvents, AreTheLongestOfEachPart) {
  std::mt19937 random(11);
  for (int round = 0; round < 40; ++round) {
    const std::vector<LaneEvent> events = random_lane(random, 300);
    const std::size_t tiles = 1 + random() % 20;
    const std::size_t most = 40;
    const std::vector<std::uint32_t> kept = important_events(events, kSpan, most, tiles);
    const std::size_t each = std::max<std::size_t>(most / tiles, 1);
    EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end()));
    EXPECT_LE(kept.size(), (each * (tiles + 1)));
    const auto parts = static_cast<std::int64_t>(tiles);
    const std::int64_t width = (kSpan.end - kSpan.start + parts - 1) / parts;
    for (std::int64_t tile = 0; tile <= parts; ++tile) {
      std::vector<std::int64_t> all, shown;
      for (std::uint32_t i = 0; i < events.size(); ++i)
        if ((events[i].start_ns - kSpan.start) / width == tile) {
          all.push_back(events[i].dur_ns);
          if (std::binary_search(kept.begin(), kept.end(), i))
            shown.push_back(events[i].dur_ns);
        }
      std::sort(all.rbegin(), all.rend());
      std::sort(shown.rbegin(), shown.rend());
      all.resize(std::min(all.size(), each));
      EXPECT_EQ(shown, all) << "round " << round << " part " << tile;
    }
  }
}

TEST(ImportantEvents, AllWhereTheyAreFew) {
  const std::vector<LaneEvent> events = {{100, 5, LaneKind::kCopy}, {110, 1, LaneKind::kCopy}};
  EXPECT_EQ(important_events(events, kSpan, 2, 512), (std::vector<std::uint32_t>{0, 1}));
}

} // namespace
} // namespace rankscope
