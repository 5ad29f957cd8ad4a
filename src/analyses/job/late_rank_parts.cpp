#include "analyses/job/late_rank_parts.h"

#include "analyses/job/path_rows.h"
#include "base/rank_excess.h"
#include "base/units.h"

#include <algorithm>
#include <map>

namespace rankscope {
namespace {

constexpr std::array<std::string_view, kStretchParts> kStretchPartNames = {
    "kernels", "differing inputs", "extra kernels", "copies",
    "host",    "launch and gap",   "other groups",  "unexplained"};

/// The stretch of a member before its collective: total time and time by part.
struct MemberStretch {
  std::uint32_t rank = 0;
  double all_ms = 0;
  std::array<double, kStretchParts> part_ms{}; ///< without `kernels`
  /// Kernels that the peers run too. They have the same or differing inputs, depending on the rank
  /// that is compared.
  std::vector<std::pair<NodeId, double>> kernels;
};

/// Finds the last collective before another one that has all its members. Stretches that begin at
/// different collectives would not be comparable.
class CommonBegins {
public:
  explicit CommonBegins(const JobRun& run) : run_(run) {
    std::map<std::vector<std::uint32_t>, std::size_t> sets;
    for (const JobCollective& collective : run.collectives) {
      std::vector<std::uint32_t> ranks;
      for (const NodeId n : collective.transfers)
        ranks.push_back(run.rank_of[n]);
      set_of_.push_back(sets.try_emplace(std::move(ranks), sets.size()).first->second);
    }
    collectives_.resize(sets.size());
    supersets_.resize(sets.size());
    for (std::size_t k = 0; k < run.collectives.size(); ++k)
      if (run.collectives[k].together)
        collectives_[set_of_[k]].push_back(&run.collectives[k]);
    for (std::vector<const JobCollective*>& all : collectives_)
      std::ranges::sort(all, {}, [this](const JobCollective* c) { return first_end(*c); });
    for (const auto& [ranks, set] : sets)
      for (const auto& [larger, superset] : sets)
        if (ranks.size() >= kFewestRanks && std::ranges::includes(larger, ranks))
          supersets_[set].push_back(superset);
  }

  /// Returns the number of the set of this collective's members.
  [[nodiscard]] std::size_t set_of(std::size_t collective) const { return set_of_[collective]; }
  /// Returns the common begin, or nullptr. `collective`: row of JobRun::collectives.
  [[nodiscard]] const JobCollective* before(std::size_t collective) const {
    const JobCollective& to = run_.collectives[collective];
    const JobCollective* out = nullptr;
    for (const std::size_t set : supersets_[set_of_[collective]]) {
      const std::vector<const JobCollective*>& all = collectives_[set];
      auto at = std::ranges::upper_bound(all, arrival_ns(to.transfers.front()), {},
                                         [this](const JobCollective* c) { return first_end(*c); });
      for (std::size_t tries = 0; tries < kMostTries && at != all.begin(); ++tries)
        if (const JobCollective& from = **--at; &from != &to && ends_before(from, to)) {
          if (out == nullptr || first_end(from) > first_end(*out))
            out = &from;
          break;
        }
    }
    return out;
  }
  /// Returns the end of the collective on this rank, which is a member.
  [[nodiscard]] std::int64_t end_ns(const JobCollective& collective, std::uint32_t rank) const {
    return run_.graph.end_ns(*std::ranges::find(collective.transfers, rank,
                                                [this](NodeId n) { return run_.rank_of[n]; }));
  }

private:
  static constexpr std::size_t kMostTries = 8;

  [[nodiscard]] std::int64_t first_end(const JobCollective& c) const {
    return run_.graph.end_ns(c.transfers.front());
  }
  [[nodiscard]] std::int64_t arrival_ns(NodeId transfer) const {
    return run_.graph.start_ns(run_.waited(transfer, NodeRole::kArrival));
  }
  [[nodiscard]] bool ends_before(const JobCollective& from, const JobCollective& to) const {
    return std::ranges::all_of(
        to.transfers, [&](NodeId n) { return end_ns(from, run_.rank_of[n]) <= arrival_ns(n); });
  }

  const JobRun& run_;
  std::vector<std::size_t> set_of_;                            ///< by collective
  std::vector<std::vector<const JobCollective*>> collectives_; ///< by set, ordered by end
  std::vector<std::vector<std::size_t>> supersets_;            ///< by set; includes the set itself
};

class Stretches {
public:
  Stretches(const JobRun& run, const PeerPlaces& peers) : run_(run), peers_(peers) {}

  /// Returns the stretch from this time to the arrival at the transfer.
  [[nodiscard]] MemberStretch before(NodeId transfer, std::int64_t from) const {
    const NodeId arrival = run_.waited(transfer, NodeRole::kArrival);
    const std::uint32_t rank = run_.rank_of[transfer];
    MemberStretch out;
    out.rank = rank;
    out.all_ms = ns_to_ms(run_.graph.start_ns(arrival) - from);
    for (const PathPiece& piece :
         path_between(critical_path(run_.graph, {}, run_.graph.starts(), arrival, from), from)) {
      const StretchPart part = part_of(piece, rank);
      const double ms = ns_to_ms(piece.end_ns - piece.begin_ns);
      if (part == StretchPart::kKernels)
        out.kernels.emplace_back(piece.node, ms);
      else
        out.part_ms[static_cast<std::size_t>(part)] += ms;
    }
    return out;
  }

private:
  [[nodiscard]] StretchPart part_of(const PathPiece& piece, std::uint32_t rank) const {
    if (run_.rank_of[piece.node] != rank)
      return StretchPart::kOtherGroups;
    if (piece.kind == PathPiece::Kind::kLag)
      return StretchPart::kLaunch;
    if (piece.kind == PathPiece::Kind::kDelay)
      return StretchPart::kUnexplained;
    switch (run_.activity(piece.node).kind) {
    case ActivityKind::kHost:
    case ActivityKind::kCall:
      return StretchPart::kHost;
    case ActivityKind::kCopy:
    case ActivityKind::kSet:
      return StretchPart::kCopies;
    case ActivityKind::kCollective:
      return StretchPart::kOtherGroups;
    case ActivityKind::kKernel:
      break;
    }
    return peers_.compare(piece.node).kind == PeerComparison::Kind::kExtra
               ? StretchPart::kExtraKernels
               : StretchPart::kKernels;
  }

  const JobRun& run_;
  const PeerPlaces& peers_;
};

/// Returns the time of the kernels in this part if outstanding rank k is compared.
double kernels_ms(const MemberStretch& stretch, StretchPart part, const PeerPlaces& peers,
                  std::size_t k) {
  double out = 0;
  for (const auto& [node, ms] : stretch.kernels)
    out += peers.inputs_differ(node, k) == (part == StretchPart::kOtherInputs) ? ms : 0;
  return out;
}

/// One value of each member of a collective.
class MemberValues {
public:
  template <class Value>
  MemberValues(const std::vector<MemberStretch>& members, const PeerPlaces& peers,
               const Value& value)
      : members_(members), peers_(peers), values_(each(members, value)), others_(values_) {
    std::vector<double> peer_values;
    for (std::size_t m = 0; m < members.size(); ++m)
      if (peers.is_peer(members[m].rank))
        peer_values.push_back(values_[m]);
    if (peer_values.size() >= kFewestRanks)
      peer_median_ = quantile_of(std::move(peer_values), 0.5);
  }
  [[nodiscard]] double value(std::size_t member) const { return values_[member]; }
  /// Returns the median of the peers, or of all other members if they have too few peers.
  [[nodiscard]] double others(std::size_t member) const {
    return peer_median_ && !peers_.is_peer(members_[member].rank)
               ? *peer_median_
               : others_.without(values_[member]);
  }

private:
  template <class Value>
  static std::vector<double> each(const std::vector<MemberStretch>& members, const Value& value) {
    std::vector<double> out;
    for (const MemberStretch& member : members)
      out.push_back(value(member));
    return out;
  }

  const std::vector<MemberStretch>& members_;
  const PeerPlaces& peers_;
  std::vector<double> values_;
  MedianOfOthers others_;
  std::optional<double> peer_median_;
};

/// Sums of one part over the collectives of each step.
struct ExcessSums {
  std::vector<double> self, peers;

  explicit ExcessSums(std::size_t steps = 0) : self(steps, 0.0), peers(steps, 0.0) {}
  void add(std::size_t step, double self_ms, double peers_ms) {
    self[step] += self_ms;
    peers[step] += peers_ms;
  }
  [[nodiscard]] PartExcess mean(const CountedSteps& clock) const {
    PartExcess out;
    std::vector<double> excess;
    for (std::size_t step = 0; step < self.size(); ++step)
      if (clock.counts(step)) {
        out.rank_ms += self[step];
        out.peers_ms += peers[step];
        excess.push_back(self[step] - peers[step]);
      }
    const auto steps = static_cast<double>(excess.size());
    out.rank_ms /= steps;
    out.peers_ms /= steps;
    out.excess_ms = out.rank_ms - out.peers_ms;
    if (const std::optional<MeanDifference> interval = mean_interval(excess, 0.05)) {
      out.low_ms = interval->difference - interval->half_width;
      out.high_ms = interval->difference + interval->half_width;
    }
    return out;
  }
};

/// The sums of a late rank over the collectives of one set of members. The stretches of a set do
/// not overlap; those of different sets do.
struct StretchSums {
  ExcessSums all;
  std::array<ExcessSums, kStretchParts> parts;

  explicit StretchSums(std::size_t steps) : all(steps) { parts.fill(all); }
  [[nodiscard]] LateRankParts mean(const CountedSteps& clock) const {
    LateRankParts out;
    out.all = all.mean(clock);
    for (std::size_t part = 0; part < kStretchParts; ++part)
      out.parts[part] = parts[part].mean(clock);
    return out;
  }
};

/// A late rank as a member of a collective.
struct LateMember {
  std::size_t outstanding = 0; ///< position in the outstanding ranks
  std::size_t member = 0;      ///< position in the members
  StretchSums* sums = nullptr;
};

/// Adds the stretches before a collective to the sums of its late ranks.
void add_stretches(std::size_t step, const std::vector<MemberStretch>& members,
                   const PeerPlaces& peers, std::span<const LateMember> late) {
  const auto add = [step](ExcessSums& to, const MemberValues& values, std::size_t member) {
    to.add(step, values.value(member), values.others(member));
  };
  const MemberValues all(members, peers, [](const MemberStretch& m) { return m.all_ms; });
  for (const LateMember& l : late)
    add(l.sums->all, all, l.member);
  for (std::size_t part = 0; part < kStretchParts; ++part) {
    const MemberValues values(members, peers,
                              [part](const MemberStretch& m) { return m.part_ms[part]; });
    for (const LateMember& l : late)
      add(l.sums->parts[part], values, l.member);
  }
  // the parts of these kernels depend on the rank that is compared
  for (const LateMember& l : late)
    for (const StretchPart part : {StretchPart::kKernels, StretchPart::kOtherInputs})
      add(l.sums->parts[static_cast<std::size_t>(part)],
          MemberValues(
              members, peers,
              [&](const MemberStretch& m) { return kernels_ms(m, part, peers, l.outstanding); }),
          l.member);
}

} // namespace

std::string_view stretch_part_name(StretchPart part) {
  return kStretchPartNames[static_cast<std::size_t>(part)];
}

double LateRankParts::remainder_ms() const {
  double out = all.excess_ms;
  for (const PartExcess& part : parts)
    out -= part.excess_ms;
  return out;
}

std::vector<LateRankParts> late_rank_parts(const JobRun& run, const CountedSteps& clock,
                                           const PeerPlaces& peers,
                                           std::span<const std::uint32_t> ranks) {
  if (ranks.empty())
    return {};
  const Stretches stretches(run, peers);
  const CommonBegins begins(run);
  std::vector<std::map<std::size_t, StretchSums>> sums(ranks.size()); // by set of members
  for (std::size_t c = 0; c < run.collectives.size(); ++c) {
    const JobCollective& collective = run.collectives[c];
    if (!collective.together)
      continue;
    std::vector<LateMember> late;
    for (std::size_t m = 0; m < collective.transfers.size(); ++m)
      if (const auto at = std::ranges::find(ranks, run.rank_of[collective.transfers[m]]);
          at != ranks.end())
        late.push_back({static_cast<std::size_t>(at - ranks.begin()), m, nullptr});
    if (collective.transfers.size() < kFewestRanks || late.empty() ||
        !run.in_steps(collective.transfers.front()))
      continue;
    const JobCollective* const from = begins.before(c);
    if (from == nullptr)
      continue;
    for (LateMember& l : late)
      l.sums = &sums[l.outstanding].try_emplace(begins.set_of(c), run.steps()).first->second;
    std::vector<MemberStretch> members;
    for (const NodeId n : collective.transfers)
      members.push_back(stretches.before(n, begins.end_ns(*from, run.rank_of[n])));
    add_stretches(run.step_of(collective.transfers.front()), members, peers, late);
  }
  std::vector<LateRankParts> out;
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    if (sums[k].empty())
      continue; // no collective shows when the rank arrives
    LateRankParts latest;
    for (const auto& [set, sum] : sums[k])
      if (LateRankParts late = sum.mean(clock);
          set == sums[k].begin()->first || late.all.excess_ms > latest.all.excess_ms)
        latest = late;
    latest.rank = run.ranks[ranks[k]].rank;
    out.push_back(latest);
  }
  return out;
}

} // namespace rankscope
