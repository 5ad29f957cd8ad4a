#include "analyses/collectives/exposed_waits.h"

#include <algorithm>

namespace rankscope {
namespace {

void add_kernel(const Collective& kernel, std::optional<std::int64_t> wait_ns, ExposedWaits& out) {
  const std::int64_t hidden = kernel.hidden_compute_ns + kernel.hidden_memcpy_ns;
  const std::int64_t exposed = kernel.dur_ns - hidden;
  out.exposed_ns += exposed;
  out.least_ns += wait_ns ? std::max<std::int64_t>(0, *wait_ns - hidden) : 0;
  out.most_ns += wait_ns ? std::min(*wait_ns, exposed) : exposed;
}

} // namespace

double ExposedWaits::least() const {
  return exposed_ns > 0 ? static_cast<double>(least_ns) / static_cast<double>(exposed_ns) : 0;
}

double ExposedWaits::most() const {
  return exposed_ns > 0 ? static_cast<double>(most_ns) / static_cast<double>(exposed_ns) : 1;
}

ExposedWaits exposed_waits(const CollectiveFacts& facts, std::int64_t job_ranks) {
  ExposedWaits out;
  out.all_ranks = job_ranks <= static_cast<std::int64_t>(facts.ranks.size());
  const bool comparable = facts.ranks.size() > 1 && one_clock(facts);
  for (const TimedCollective& t : facts.collectives) {
    // without a list of members and a size, all ranks of the job are members
    const bool alone = t.match.expected == 1 || job_ranks == 1; // no other member to wait for
    const bool known =
        alone || (comparable && t.waits_known && (t.match.expected > 0 || out.all_ranks));
    for (const auto& [rank, row] : t.match.members) {
      const Collective& kernel = facts.ranks[rank].rows[row];
      const std::int64_t wait_ns = alone ? 0 : kernel.dur_ns - t.latency_ns;
      add_kernel(kernel, known ? std::optional(wait_ns) : std::nullopt, out);
    }
  }
  return out;
}

bool one_clock(const CollectiveFacts& facts) {
  return std::ranges::all_of(facts.clocks,
                             [](const RankClock& c) { return clock_note(c.offset).empty(); });
}

} // namespace rankscope
