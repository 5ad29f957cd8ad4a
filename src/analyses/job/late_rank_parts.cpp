#include "analyses/job/late_rank_parts.h"

#include "analyses/job/path_rows.h"
#include "base/rank_excess.h"
#include "base/units.h"

#include <algorithm>

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

class Stretches {
public:
  Stretches(const JobRun& run, const PeerPlaces& peers) : run_(run), peers_(peers) {
    for (NodeId n = 0; n < run.graph.size(); ++n)
      start_.push_back(run.graph.start_ns(n));
    // ends of the matched collectives, by rank
    ends_.resize(run.ranks.size());
    for (const JobCollective& collective : run.collectives)
      for (const NodeId n : collective.transfers)
        ends_[run.rank_of[n]].push_back(run.graph.end_ns(n));
    for (std::vector<std::int64_t>& ends : ends_)
      std::ranges::sort(ends);
  }

  /// Returns the stretch before this transfer; empty for the first collective of the rank.
  [[nodiscard]] std::optional<MemberStretch> before(NodeId transfer) const {
    const NodeId arrival = run_.waited(transfer, NodeRole::kArrival);
    const std::uint32_t rank = run_.rank_of[transfer];
    const std::int64_t until = run_.graph.start_ns(arrival);
    const auto next = std::ranges::upper_bound(ends_[rank], until);
    if (next == ends_[rank].begin())
      return std::nullopt;
    const std::int64_t from = *(next - 1);
    MemberStretch out;
    out.rank = rank;
    out.all_ms = ns_to_ms(until - from);
    for (const PathPiece& piece :
         path_between(critical_path(run_.graph, {}, start_, arrival, from), from)) {
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
  std::vector<std::int64_t> start_;
  std::vector<std::vector<std::int64_t>> ends_;
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
  struct Sums {
    ExcessSums all;
    std::array<ExcessSums, kStretchParts> parts;
  };
  std::vector<Sums> sums(ranks.size());
  for (Sums& sum : sums) {
    sum.all = ExcessSums(run.steps());
    sum.parts.fill(ExcessSums(run.steps()));
  }
  for (const JobCollective& collective : run.collectives) {
    const auto is_member = [&](std::uint32_t rank) {
      return std::ranges::any_of(collective.transfers,
                                 [&](NodeId n) { return run.rank_of[n] == rank; });
    };
    if (collective.transfers.size() < kFewestRanks || std::ranges::none_of(ranks, is_member))
      continue;
    std::vector<MemberStretch> members;
    for (const NodeId n : collective.transfers)
      if (const std::optional<MemberStretch> member = stretches.before(n))
        members.push_back(*member);
    if (members.size() < kFewestRanks)
      continue;
    const std::size_t step = run.step_of(collective.transfers.front());
    const auto add = [&](const MemberValues& values, std::size_t k, ExcessSums& to) {
      const auto member = std::ranges::find(members, ranks[k], &MemberStretch::rank);
      if (member == members.end())
        return;
      const auto m = static_cast<std::size_t>(member - members.begin());
      to.add(step, values.value(m), values.others(m));
    };
    const MemberValues all(members, peers, [](const MemberStretch& m) { return m.all_ms; });
    for (std::size_t k = 0; k < ranks.size(); ++k)
      add(all, k, sums[k].all);
    for (std::size_t part = 0; part < kStretchParts; ++part) {
      const MemberValues values(members, peers,
                                [part](const MemberStretch& m) { return m.part_ms[part]; });
      for (std::size_t k = 0; k < ranks.size(); ++k)
        add(values, k, sums[k].parts[part]);
    }
    // the parts of these kernels depend on the rank that is compared
    for (std::size_t k = 0; k < ranks.size(); ++k)
      for (const StretchPart part : {StretchPart::kKernels, StretchPart::kOtherInputs}) {
        const MemberValues values(
            members, peers, [&](const MemberStretch& m) { return kernels_ms(m, part, peers, k); });
        add(values, k, sums[k].parts[static_cast<std::size_t>(part)]);
      }
  }
  std::vector<LateRankParts> out;
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    LateRankParts& late = out.emplace_back();
    late.rank = run.ranks[ranks[k]].rank;
    late.all = sums[k].all.mean(clock);
    for (std::size_t part = 0; part < kStretchParts; ++part)
      late.parts[part] = sums[k].parts[part].mean(clock);
  }
  return out;
}

} // namespace rankscope
