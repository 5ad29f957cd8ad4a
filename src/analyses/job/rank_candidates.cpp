// Why a rank is later than its peers: its activities against those at the same place on the others.
#include "analyses/job/cause_candidates.h"
#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <unordered_map>

namespace rankscope {
namespace {

constexpr double kFit = 0.8; ///< of the excess that one factor, or one operator, explains

/// The same activity of a step on every rank: by names and shapes, and which of its kind it is.
struct PlaceKey {
  std::size_t step = 0, token = 0, occurrence = 0;
  bool operator==(const PlaceKey&) const = default;
};
struct PlaceHash {
  std::size_t operator()(const PlaceKey& p) const {
    return p.token ^ (p.step * 0x9e3779b97f4a7c15ULL) ^ (p.occurrence * 0xc2b2ae3d27d4eb4fULL);
  }
};
/// By rank: its node at this place, or kNoNode.
using Places = std::unordered_map<PlaceKey, std::vector<NodeId>, PlaceHash>;

std::size_t token_of(const JobRun& run, NodeId n) {
  const Activity& a = run.activity(n);
  std::size_t out = static_cast<std::size_t>(a.kind);
  for (const StrId id : {a.name, a.op, a.context, a.shapes})
    out = out * 0x100000001b3ULL ^ std::hash<std::string_view>()(run.text(n, id));
  return out;
}

Places places_of(const JobRun& run, const std::vector<std::vector<NodeId>>& nodes) {
  Places out;
  for (std::uint32_t r = 0; r < nodes.size(); ++r) {
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> seen; // step, token
    for (const NodeId n : nodes[r]) {
      if (run.activity(n).kind == ActivityKind::kCollective)
        continue;
      const std::size_t step = run.step_of(n), token = token_of(run, n);
      std::vector<NodeId>& at = out[{step, token, seen[{step, token}]++}];
      at.resize(nodes.size(), kNoNode);
      at[r] = n;
    }
  }
  return out;
}

/// One node of a rank with what its peers take at the same place.
struct Compared {
  NodeId node = kNoNode;
  std::int64_t peers_ns = 0;
};

class RankCandidates {
public:
  RankCandidates(const CauseInput& in, const OutstandingRank& of, const Places& places)
      : run_(in.run), of_(of) {
    for (const auto& [key, at] : places)
      compare(at);
  }

  std::vector<CauseCandidate> run() {
    add_kernels();
    add(CauseRule::kMoreWork, extra_, GainKind::kEstimate);
    add(CauseRule::kSlowHost, host_, GainKind::kEstimate);
    return std::move(out_);
  }

private:
  [[nodiscard]] std::int64_t dur(NodeId n) const { return run_.graph.dur_ns(n); }

  void compare(const std::vector<NodeId>& at) {
    const NodeId own = at[of_.rank];
    if (own == kNoNode)
      return;
    std::vector<double> peers;
    for (const NodeId n : at)
      if (n != kNoNode && n != own)
        peers.push_back(static_cast<double>(dur(n)));
    const ActivityKind kind = run_.activity(own).kind;
    if (2 * peers.size() < at.size() - 1) {
      if (on_gpu(kind))
        extra_.push_back({own, 0});
      return;
    }
    const auto median = static_cast<std::int64_t>(quantile_of(std::move(peers), 0.5));
    (on_gpu(kind) ? kernels_ : host_).push_back({own, median});
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
  std::vector<Compared> kernels_, host_, extra_;
  std::vector<CauseCandidate> out_;
};

} // namespace

std::vector<CauseCandidate> rank_candidates(const CauseInput& in,
                                            std::span<const OutstandingRank> ranks,
                                            const std::vector<std::vector<NodeId>>& nodes) {
  std::vector<CauseCandidate> out;
  if (ranks.empty() || in.run.ranks.size() < kFewestRanks)
    return out;
  const Places places = places_of(in.run, nodes);
  for (const OutstandingRank& rank : ranks)
    for (CauseCandidate& c : RankCandidates(in, rank, places).run())
      out.push_back(std::move(c));
  return out;
}

} // namespace rankscope
