#include "analyses/collectives/slow_collectives.h"

#include "analyses/collectives/collective_facts.h"

#include <cmath>

namespace rankscope {

void SlowCollectives::Kind::settle() {
  std::vector<double> rest;
  for (std::size_t i = 0; i < bus_gbps.size(); ++i)
    if (i != least_at)
      rest.push_back(bus_gbps[i]);
  others = sample_stats(rest);
  bus_gbps = {};
}

void SlowCollectives::add(const TimedCollective& t) {
  ++added_;
  if (std::isnan(t.bus_gbps))
    return;
  const auto [at, fresh] =
      kinds_.try_emplace({t.match.pg, std::string(t.first_rank->text(t.first->name)),
                          std::string(t.first_rank->text(t.first->dtype)), t.first->in_nelems});
  Kind& kind = at->second;
  if (fresh)
    open_.push_back(&kind);
  if (fresh || t.bus_gbps < kind.least) {
    kind.least = t.bus_gbps;
    kind.least_at = kind.bus_gbps.size();
    kind.id = t.id;
    kind.place = {t.first_rank->rank, t.first->ts_ns, t.first->ts_ns + t.first->dur_ns};
  }
  kind.bus_gbps.push_back(t.bus_gbps);
}

void SlowCollectives::settle() {
  for (Kind* kind : open_)
    kind->settle();
  open_.clear();
}

std::optional<SlowCollective> SlowCollectives::take() {
  constexpr std::size_t kFewest = 5;
  constexpr double kFar = 0.8;
  settle();
  double worst = kFar;
  std::optional<SlowCollective> out;
  for (const auto& [key, kind] : kinds_) {
    const SampleStats& usual = kind.others;
    if (usual.n < kFewest)
      continue;
    const auto n = static_cast<double>(usual.n);
    const double expected = usual.mean - student_t(n - 1, corrected_alpha(added_)) *
                                             std::sqrt(usual.variance * (1 + 1 / n));
    const double share = kind.least / usual.mean;
    if (kind.least < expected && share < worst) {
      worst = share;
      out = {std::get<1>(key), kind.id, kind.least, usual.mean, usual.n, added_, kind.place};
    }
  }
  return out;
}

} // namespace rankscope
