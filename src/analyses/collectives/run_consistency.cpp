#include "analyses/collectives/run_consistency.h"

#include "analyses/collectives/collective_sums.h"
#include "base/fnv.h"
#include "base/number_text.h"
#include "base/sort.h"
#include "core/steps.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <map>
#include <set>

namespace rankscope {
namespace {

using Kind = RunProblem::Kind;
using Numbers = std::vector<std::int64_t>;

void add_number(Fnv64& hash, std::int64_t number) {
  hash.update({reinterpret_cast<const char*>(&number), sizeof number});
}

void read_gpu_events(const Trace& trace, RankIdentity& out) {
  const Events& e = trace.events;
  const bool unix_clock = trace.clock().domain == ClockDomain::kUnix;
  Fnv64 hash;
  std::vector<std::int64_t> names(trace.strings.size(), 0); // hashes; 0 = not computed yet
  const auto name_hash = [&](StrId id) {
    if (names[id] == 0) {
      Fnv64 digest;
      digest.update(trace.strings.view(id));
      names[id] = static_cast<std::int64_t>(digest.value());
    }
    return names[id];
  };
  for (EventId i = 0; i < e.size(); ++i) {
    if (!is_gpu(e.category[i]))
      continue;
    add_number(hash, name_hash(e.name[i]));
    add_number(hash, e.ts_ns[i]);
    add_number(hash, e.dur_ns[i]);
    if (unix_clock) {
      const std::int64_t start = e.ts_ns[i] + trace.clock().offset_ns;
      const std::int64_t end = start + e.dur_ns[i];
      out.start_ns = out.gpu_events == 0 ? start : std::min(out.start_ns, start);
      out.end_ns = out.gpu_events == 0 ? end : std::max(out.end_ns, end);
    }
    ++out.gpu_events;
  }
  out.content = hash.value();
}

void read_groups(const Trace& trace, std::set<KnownGroup>& groups, RankIdentity& out) {
  std::set<std::pair<StrId, StrId>> seen;
  std::set<std::string> launch;
  for (const auto& [event, args] : trace.collectives) {
    out.largest_group = std::max(out.largest_group, args.group_size);
    if (seen.insert({args.pg_name, args.pg_ranks}).second) {
      const std::string_view list = trace.strings.view(args.pg_ranks);
      RankSet ranks(numbers_in(list));
      // the profiler lists 30 members and writes "..." for the others, which are unknown
      if (!ranks.empty() && list.find("...") == std::string_view::npos)
        groups.insert({std::string(trace.strings.view(args.pg_name)), std::move(ranks)});
    }
    const GpuArgs* gpu = trace.gpu_arg(event);
    if (gpu != nullptr && gpu->grid != kEmptyStr &&
        synchronises(collective_kind(trace.strings.view(args.collective_name))))
      launch.insert(
          fmt::format("{} x {}", trace.strings.view(gpu->grid), trace.strings.view(gpu->block)));
  }
  out.launch.assign(launch.begin(), launch.end());
}

std::string ranks_text(const Numbers& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + ranges_text(ranks);
}

std::string ranks_text(const RankSet& ranks) {
  constexpr std::uint64_t kMostListed = 4096; // far more than are printed
  return ranks_text(ranks.ranks(kMostListed));
}

/// Returns the ranks grouped by the value that they report; ranks without a value are left out.
template <class T>
std::map<T, Numbers> by_value(std::span<const RankIdentity> ranks,
                              const std::function<std::optional<T>(const RankIdentity&)>& says) {
  std::map<T, Numbers> out;
  for (const RankIdentity& r : ranks)
    if (const std::optional<T> said = says(r))
      out[*said].push_back(r.rank);
  return out;
}

/// Returns the value that most ranks report; on a tie, the value of the lowest rank.
template <class T> const T& most_said(const std::map<T, Numbers>& said) {
  const auto found = std::max_element(said.begin(), said.end(), [](const auto& a, const auto& b) {
    return a.second.size() != b.second.size() ? a.second.size() < b.second.size()
                                              : a.second.front() > b.second.front();
  });
  return found->first;
}

class Check {
public:
  Check(std::span<const RankIdentity> ranks, const RunExpectation& expected)
      : ranks_(ranks), expected_(expected) {}

  std::vector<RunProblem> operator()(std::span<const ClockOffset> clocks,
                                     std::span<const CollectiveProblem> problems) {
    if (ranks_.empty())
      return {};
    copies();
    worlds();
    missing();
    if (ranks_.size() > 1) {
      same_rank();
      groups();
      windows(problems);
      foreign(clocks);
    }
    sort_stably(out_, [](const RunProblem& a, const RunProblem& b) { return a.kind < b.kind; });
    return std::move(out_);
  }

private:
  void add(Kind kind, Numbers ranks, std::string text) {
    if (kind != Kind::kMissing && kind != Kind::kWorld)
      explained_.insert(ranks.begin(), ranks.end());
    out_.push_back({kind, std::move(ranks), std::move(text)});
  }

  /// Returns whether a problem of this rank was already added. That problem explains later ones.
  bool explained(std::int64_t rank) const { return explained_.count(rank) > 0; }

  void copies() {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::int64_t> first;
    for (const RankIdentity& r : ranks_) {
      if (r.gpu_events == 0)
        continue;
      const auto [at, added] = first.emplace(std::pair(r.content, r.gpu_events), r.rank);
      if (!added)
        add(Kind::kCopy, {r.rank},
            fmt::format("rank {} is a copy of rank {}: all {} GPU events have the same names and "
                        "times",
                        r.rank, at->second, r.gpu_events));
    }
  }

  void worlds() {
    const auto said =
        by_value<std::int64_t>(ranks_, [](const RankIdentity& r) { return r.world_size; });
    if (!said.empty())
      world_ = most_said(said);
    if (said.size() > 1) {
      std::vector<std::string> texts;
      Numbers wrong;
      for (const auto& [size, who] : said) {
        texts.push_back(fmt::format("{} on {}", size, ranks_text(who)));
        if (size != world_)
          wrong.insert(wrong.end(), who.begin(), who.end());
      }
      std::sort(wrong.begin(), wrong.end());
      add(Kind::kWorld, std::move(wrong),
          fmt::format("headers disagree on the world size: {}", fmt::join(texts, ", ")));
    }
  }

  /// Finds missing ranks from the world size in headers or, without headers, from the groups.
  void missing() {
    std::string source = fmt::format("the world has {} ranks", world_);
    std::set<std::int64_t> wanted;
    for (std::int64_t r = 0; r < std::min(world_, kMostRanks); ++r)
      wanted.insert(r);
    if (world_ == 0) {
      const RankIdentity* largest = nullptr;
      std::set<RankSet> listed; // most ranks list the same groups
      for (const RankIdentity& r : ranks_) {
        for (const KnownGroup& g : r.groups)
          if (static_cast<std::int64_t>(wanted.size()) < kMostRanks &&
              listed.insert(g.ranks).second) {
            const Numbers members = g.ranks.ranks(kMostRanks);
            wanted.insert(members.begin(), members.end());
          }
        if (largest == nullptr || r.largest_group > largest->largest_group)
          largest = &r;
      }
      source = "process groups list them";
      if (static_cast<std::int64_t>(wanted.size()) < largest->largest_group) {
        for (std::int64_t r = 0; r < std::min(largest->largest_group, kMostRanks); ++r)
          wanted.insert(r);
        source = fmt::format("collectives of rank {} have {} members", largest->rank,
                             largest->largest_group);
      }
    }
    if (!expected_.all_ranks)
      return;
    for (const RankIdentity& r : ranks_)
      wanted.erase(r.rank);
    for (const std::int64_t r : expected_.known_missing)
      wanted.erase(r);
    const Numbers ranks(wanted.begin(), wanted.end());
    if (!ranks.empty())
      add(Kind::kMissing, ranks,
          fmt::format("{} {} no trace: {}", ranks_text(ranks), ranks.size() > 1 ? "have" : "has",
                      source));
  }

  void same_rank() {
    const auto said =
        by_value<std::int64_t>(ranks_, [](const RankIdentity& r) { return r.header_rank; });
    for (const auto& [rank, who] : said)
      if (who.size() > 1 && !(who.size() == 2 && explained(who[1])))
        add(Kind::kRank, who,
            fmt::format("the traces of {} all say that they are rank {}", ranks_text(who), rank));
    for (const RankIdentity& r : ranks_)
      if (world_ > 0 && r.rank >= world_)
        add(Kind::kRank, {r.rank},
            fmt::format("rank {} does not belong to a world of {} ranks", r.rank, world_));
  }

  /// Reports contradictions: the members of a group must all have the same group of this name.
  void groups() {
    std::map<std::int64_t, MemberGroups> by_rank;
    for (const RankIdentity& r : ranks_)
      by_rank.insert_or_assign(r.rank, MemberGroups(r));
    std::map<KnownGroup, Votes> votes;
    for (const RankIdentity& r : ranks_) {
      if (explained(r.rank))
        continue;
      const KnownGroup* contradicted = nullptr;
      const RankIdentity* other = nullptr;
      for (const KnownGroup& g : r.groups) {
        if (!g.ranks.contains(r.rank))
          continue; // headers also list groups of other ranks
        const auto [at, fresh] = votes.try_emplace(g);
        if (fresh)
          at->second = votes_on(g, by_rank);
        other = contradicts(r, at->second);
        if (other != nullptr) {
          contradicted = &g;
          break;
        }
      }
      if (contradicted != nullptr)
        add(Kind::kGroups, {r.rank},
            fmt::format("rank {} has {} in process group {}, which is another group on rank {}",
                        r.rank, ranks_text(contradicted->ranks), contradicted->name, other->rank));
    }
    strangers();
  }

  /// The groups of a rank that contain this rank, sorted by name.
  class MemberGroups {
  public:
    explicit MemberGroups(const RankIdentity& rank) : rank_(&rank) {
      for (const KnownGroup& g : rank.groups)
        if (g.ranks.contains(rank.rank))
          groups_.push_back(&g);
      std::sort(groups_.begin(), groups_.end(), before);
    }
    [[nodiscard]] const RankIdentity& rank() const { return *rank_; }
    [[nodiscard]] bool has(const KnownGroup& g) const {
      return std::binary_search(groups_.begin(), groups_.end(), &g, before);
    }
    [[nodiscard]] bool has_name(const std::string& name) const {
      const auto at =
          std::lower_bound(groups_.begin(), groups_.end(), name,
                           [](const KnownGroup* g, const std::string& n) { return g->name < n; });
      return at != groups_.end() && (*at)->name == name;
    }

  private:
    static bool before(const KnownGroup* a, const KnownGroup* b) { return *a < *b; }
    const RankIdentity* rank_;
    std::vector<const KnownGroup*> groups_;
  };

  /// The number of members with the same group (`agree`) and with a different group of the same
  /// name (`against`). The votes do not depend on the member that is checked.
  struct Votes {
    std::size_t agree = 0, against = 0;
    const RankIdentity* first = nullptr; ///< first rank against
  };
  static Votes votes_on(const KnownGroup& g, const std::map<std::int64_t, MemberGroups>& by_rank) {
    Votes out;
    for (const std::int64_t member : g.ranks.ranks(kMostRanks)) {
      const auto found = by_rank.find(member);
      if (found == by_rank.end())
        continue;
      const MemberGroups& member_groups = found->second;
      const bool same = member_groups.has(g);
      out.agree += same ? 1 : 0;
      if (!same && member_groups.has_name(g.name)) {
        ++out.against;
        out.first = out.first == nullptr ? &member_groups.rank() : out.first;
      }
    }
    return out;
  }

  /// Returns the first rank against the group if most members except `r` are against it, else
  /// nullptr. On a tie, the lower rank is right.
  static const RankIdentity* contradicts(const RankIdentity& r, const Votes& votes) {
    const std::size_t agree = votes.agree - 1; // `r` has the group and is not counted
    return votes.against > agree ||
                   (votes.against > 0 && votes.against == agree && votes.first->rank < r.rank)
               ? votes.first
               : nullptr;
  }

  /// Reports ranks that are not members of any group in their own trace. Such a trace belongs to
  /// another rank.
  void strangers() {
    for (const RankIdentity& r : ranks_) {
      const bool in_one = std::ranges::any_of(
          r.groups, [&r](const KnownGroup& g) { return g.ranks.contains(r.rank); });
      if (!r.groups.empty() && !in_one && !explained(r.rank))
        add(Kind::kGroups, {r.rank},
            fmt::format("rank {} is not in any of its process groups: this is the trace of another "
                        "rank",
                        r.rank));
    }
  }

  void windows(std::span<const CollectiveProblem> problems) {
    const auto said = by_value<Numbers>(ranks_, [](const RankIdentity& r) {
      return r.steps.empty() ? std::nullopt : std::optional(r.steps);
    });
    if (said.size() > 1) {
      const Numbers& usual = most_said(said);
      for (const auto& [steps, who] : said)
        if (steps != usual)
          add(Kind::kWindow, who,
              fmt::format("{} recorded the steps {}, {} the steps {}", ranks_text(who),
                          ranges_text(steps), ranks_text(said.at(usual)), ranges_text(usual)));
    }
    for (const CollectiveProblem& p : problems)
      if (p.partial && !explained(p.rank))
        add(Kind::kWindow, {p.rank},
            fmt::format("rank {}, group {}: {}", p.rank, p.group, p.problem));
  }

  void foreign(std::span<const ClockOffset> clocks) {
    differs(
        [](const RankIdentity& r) {
          return r.device.empty() ? std::nullopt : std::optional(r.device);
        },
        "ran on {1}, {2} on {3}");
    other_launch();
    other_time();
    for (const ClockOffset& c : clocks)
      if (c.scattered() && !explained(c.rank))
        add(Kind::kForeign, {c.rank}, "may belong to another run: " + clock_note(c));
  }

  void differs(const std::function<std::optional<std::string>(const RankIdentity&)>& says,
               const char* format) {
    const auto said = by_value<std::string>(ranks_, says);
    if (said.size() < 2)
      return;
    const std::string& usual = most_said(said);
    for (const auto& [what, who] : said) {
      Numbers news;
      std::copy_if(who.begin(), who.end(), std::back_inserter(news),
                   [this](std::int64_t r) { return !explained(r); });
      if (what != usual && !news.empty())
        add(Kind::kForeign, news,
            fmt::format(fmt::runtime(std::string("{0} ") + format), ranks_text(news), what,
                        ranks_text(said.at(usual)), usual));
    }
  }

  /// Reports ranks that have no launch in common with the usual launches. All members of a
  /// collective launch it with the same geometry, so such ranks have another configuration.
  void other_launch() {
    using Launch = std::vector<std::string>;
    const auto said = by_value<Launch>(ranks_, [](const RankIdentity& r) {
      return r.launch.empty() ? std::nullopt : std::optional(r.launch);
    });
    if (said.size() < 2)
      return;
    const Launch& usual = most_said(said);
    for (const auto& [launch, who] : said) {
      Launch both;
      std::set_intersection(launch.begin(), launch.end(), usual.begin(), usual.end(),
                            std::back_inserter(both));
      Numbers news;
      std::copy_if(who.begin(), who.end(), std::back_inserter(news),
                   [this](std::int64_t r) { return !explained(r); });
      if (both.empty() && !news.empty())
        add(Kind::kForeign, news,
            fmt::format("{} launched collectives as {}, {} as {}: another configuration",
                        ranks_text(news), launch.front(), ranks_text(said.at(usual)),
                        usual.front()));
    }
  }

  static std::int64_t last_start(const std::vector<const RankIdentity*>& ranks) {
    return (*std::ranges::max_element(
                ranks, [](const auto* a, const auto* b) { return a->start_ns < b->start_ns; }))
        ->start_ns;
  }
  static std::int64_t first_end(const std::vector<const RankIdentity*>& ranks) {
    return (*std::min_element(ranks.begin(), ranks.end(),
                              [](const auto* a, const auto* b) { return a->end_ns < b->end_ns; }))
        ->end_ns;
  }

  /// Reports ranks that were recorded at another time than most ranks: the gap between two windows
  /// is longer than each of them and longer than clock differences (60 s).
  void other_time() {
    constexpr std::int64_t kClocksNs = 60'000'000'000;
    std::vector<const RankIdentity*> timed;
    for (const RankIdentity& r : ranks_)
      if (r.end_ns > 0)
        timed.push_back(&r);
    const auto apart = [](const RankIdentity& a, const RankIdentity& b) {
      const std::int64_t gap = std::max(a.start_ns - b.end_ns, b.start_ns - a.end_ns);
      return gap > std::max({a.end_ns - a.start_ns, b.end_ns - b.start_ns, kClocksNs});
    };
    if (timed.empty() || last_start(timed) - first_end(timed) <= kClocksNs)
      return; // no two ranks are far apart
    for (const RankIdentity* r : timed) {
      std::size_t far = 0;
      const RankIdentity* other = nullptr;
      for (const RankIdentity* o : timed)
        if (apart(*r, *o)) {
          ++far;
          other = other == nullptr ? o : other;
        }
      const bool most =
          2 * far > timed.size() || (2 * far == timed.size() && other->rank < r->rank);
      if (far > 0 && most && !explained(r->rank))
        add(Kind::kForeign, {r->rank},
            fmt::format("rank {} was recorded {} s {} rank {}: another run", r->rank,
                        std::abs(r->start_ns - other->start_ns) / 1'000'000'000,
                        r->start_ns > other->start_ns ? "after" : "before", other->rank));
    }
  }

  static constexpr std::int64_t kMostRanks = 1 << 20;
  std::span<const RankIdentity> ranks_;
  const RunExpectation& expected_;
  std::int64_t world_ = 0; ///< 0: not in any header
  std::vector<RunProblem> out_;
  std::set<std::int64_t> explained_;
};

} // namespace

std::int64_t job_ranks(std::span<const RankIdentity> ranks) {
  std::int64_t out = 0;
  for (const RankIdentity& rank : ranks)
    out = std::max({out, rank.world_size.value_or(0), rank.largest_group});
  return out;
}

RankIdentity identity_of(const Trace& trace, std::int64_t rank) {
  RankIdentity out;
  out.rank = rank;
  out.header_rank = trace.header.rank;
  if (trace.header.world_size.value_or(0) > 0)
    out.world_size = trace.header.world_size;
  if (!trace.header.devices.empty())
    out.device = trace.header.devices.front().name;
  std::set<KnownGroup> groups;
  for (const ProcessGroup& group : trace.header.process_groups)
    if (!group.ranks.empty()) {
      groups.insert({group.name, RankSet(group.ranks)});
    }
  read_groups(trace, groups, out);
  out.groups.assign(groups.begin(), groups.end());
  std::set<std::int64_t> steps;
  for (const ProfilerStep& step : profiler_steps(trace))
    steps.insert(step.number);
  out.steps.assign(steps.begin(), steps.end());
  read_gpu_events(trace, out);
  return out;
}

std::vector<RunProblem> check_run(std::span<const RankIdentity> ranks,
                                  const RunExpectation& expected,
                                  std::span<const ClockOffset> clocks,
                                  std::span<const CollectiveProblem> problems) {
  return Check(ranks, expected)(clocks, problems);
}

std::vector<RunProblem> check_run(std::span<const RankIdentity> ranks,
                                  const RunExpectation& expected, const CollectiveFacts& facts) {
  return check_run(ranks, expected, facts.offsets, facts.problems);
}

std::vector<RunProblem> check_run(std::span<const RankIdentity> ranks,
                                  const RunExpectation& expected,
                                  const std::vector<RankCollectives>& collectives) {
  const MatchResult match = match_collectives(collectives);
  return check_run(ranks, expected, align_clocks(collective_ends(collectives, match.collectives)),
                   match.problems);
}

} // namespace rankscope
