// All-to-alls in which one rank has more data than the others, so that all of them wait for its
// transfer.
#include "analyses/job/cause_candidates.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace rankscope {
namespace {

constexpr double kLeastFactor = 1.05;

/// The amounts of one all-to-all: the larger of sent and received elements of each member.
struct Amounts {
  std::size_t heaviest = 0; ///< member
  double factor = 0;        ///< largest amount over the mean; 0: unknown
};
Amounts amounts_of(const MatchedCollective& match, std::span<const RankCollectives> ranks) {
  Amounts out;
  double sum = 0, most = 0;
  for (std::size_t k = 0; k < match.members.size(); ++k) {
    const auto& [rank, row] = match.members[k];
    const Collective& c = ranks[rank].rows[row];
    const auto elements = static_cast<double>(std::max(c.in_nelems, c.out_nelems));
    if (elements < 0)
      return {};
    sum += elements;
    if (elements > most) {
      most = elements;
      out.heaviest = k;
    }
  }
  if (sum > 0)
    out.factor = most * static_cast<double>(match.members.size()) / sum;
  return out;
}

} // namespace

std::vector<UnevenExchanges> uneven_exchanges(const JobRun& run, const CollectiveFacts& facts) {
  // by name and group
  using Key = std::pair<std::string_view, std::pair<std::string_view, std::size_t>>;
  struct Group {
    std::size_t count = 0;
    std::map<std::uint32_t, UnevenExchanges> by_rank; ///< by the rank with the most data
  };
  std::map<Key, Group> groups;
  for (const JobCollective& c : run.collectives) {
    const TimedCollective& timed = facts.collectives[c.row];
    if ((timed.match.kind != CollectiveKind::kAllToAll &&
         timed.match.kind != CollectiveKind::kAllToAllV) ||
        c.transfers.size() != timed.match.members.size())
      continue;
    const std::string_view name = timed.first_rank->text(timed.first->name);
    Group& group = groups[{name, {timed.match.pg, timed.match.twin}}];
    ++group.count;
    const Amounts amounts = amounts_of(timed.match, facts.ranks);
    if (amounts.factor < kLeastFactor)
      continue;
    const std::uint32_t rank = run.rank_of[c.transfers[amounts.heaviest]];
    UnevenExchanges& to = group.by_rank[rank];
    to.what = name;
    to.rank = run.ranks[rank].rank;
    to.exchanges.push_back({c.transfers, amounts.factor});
  }
  std::vector<UnevenExchanges> out;
  for (auto& [key, group] : groups)
    for (auto& [rank, of] : group.by_rank)
      if (2 * of.exchanges.size() >= group.count)
        out.push_back(std::move(of));
  return out;
}

std::vector<CauseCandidate> uneven_exchange_candidates(const CauseInput& in,
                                                       std::span<const UnevenExchanges> of) {
  std::map<std::pair<std::string, std::int64_t>, CauseCandidate> by_name; // and rank
  std::map<std::pair<std::string, std::int64_t>, std::vector<double>> factors;
  for (const UnevenExchanges& uneven : of) {
    CauseCandidate& c = by_name[{uneven.what, uneven.rank}];
    c.cause.rule = CauseRule::kUnevenExchange;
    c.cause.kind = GainKind::kAtMost;
    c.cause.confidence = Confidence::kLikely;
    c.cause.what = uneven.what;
    c.cause.ranks = {uneven.rank};
    for (const UnevenExchanges::Exchange& exchange : uneven.exchanges) {
      factors[{uneven.what, uneven.rank}].push_back(exchange.factor);
      c.counted.push_back(exchange.transfers.front());
      for (const NodeId n : exchange.transfers)
        c.add(n, static_cast<std::int64_t>(static_cast<double>(in.run.graph.dur_ns(n)) /
                                           exchange.factor));
    }
  }
  std::vector<CauseCandidate> out;
  for (auto& [key, c] : by_name) {
    c.cause.percent = 100 * (quantile_of(std::move(factors[key]), 0.5) - 1);
    out.push_back(std::move(c));
  }
  return out;
}

} // namespace rankscope
