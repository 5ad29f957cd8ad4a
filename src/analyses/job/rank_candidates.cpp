// Reasons why a rank is later than its peers. Compares its activities with those of its peers at
// the same place.
#include "analyses/job/cause_candidates.h"
#include "analyses/ranks/work_excess.h"
#include "base/ascii.h"
#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace rankscope {
namespace {

/// Least share of a rank's excess in its kernels, for the kernels to be the cause.
constexpr double kLeastPart = 0.5;
constexpr double kFit = 0.8; ///< share of the excess that one factor or one operator must explain

/// A node of a rank and the median duration of its peers at the same place.
struct Compared {
  NodeId node = kNoNode;
  std::int64_t peers_ns = 0;
  std::int64_t contention_ns = 0; ///< in both durations
};

class RankCandidates {
public:
  /// Leaves out collectives, because their time depends on all members, and work after the last
  /// step, which not all ranks have.
  RankCandidates(const CauseInput& in, const OutstandingRank& rank, const PeerPlaces& peers)
      : run_(in.run), outstanding_(rank) {
    for (NodeId n = 0; n < run_.graph.size(); ++n)
      if (run_.rank_of[n] == rank.rank && run_.is_activity(n) &&
          run_.activity(n).kind != ActivityKind::kCollective && run_.in_steps(n))
        sort_in(n, peers.compare(n));
  }

  std::vector<CauseCandidate> run() {
    add_kernels();
    add_copies();
    add_extra();
    add(CauseRule::kMoreData, larger_, GainKind::kEstimate);
    add(CauseRule::kSlowHost, host_, GainKind::kEstimate);
    return std::move(out_);
  }

private:
  [[nodiscard]] std::int64_t dur(NodeId n) const { return run_.graph.dur_ns(n); }

  void sort_in(NodeId n, const PeerComparison& comparison) {
    const Activity& a = run_.activity(n);
    shapes_ = shapes_ || a.shapes != kEmptyStr;
    const Compared compared{n, comparison.peers_ns, comparison.contention_ns};
    switch (comparison.kind) {
    case PeerComparison::Kind::kSame:
      (!on_gpu(a.kind) ? host_ : is_host_copy(n, a) ? copies_ : kernels_).push_back(compared);
      break;
    case PeerComparison::Kind::kLargerInputs:
      larger_.push_back(compared);
      break;
    case PeerComparison::Kind::kExtra:
      extra_.push_back(compared);
      break;
    case PeerComparison::Kind::kUnknown:
      break;
    }
  }

  /// Returns whether this is a large copy from or to the host.
  [[nodiscard]] bool is_host_copy(NodeId n, const Activity& a) const {
    return a.kind == ActivityKind::kCopy && a.bytes >= kSmallCopyBytes &&
           copies_host_memory(run_.text(n, a.name));
  }

  /// Names the kernels or copies that take most of the extra time.
  void add_extra() {
    CauseCandidate* const c = add(CauseRule::kMoreWork, extra_, GainKind::kEstimate);
    if (c == nullptr)
      return;
    std::map<std::string_view, std::int64_t> by_name;
    std::int64_t all = 0;
    for (const Compared& k : extra_) {
      c->cause.others += run_.activity(k.node).kind == ActivityKind::kKernel ? 0 : 1;
      by_name[work_of(k.node)] += dur(k.node);
      all += dur(k.node);
    }
    const auto most = std::max_element(by_name.begin(), by_name.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    c->cause.what = most->first;
    c->cause.percent = percent_of(most->second, all, 100.0);
  }

  /// Returns the operator of a kernel. Without an operator, and for other work, returns its name.
  [[nodiscard]] std::string_view work_of(NodeId node) const {
    const Activity& a = run_.activity(node);
    return run_.text(node, a.kind == ActivityKind::kKernel && a.op != kEmptyStr ? a.op : a.name);
  }

  void add_copies() {
    constexpr double kSlower = 1.1;
    double bytes = 0, rank_ns = 0, peers_ns = 0;
    for (const Compared& k : copies_) {
      bytes += static_cast<double>(run_.activity(k.node).bytes);
      rank_ns += static_cast<double>(dur(k.node));
      peers_ns += static_cast<double>(k.peers_ns);
    }
    if (!(peers_ns > 0 && rank_ns >= kSlower * peers_ns))
      return;
    CauseCandidate* const c = add(CauseRule::kSlowCopies, copies_, GainKind::kEstimate);
    c->cause.rate = bytes / rank_ns;
    c->cause.rate_to = bytes / peers_ns;
    doubt_without_shapes(c->cause);
  }

  void add_kernels() {
    double more = 0, weight = 0;
    std::map<std::string_view, WorkExcess> by_operator;
    std::map<std::size_t, std::vector<WeightedRatio>> by_step;
    for (const Compared& k : kernels_) {
      const auto rank_ns = static_cast<double>(dur(k.node) - k.contention_ns),
                 peers = static_cast<double>(k.peers_ns - k.contention_ns);
      if (peers <= 0)
        continue;
      by_step[run_.step_of(k.node)].emplace_back(rank_ns / peers, peers);
      weight += peers;
      more += rank_ns - peers;
      WorkExcess& work = by_operator[work_of(k.node)];
      work.excess += rank_ns - peers;
      work.usual += peers;
    }
    // the rest of the excess is more work, or natural spread of the GPUs
    if (more <= 0 || ns_to_ms(static_cast<std::int64_t>(more)) <
                         kLeastPart * outstanding_.excess_ms * static_cast<double>(run_.steps()))
      return;
    double even = 0, off = 0; // excess with one factor per step, and the deviations from it
    for (auto& [step, ratios] : by_step) {
      const double factor = median_of(ratios);
      for (const auto& [ratio, peer_ns] : ratios) {
        even += (factor - 1) * peer_ns;
        off += std::abs(ratio - factor) * peer_ns;
      }
    }
    const auto most =
        std::max_element(by_operator.begin(), by_operator.end(),
                         [](auto& a, auto& b) { return a.second.excess < b.second.excess; });
    std::vector<WorkExcess> work;
    for (const auto& [name, excess] : by_operator)
      work.push_back(excess);
    const bool alike = off <= (1 - kFit) * more && even > 0 && longer_alike(large_work(work));
    CauseCandidate* c = nullptr;
    const bool of_operator = !alike && most->second.excess >= kFit * more;
    if (!of_operator) {
      c = add(CauseRule::kSlowGpu, kernels_, GainKind::kEstimate);
      if (c != nullptr && !alike) {
        c->cause.alike = false;
        c->cause.confidence = Confidence::kLikely;
      }
    } else {
      std::vector<Compared> kernels;
      for (const Compared& k : kernels_)
        if (work_of(k.node) == most->first)
          kernels.push_back(k);
      c = add(CauseRule::kSlowOperator, kernels, GainKind::kEstimate);
      if (c != nullptr)
        c->cause.what = most->first;
    }
    if (c == nullptr)
      return;
    doubt_without_shapes(c->cause);
    const WorkExcess excess = of_operator ? most->second : WorkExcess{weight, more};
    c->cause.percent = alike ? percent_of(even, weight) : excess.percent();
  }

  /// The time of a kernel over that of its peers, and the peers' time.
  using WeightedRatio = std::pair<double, double>;
  /// Returns the median ratio, weighted by the peers' time. `ratios`: sorted afterwards; not empty.
  [[nodiscard]] static double median_of(std::vector<WeightedRatio>& ratios) {
    std::sort(ratios.begin(), ratios.end());
    double all = 0, below = 0;
    for (const auto& [ratio, peer_ns] : ratios)
      all += peer_ns;
    for (const auto& [ratio, peer_ns] : ratios)
      if (below += peer_ns; 2 * below >= all)
        return ratio;
    return ratios.back().first;
  }

  /// If no shapes are known, larger inputs would look the same.
  void doubt_without_shapes(StepCause& cause) const {
    if (shapes_)
      return;
    cause.shapes = false;
    cause.confidence = Confidence::kLikely;
  }

  CauseCandidate* add(CauseRule rule, const std::vector<Compared>& compared, GainKind kind) {
    if (compared.empty())
      return nullptr;
    CauseCandidate c;
    c.cause.rule = rule;
    c.cause.kind = kind;
    c.cause.ranks = {run_.ranks[outstanding_.rank].rank};
    c.cause.excess_ms = outstanding_.excess_ms;
    c.cause.latest_steps = outstanding_.steps;
    for (const Compared& k : compared)
      c.add(k.node, k.peers_ns);
    out_.push_back(std::move(c));
    return &out_.back();
  }

  const JobRun& run_;
  const OutstandingRank& outstanding_;
  std::vector<Compared> kernels_, copies_, host_, extra_;
  std::vector<Compared> larger_; ///< nodes whose operator has other shapes on the peers
  bool shapes_ = false;          ///< shapes of some operator are known
  std::vector<CauseCandidate> out_;
};

} // namespace

std::vector<CauseCandidate> rank_candidates(const CauseInput& in,
                                            std::span<const OutstandingRank> ranks,
                                            const PeerPlaces& peers) {
  std::vector<CauseCandidate> out;
  for (const OutstandingRank& rank : ranks)
    for (CauseCandidate& c : RankCandidates(in, rank, peers).run())
      out.push_back(std::move(c));
  return out;
}

} // namespace rankscope
