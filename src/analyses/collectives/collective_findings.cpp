#include "analyses/collectives/collective_findings.h"

#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace rankscope {
namespace {

void slow_rank(const CollectiveFacts& facts, std::vector<Finding>& out) {
  if (facts.stragglers.size() < 2)
    return;
  // of equals the one that waits least; the sheet's first row may be late seldom, but by far
  const Straggler& s =
      *std::max_element(facts.stragglers.begin(), facts.stragglers.end(),
                        [](const Straggler& a, const Straggler& b) { return a.last < b.last; });
  out.push_back(
      {fmt::format("rank {} comes last in {:.0f} % of {} collectives; it starts "
                   "{:.1f} us {} the median rank on average",
                   s.rank, s.percent_of(s.last), s.collectives, std::fabs(s.mean_lateness_us),
                   s.mean_lateness_us < 0 ? "before" : "after"),
       "straggler_summary"});
}

void most_exposed(const CollectiveFacts& facts, std::vector<Finding>& out) {
  if (facts.exposed_types.empty())
    return;
  const ExposedType& x = facts.exposed_types.front();
  out.push_back(
      {fmt::format("most exposed: {} with {:.3f} ms of {:.3f} ms over all ranks "
                   "({:.1f} %)",
                   x.name, ns_to_ms(x.exposed_ns()), ns_to_ms(x.dur_ns), x.exposed_percent()),
       "exposed_by_type"});
}

/// A collective far below what its own kind and size usually reach.
void slow_collective(const CollectiveFacts& facts, std::vector<Finding>& out) {
  constexpr std::size_t kFewest = 5;
  constexpr double kFar = 0.8;
  using Key = std::tuple<std::string_view, std::string_view, std::int64_t>;
  const auto key = [](const TimedCollective& t) {
    return Key(t.first_rank->text(t.first->pg_name), t.first_rank->text(t.first->name),
               t.first->in_nelems);
  };
  std::map<Key, std::vector<double>> usual;
  for (const SyncCollective& s : facts.synchronising)
    usual[key(*s.timed)].push_back(s.timed->bus_gbps);
  std::map<Key, double> median;
  for (auto& [kind, rates] : usual)
    if (rates.size() >= kFewest)
      median[kind] = stats_of(std::move(rates)).median;
  double worst = 1;
  const TimedCollective* slowest = nullptr;
  for (const SyncCollective& s : facts.synchronising) {
    const auto found = median.find(key(*s.timed));
    if (found != median.end() && found->second > 0 && s.timed->bus_gbps / found->second < worst) {
      worst = s.timed->bus_gbps / found->second;
      slowest = s.timed;
    }
  }
  if (slowest != nullptr && worst < kFar)
    out.push_back({fmt::format("{} {} reached {:.1f} GB/s bus bandwidth, {:.0f} % of the median "
                               "of its kind and size",
                               slowest->first_rank->text(slowest->first->name), slowest->id,
                               slowest->bus_gbps, worst * 100),
                   "nccl_implicit_sync"});
}

} // namespace

std::vector<Finding> collective_findings(const CollectiveFacts& facts) {
  std::vector<Finding> out;
  slow_rank(facts, out);
  most_exposed(facts, out);
  slow_collective(facts, out);
  if (!facts.problems.empty())
    out.push_back(
        {fmt::format("{} collectives or windows disagree between ranks", facts.problems.size()),
         "problems"});
  return out;
}

} // namespace rankscope
