// All-to-alls in which one rank has more data than the others, so that all of them wait for its
// transfer.
#include "analyses/job/cause_candidates.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
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
  using Key = std::tuple<std::string_view, std::string_view, std::size_t>; // name and group
  struct Group {
    std::size_t count = 0;
    std::map<std::int64_t, std::vector<UnevenExchanges::Exchange>> by_rank; ///< with the most data
  };
  std::map<Key, Group> groups;
  for (const JobCollective& c : run.collectives) {
    const TimedCollective& timed = facts.collectives[c.row];
    if ((timed.match.kind != CollectiveKind::kAllToAll &&
         timed.match.kind != CollectiveKind::kAllToAllV) ||
        c.transfers.size() != timed.match.members.size())
      continue;
    Group& group =
        groups[{timed.first_rank->text(timed.first->name), timed.match.pg, timed.match.name_index}];
    ++group.count;
    const Amounts amounts = amounts_of(timed.match, facts.ranks);
    if (amounts.factor < kLeastFactor)
      continue;
    const std::uint32_t heaviest = run.rank_of[c.transfers[amounts.heaviest]];
    group.by_rank[run.ranks[heaviest].rank].push_back({c.transfers, amounts.factor});
  }
  std::map<std::pair<std::string_view, std::int64_t>, UnevenExchanges> by_name; // and rank
  for (auto& [key, group] : groups)
    for (auto& [rank, exchanges] : group.by_rank)
      if (2 * exchanges.size() >= group.count) {
        const std::string_view name = std::get<0>(key);
        UnevenExchanges& to = by_name[{name, rank}];
        to.what = name;
        to.rank = rank;
        std::ranges::move(exchanges, std::back_inserter(to.exchanges));
      }
  std::vector<UnevenExchanges> out;
  for (auto& [key, exchanges] : by_name)
    out.push_back(std::move(exchanges));
  return out;
}

std::vector<CauseCandidate> uneven_exchange_candidates(const CauseInput& in,
                                                       std::span<const UnevenExchanges> exchanges) {
  std::vector<CauseCandidate> out;
  for (const UnevenExchanges& uneven : exchanges) {
    CauseCandidate& c = out.emplace_back();
    c.cause.rule = CauseRule::kUnevenExchange;
    c.cause.kind = GainKind::kAtMost;
    c.cause.confidence = Confidence::kLikely;
    c.cause.what = uneven.what;
    c.cause.ranks = {uneven.rank};
    std::vector<double> factors;
    for (const UnevenExchanges::Exchange& exchange : uneven.exchanges) {
      factors.push_back(exchange.factor);
      c.counted.push_back(exchange.transfers.front());
      for (const NodeId n : exchange.transfers)
        c.add(n, static_cast<std::int64_t>(static_cast<double>(in.run.graph.dur_ns(n)) /
                                           exchange.factor));
    }
    c.cause.percent = 100 * (quantile_of(std::move(factors), 0.5) - 1);
  }
  return out;
}

} // namespace rankscope
