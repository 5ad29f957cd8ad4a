#include "analyses/graph/sequence_attribution.h"

#include <algorithm>
#include <map>

namespace rankscope {
namespace {

constexpr std::size_t kWindow = 16; ///< neighbours to compare with if there is no period
constexpr double kLeastAgreement = 0.5;

double base_confidence(KernelMatch match) {
  switch (match) {
  case KernelMatch::kShape:
    return 1.0;
  case KernelMatch::kName:
    return 0.95;
  case KernelMatch::kStem:
    return 0.9;
  case KernelMatch::kKind:
    return 0.8;
  case KernelMatch::kNone:
    break;
  }
  return 0;
}

class Guesser {
public:
  Guesser(std::span<const KernelToken> kernels, std::span<const KernelToken> donor,
          std::span<const std::uint32_t> ops, std::span<const std::uint32_t> op_name)
      : a_(kernels), b_(donor), ops_(ops), op_name_(op_name), base_(kernels.size(), 0),
        agree_(kernels.size(), 1) {}

  SequenceGuess guess() {
    KernelAlignment aligned = align_kernels(a_, b_);
    partner_ = std::move(aligned.partner);
    out_.weight = aligned.weight;
    out_.period = find_period(a_);
    out_.nodes.resize(a_.size());
    out_.identical = identical();
    if (!out_.identical)
      pair_across_streams();
    take_partners();
    if (out_.identical) {
      be_sure();
      return std::move(out_);
    }
    take_attention();
    take_neighbours();
    if (out_.period.length > 0)
      vote();
    weigh();
    return std::move(out_);
  }

private:
  [[nodiscard]] bool identical() const {
    if (a_.size() != b_.size())
      return false;
    for (std::size_t i = 0; i < a_.size(); ++i)
      if (a_[i].name != b_[i].name)
        return false;
    return true;
  }

  /// The relative order of kernels on two streams changes from run to run. So the unpaired kernels
  /// of both sequences are aligned in a second pass. A pair is accepted only if the partner of the
  /// last paired kernel before it is near in the donor.
  void pair_across_streams() {
    std::vector<bool> paired(b_.size());
    for (const std::uint32_t p : partner_)
      if (p != kNoPartner)
        paired[p] = true;
    std::vector<std::uint32_t> left_a;
    std::vector<std::uint32_t> left_b;
    std::vector<KernelToken> tokens_a;
    std::vector<KernelToken> tokens_b;
    for (std::uint32_t i = 0; i < a_.size(); ++i)
      if (partner_[i] == kNoPartner) {
        left_a.push_back(i);
        tokens_a.push_back(a_[i]);
      }
    for (std::uint32_t j = 0; j < b_.size(); ++j)
      if (!paired[j]) {
        left_b.push_back(j);
        tokens_b.push_back(b_[j]);
      }
    const KernelAlignment left = align_kernels(tokens_a, tokens_b);
    // for each position: the donor's position of the last pair up to this position
    std::vector<std::uint32_t> near(a_.size(), 0);
    std::uint32_t last = 0;
    for (std::size_t i = 0; i < a_.size(); ++i)
      near[i] = last = partner_[i] == kNoPartner ? last : partner_[i];
    const std::size_t reach = window();
    for (std::size_t k = 0; k < left_a.size(); ++k) {
      if (left.partner[k] == kNoPartner)
        continue;
      const std::uint32_t j = left_b[left.partner[k]];
      if (j <= near[left_a[k]] + reach && near[left_a[k]] <= j + reach)
        partner_[left_a[k]] = j;
    }
  }

  [[nodiscard]] std::size_t window() const {
    return out_.period.length > 0 ? std::max<std::size_t>(out_.period.length, 4) : kWindow;
  }

  void take_partners() {
    for (std::size_t i = 0; i < a_.size(); ++i) {
      if (partner_[i] == kNoPartner)
        continue;
      const KernelMatch match = kernel_match(a_[i], b_[partner_[i]]);
      out_.nodes[i].op = ops_[partner_[i]];
      out_.nodes[i].same_shape = match == KernelMatch::kShape;
      base_[i] = base_confidence(match);
    }
  }

  /// Applies one attention operator to all attention kernels. The layers of a model call one
  /// attention operator, but may run different kernels, and the donor may lack the attention of
  /// some layers. If all attention kernels with a partner have the same operator, the other
  /// attention kernels get this operator too. At least a third must have a partner; otherwise the
  /// others may belong to another operator.
  void take_attention() {
    std::size_t all = 0;
    std::size_t known = 0;
    std::uint32_t op = kNoRow;
    for (std::size_t i = 0; i < a_.size(); ++i) {
      if (!a_[i].attention || a_[i].finishes)
        continue;
      ++all;
      const std::uint32_t node_op = out_.nodes[i].op;
      if (node_op == kNoRow)
        continue;
      ++known;
      if (op != kNoRow && op_name_[node_op] != op_name_[op])
        return;
      op = node_op;
    }
    if (known == 0 || known * 3 < all)
      return;
    for (std::size_t i = 0; i < a_.size(); ++i)
      if (a_[i].attention && partner_[i] == kNoPartner && base_[i] <= 0) {
        out_.nodes[i] = {op, 0, false};
        base_[i] = base_confidence(KernelMatch::kKind);
      }
  }

  /// A kernel that only finishes the work of the preceding kernel gets the same operator. So does
  /// an extra kernel in a sequence of equal kernels (mixture of experts: one kernel for each expert
  /// that has tokens).
  void take_neighbours() {
    const auto join = [this](std::size_t i, std::size_t with) {
      if (partner_[i] != kNoPartner || base_[i] > 0 || base_[with] <= 0)
        return;
      out_.nodes[i] = {out_.nodes[with].op, 0, false};
      base_[i] = std::min(base_[with], base_confidence(KernelMatch::kKind));
    };
    for (std::size_t i = 1; i < a_.size(); ++i)
      if (a_[i].finishes || a_[i].name == a_[i - 1].name)
        join(i, i - 1);
    for (std::size_t i = a_.size(); i-- > 1;)
      if (a_[i].name == a_[i - 1].name)
        join(i - 1, i);
  }

  void be_sure() {
    const bool contradicted = [this] {
      for (std::size_t i = 0; i < a_.size(); ++i)
        if (a_[i].shape != b_[i].shape)
          return true;
      return false;
    }();
    for (NodeGuess& node : out_.nodes)
      node.confidence = node.op == kNoRow ? 0 : contradicted ? 0.95 : 1.0;
  }

  /// Kernels with the same name at a distance of one period are at the same place in several
  /// layers. The operator of the majority is used for all of them.
  void vote() {
    const std::size_t p = out_.period.length;
    std::vector<bool> seen(a_.size());
    for (std::size_t i = 0; i < a_.size(); ++i) {
      if (seen[i])
        continue;
      std::vector<std::size_t> layers;
      for (std::size_t k = i; k < a_.size() && !seen[k] && a_[k].name == a_[i].name; k += p) {
        seen[k] = true;
        layers.push_back(k);
      }
      if (layers.size() > 2)
        count_votes(layers);
    }
  }

  void count_votes(const std::vector<std::size_t>& layers) {
    // operator name -> count, layer as example
    std::map<std::uint32_t, std::pair<std::size_t, std::size_t>> votes;
    std::size_t cast = 0;
    for (const std::size_t k : layers)
      if (out_.nodes[k].op != kNoRow) {
        auto& [count, example] = votes[op_name_[out_.nodes[k].op]];
        ++count;
        example = k;
        ++cast;
      }
    if (votes.empty())
      return;
    const auto most = std::ranges::max_element(
        votes, [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
    const auto& [count, example] = most->second;
    const double share = static_cast<double>(count) / static_cast<double>(layers.size());
    for (const std::size_t k : layers) {
      NodeGuess& node = out_.nodes[k];
      const bool differs = node.op == kNoRow || op_name_[node.op] != most->first;
      if (differs && share > kLeastAgreement) {
        node = {out_.nodes[example].op, 0, false};
        base_[k] = base_[example];
        agree_[k] = share;
      } else if (node.op != kNoRow) {
        agree_[k] = static_cast<double>(votes[op_name_[node.op]].first) / static_cast<double>(cast);
      }
    }
  }

  /// Multiplies the factors of each confidence and drops guesses below kLeastConfidence.
  void weigh() {
    const std::size_t half = std::max<std::size_t>(window() / 2, 2);
    // number of kernels with an operator before each position
    std::vector<std::size_t> before(a_.size() + 1, 0);
    for (std::size_t i = 0; i < a_.size(); ++i)
      before[i + 1] = before[i] + (base_[i] > 0 ? 1 : 0);
    for (std::size_t i = 0; i < a_.size(); ++i) {
      NodeGuess& node = out_.nodes[i];
      const std::size_t first = i > half ? i - half : 0;
      const std::size_t last = std::min(a_.size(), i + half + 1);
      const double near =
          static_cast<double>(before[last] - before[first]) / static_cast<double>(last - first);
      node.confidence = node.op == kNoRow ? 0 : base_[i] * near * agree_[i];
      if (node.confidence < kLeastConfidence)
        node = {};
    }
  }

  std::span<const KernelToken> a_, b_;
  std::span<const std::uint32_t> ops_, op_name_;
  std::vector<std::uint32_t> partner_;
  std::vector<double> base_;  ///< confidence by how closely the names match; 0: no partner
  std::vector<double> agree_; ///< share of the layers that agree
  SequenceGuess out_;
};

} // namespace

SequenceGuess guess_operators(std::span<const KernelToken> kernels,
                              std::span<const KernelToken> donor,
                              std::span<const std::uint32_t> ops,
                              std::span<const std::uint32_t> op_name) {
  return Guesser(kernels, donor, ops, op_name).guess();
}

std::int64_t most_weight(std::span<const KernelToken> a, std::span<const KernelToken> b) {
  // upper bound from names and kinds: each pair has the maximum weight of its kind
  std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> names;
  std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> kinds;
  for (const KernelToken& t : a) {
    ++names[t.name].first;
    ++kinds[t.kind].first;
  }
  for (const KernelToken& t : b) {
    ++names[t.name].second;
    ++kinds[t.kind].second;
  }
  std::int64_t exact = 0;
  std::int64_t alike = 0;
  for (const auto& [name, counts] : names)
    exact += std::min(counts.first, counts.second);
  for (const auto& [kind, counts] : kinds)
    alike += std::min(counts.first, counts.second);
  constexpr std::int64_t kExact = 16 + 2;
  constexpr std::int64_t kAlike = 10 + 2;
  return exact * kExact + std::max<std::int64_t>(0, alike - exact) * kAlike;
}

} // namespace rankscope
