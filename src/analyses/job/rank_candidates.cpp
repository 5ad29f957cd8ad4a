// Why a rank is later than its peers: its activities against those at the same place on the others.
#include "analyses/job/cause_candidates.h"
#include "analyses/job/places.h"
#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace rankscope {
namespace {

constexpr double kFit = 0.8; ///< of the excess that one factor, or one operator, explains

/// One node of a rank with what its peers take at the same place.
struct Compared {
  NodeId node = kNoNode;
  std::int64_t peers_ns = 0;
};

class RankCandidates {
public:
  /// Collectives are left out: their time is that of all members.
  RankCandidates(const CauseInput& in, const OutstandingRank& of, const PlaceNodes& places,
                 const RunPlaces& operators, const PlaceNodes& at_operator)
      : run_(in.run), of_(of), operators_(operators), at_operator_(at_operator) {
    for (std::uint32_t place = 0; place < places.count(); ++place)
      if (run_.activity(places.at(place).front()).kind != ActivityKind::kCollective)
        compare(places.at(place));
  }

  std::vector<CauseCandidate> run() {
    add_kernels();
    add(CauseRule::kMoreWork, extra_, GainKind::kEstimate);
    add(CauseRule::kMoreData, larger_, GainKind::kEstimate);
    add(CauseRule::kSlowHost, host_, GainKind::kEstimate);
    return std::move(out_);
  }

private:
  [[nodiscard]] std::int64_t dur(NodeId n) const { return run_.graph.dur_ns(n); }

  void compare(std::span<const NodeId> at) {
    NodeId own = kNoNode;
    std::vector<double> peers;
    for (const NodeId n : at) {
      if (run_.rank_of[n] == of_.rank)
        own = n;
      else
        peers.push_back(static_cast<double>(dur(n)));
    }
    if (own == kNoNode)
      return;
    const ActivityKind kind = run_.activity(own).kind;
    if (2 * peers.size() < run_.ranks.size() - 1) {
      if (on_gpu(kind))
        compare_operator(own);
      return;
    }
    const auto median = static_cast<std::int64_t>(quantile_of(std::move(peers), 0.5));
    (on_gpu(kind) ? kernels_ : host_).push_back({own, median});
  }

  /// Most peers lack this kernel with these shapes. Where they run the same operator at this place,
  /// its inputs differ, or another kernel was chosen for them.
  void compare_operator(NodeId own) {
    const Activity& a = run_.activity(own);
    std::vector<double> peers;
    std::size_t other_shapes = 0;
    if (a.op != kEmptyStr)
      for (const NodeId n : at_operator_.at(operators_.of[own]))
        if (run_.rank_of[n] != of_.rank) {
          peers.push_back(static_cast<double>(dur(n)));
          if (run_.text(n, run_.activity(n).shapes) != run_.text(own, a.shapes))
            ++other_shapes;
        }
    if (2 * peers.size() < run_.ranks.size() - 1) {
      extra_.push_back({own, 0});
      return;
    }
    const bool larger = 2 * other_shapes > peers.size();
    (larger ? larger_ : kernels_)
        .push_back({own, static_cast<std::int64_t>(quantile_of(std::move(peers), 0.5))});
  }

  void add_kernels() {
    double more = 0, off = 0;
    std::map<std::string, double> by_operator;
    std::vector<std::pair<double, double>> ratios; // with the peers' time as weight
    double weight = 0;
    for (const Compared& k : kernels_) {
      const auto own = static_cast<double>(dur(k.node)), peers = static_cast<double>(k.peers_ns);
      if (peers <= 0)
        continue;
      ratios.emplace_back(own / peers, peers);
      weight += peers;
      more += own - peers;
      by_operator[std::string(run_.text(k.node, run_.activity(k.node).op))] += own - peers;
    }
    if (ratios.empty() || more <= 0)
      return;
    std::sort(ratios.begin(), ratios.end());
    double factor = 1, below = 0;
    for (const auto& [ratio, of] : ratios) {
      below += of;
      factor = ratio;
      if (2 * below >= weight)
        break;
    }
    for (const auto& [ratio, of] : ratios)
      off += std::abs(ratio - factor) * of;
    const auto most = std::max_element(by_operator.begin(), by_operator.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    const bool alike = off <= (1 - kFit) * more && factor > 1;
    CauseCandidate* c = nullptr;
    if (alike || most->second < kFit * more) {
      c = add(CauseRule::kSlowGpu, kernels_, GainKind::kEstimate);
      if (c != nullptr && !alike)
        c->cause.confidence = Confidence::kLikely;
    } else {
      std::vector<Compared> own;
      for (const Compared& k : kernels_)
        if (run_.text(k.node, run_.activity(k.node).op) == most->first)
          own.push_back(k);
      c = add(CauseRule::kSlowOperator, own, GainKind::kEstimate);
      if (c != nullptr)
        c->cause.what = most->first;
    }
    if (c != nullptr)
      c->cause.percent = 100 * (alike ? factor - 1 : more / weight);
  }

  CauseCandidate* add(CauseRule rule, const std::vector<Compared>& compared, GainKind kind) {
    if (compared.empty())
      return nullptr;
    CauseCandidate c;
    c.cause.rule = rule;
    c.cause.kind = kind;
    c.cause.ranks = {run_.ranks[of_.rank].rank};
    c.cause.excess_ms = of_.excess_ms;
    c.cause.latest_steps = of_.steps;
    for (const Compared& k : compared) {
      c.nodes.push_back(k.node);
      c.durations.emplace_back(k.node, k.peers_ns);
    }
    out_.push_back(std::move(c));
    return &out_.back();
  }

  const JobRun& run_;
  const OutstandingRank& of_;
  const RunPlaces& operators_;
  const PlaceNodes& at_operator_;
  std::vector<Compared> kernels_, host_, extra_;
  std::vector<Compared> larger_; ///< the operator has other shapes than on the peers
  std::vector<CauseCandidate> out_;
};

} // namespace

std::vector<CauseCandidate> rank_candidates(const CauseInput& in,
                                            std::span<const OutstandingRank> ranks) {
  std::vector<CauseCandidate> out;
  if (ranks.empty() || in.run.ranks.size() < kFewestRanks)
    return out;
  const PlaceNodes places(places_of(in.run, PlaceIn::kEachStep));
  const RunPlaces operators = places_by_operator(in.run);
  const PlaceNodes at_operator(operators);
  for (const OutstandingRank& rank : ranks)
    for (CauseCandidate& c : RankCandidates(in, rank, places, operators, at_operator).run())
      out.push_back(std::move(c));
  return out;
}

} // namespace rankscope
