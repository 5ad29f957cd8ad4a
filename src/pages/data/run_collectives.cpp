#include "pages/data/run_collectives.h"

#include "analyses/collectives/late_ranks.h"
#include "analyses/collectives/like_groups.h"
#include "analyses/collectives/rank_bandwidth.h"
#include "base/sort.h"
#include "base/statistics.h"
#include "base/units.h"
#include "pages/data/bandwidth_data.h"

#include <algorithm>
#include <map>
#include <set>

namespace rankscope {
namespace {

constexpr std::size_t kMostMembers = 150'000; ///< members of collectives, over all ranks
constexpr std::size_t kMostRows = 1000;       ///< rows per list
constexpr std::size_t kMostGroups = 64;

/// Returns all collectives. If they have too many members for the page, returns those with the
/// largest wait.
std::vector<const TimedCollective*> chosen(const CollectiveFacts& facts, const ShownRanks& shown) {
  const auto size = [&shown](const TimedCollective& c) {
    return std::min(c.match.members.size(), shown.ranks().size());
  };
  std::vector<const TimedCollective*> out;
  std::size_t members = 0;
  for (const TimedCollective& c : facts.collectives)
    if (c.match.members.size() > 1) {
      out.push_back(&c);
      members += size(c);
    }
  if (members <= kMostMembers)
    return out;
  const auto weight = [](const TimedCollective* c) {
    return c->latest_start_ns - *std::min_element(c->start_ns.begin(), c->start_ns.end());
  };
  sort_stably(out, [&](const TimedCollective* a, const TimedCollective* b) {
    return weight(a) > weight(b);
  });
  std::size_t kept = 0;
  members = 0;
  while (kept < out.size() && members + size(*out[kept]) <= kMostMembers)
    members += size(*out[kept++]);
  out.resize(kept);
  return out;
}

void add_members(PageBlob& page, const CollectiveFacts& facts, std::int64_t origin_ns,
                 const ShownRanks& shown) {
  const std::vector<const TimedCollective*> list = chosen(facts, shown);
  std::vector<std::uint32_t> group, members, rank;
  std::vector<std::int64_t> start;
  std::vector<double> bus;
  for (const TimedCollective* c : list) {
    const std::size_t before = rank.size();
    for (std::size_t m = 0; m < c->match.members.size(); ++m) {
      const std::optional<std::uint32_t> place = shown.place(c->match.members[m].first);
      if (!place)
        continue;
      rank.push_back(*place);
      start.push_back(std::clamp(c->start_ns[m], -2 * kMaxTimeNs, 2 * kMaxTimeNs) - origin_ns);
    }
    if (rank.size() == before)
      continue;
    group.push_back(page.text(c->match.pg));
    members.push_back(static_cast<std::uint32_t>(rank.size() - before));
    bus.push_back(c->bus_gbps);
  }
  page.json.begin_object("matched");
  page.integers("group", group);
  page.integers("members", members);
  page.reals("bus", bus);
  page.integers("rank", rank); // index in the list of ranks
  page.times("start", start);
  page.json.end_object();
}

/// Adds bandwidth against size, with one mark per kind of collective.
void add_bandwidths(PageBlob& page, const CollectiveFacts& facts) {
  page.json.begin_list("bandwidths");
  const std::vector<SyncSummary> like = over_like_groups(facts.summary);
  for (const SyncSummary& s : facts.summary.size() > kMostRows ? like : facts.summary) {
    page.json.begin_object();
    add_bandwidth(page.json, s);
    page.json.end_object();
  }
  page.json.end_list();
}

/// Adds bandwidth by rank: classes of collectives, with one cell per class and rank.
void add_rank_bandwidths(PageBlob& page, const CollectiveFacts& facts, const ShownRanks& shown) {
  constexpr std::size_t kMostClasses = 32;
  std::vector<BandwidthClass> classes = bandwidth_by_rank(facts);
  classes.resize(std::min(classes.size(), kMostClasses));
  std::vector<std::uint32_t> class_index, rank, count;
  std::vector<double> bus, others, difference, half;
  page.json.begin_object("rank_bandwidth");
  page.json.begin_list("classes");
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const BandwidthClass& bandwidth = classes[c];
    page.json.begin_object();
    page.json.text("name", bandwidth.name);
    page.json.text("dtype", bandwidth.dtype);
    page.json.integer("size", bandwidth.group_size == kNoId ? 0 : bandwidth.group_size);
    page.json.number("mib", bandwidth.full_mib);
    page.json.end_object();
    for (const RankBandwidth& r : bandwidth.ranks) {
      const std::optional<std::uint32_t> place = shown.place(r.rank);
      if (!place)
        continue;
      class_index.push_back(static_cast<std::uint32_t>(c));
      rank.push_back(*place);
      count.push_back(static_cast<std::uint32_t>(r.collectives));
      bus.push_back(r.bus_gbps);
      others.push_back(r.others_bus_gbps);
      difference.push_back(r.difference ? r.difference->difference : kNaN);
      half.push_back(r.difference ? r.difference->half_width : kNaN);
    }
  }
  page.json.end_list();
  page.integers("class", class_index);
  page.integers("rank", rank);
  page.integers("count", count);
  page.reals("bus", bus);
  page.reals("others", others);
  page.reals("difference", difference);
  page.reals("half", half);
  page.json.end_object();
}

/// Adds how much later each rank starts (mean over the steps), with its interval. 95 % is the
/// confidence of all intervals together.
void add_skew(PageBlob& page, const CollectiveFacts& facts, const ShownRanks& shown) {
  std::set<std::int64_t> ranks;
  for (const std::size_t r : shown.ranks())
    ranks.insert(facts.ranks[r].rank);
  std::map<std::int64_t, RankExcess> tested;
  for (const LateRank& late : late_ranks(facts).ranks)
    tested.emplace(late.rank->rank, late.late);
  page.json.begin_list("skew");
  for (const Straggler& s : facts.stragglers) {
    if (ranks.count(s.rank) == 0)
      continue;
    page.json.begin_object();
    page.json.integer("rank", s.rank);
    page.json.integer("collectives", s.collectives);
    page.json.number("last_percent", s.percent_of(s.last));
    page.json.number("wait_ms", ns_to_ms(s.wait_ns));
    if (const auto late = tested.find(s.rank); late != tested.end()) {
      page.json.number("late_us", late->second.excess);
      page.json.number("low", late->second.excess - late->second.half_width);
      page.json.number("high", late->second.excess + late->second.half_width);
      page.json.boolean("late", late->second.significant);
    } else {
      page.json.null("late_us");
    }
    page.json.end_object();
  }
  page.json.end_list();
}

/// Adds the groups with their ranks and the time of their collectives.
void add_groups(PageBlob& page, const CollectiveFacts& facts, const ShownRanks& shown) {
  std::map<std::string, std::set<std::uint32_t>> members;
  for (const TimedCollective& c : facts.collectives)
    for (const auto& [rank, row] : c.match.members)
      if (const std::optional<std::uint32_t> place = shown.place(rank))
        members[c.match.pg].insert(*place);
  page.json.begin_list("groups");
  std::size_t listed = 0;
  for (const GroupSummary& g : facts.groups) { // most time first
    if (members[g.name].empty() || listed++ >= kMostGroups)
      continue;
    page.json.begin_object();
    page.json.text("name", g.name);
    page.json.text("description", g.description);
    page.json.text("span", g.node_span);
    page.json.integer("size", g.size == kNoId ? 0 : g.size);
    page.json.integer("collectives", g.collectives);
    page.json.number("mib", g.mib);
    page.json.number("ms", ns_to_ms(g.dur_ns));
    page.json.number("bus", g.median_bus_gbps);
    const std::set<std::uint32_t>& indices = members[g.name];
    page.integers("members", std::vector<std::uint32_t>(indices.begin(), indices.end()));
    page.json.end_object();
  }
  page.json.end_list();
}

} // namespace

void add_run_collectives(PageBlob& page, const CollectiveFacts& facts, std::int64_t origin_ns,
                         const ShownRanks& shown) {
  add_members(page, facts, origin_ns, shown);
  add_bandwidths(page, facts);
  add_rank_bandwidths(page, facts, shown);
  add_skew(page, facts, shown);
  add_groups(page, facts, shown);
}

} // namespace rankscope
