#include "analyses/sweep/sweep_findings.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace rankscope {

std::vector<std::string> summary_findings(const std::vector<RankRecord>& records) {
  std::vector<std::string> out;
  const auto groups = by_configuration(records);
  if (groups.empty())
    return out;
  const auto best = [&groups](TimeKind kind) {
    const auto* winner = &groups.front();
    for (const auto& g : groups) {
      if (!(g.mean_ms(TimeKind::kTotal) > 0))
        continue; // a trace without GPU work is no configuration to recommend
      if (!(winner->mean_ms(TimeKind::kTotal) > 0) || g.mean_ms(kind) < winner->mean_ms(kind))
        winner = &g;
    }
    return winner;
  };
  if (groups.size() > 1) {
    const auto* total = best(TimeKind::kTotal);
    const auto* comm = best(TimeKind::kExposedComm);
    out.push_back(fmt::format("shortest total time: {} ({:.3f} ms mean over {} ranks)",
                              total->configuration.label, total->mean_ms(TimeKind::kTotal),
                              total->ranks.size()));
    out.push_back(fmt::format("least exposed communication: {} ({:.3f} ms mean)",
                              comm->configuration.label, comm->mean_ms(TimeKind::kExposedComm)));
  }
  struct Slow {
    std::string label;
    double compute_ms = 0, mean_ms = 0;
    [[nodiscard]] double above() const { return (compute_ms / mean_ms - 1) * 100; }
  };
  std::map<std::int64_t, std::vector<Slow>> slow; // by rank: configurations that it is slowest in
  std::size_t compared = 0;
  for (const ConfigurationRanks& group : groups) {
    if (group.ranks.size() < 2)
      continue;
    ++compared;
    const RankRecord& worst = group.slowest();
    slow[worst.key.rank].push_back({group.configuration.label, worst.ms(TimeKind::kComputation),
                                    group.mean_ms(TimeKind::kComputation)});
  }
  for (const auto& [rank, in] : slow) {
    const auto [least, most] = std::minmax_element(
        in.begin(), in.end(), [](const Slow& a, const Slow& b) { return a.above() < b.above(); });
    if (in.size() == 1)
      out.push_back(fmt::format("{}: rank {} computes longest, {:.3f} ms, {:.2f} % above the mean "
                                "of {:.3f} ms",
                                most->label, rank, most->compute_ms, most->above(), most->mean_ms));
    else
      out.push_back(fmt::format("rank {} computes longest in {} of {} configurations, {:.2f} to "
                                "{:.2f} % above the mean; most in {}, {:.3f} against {:.3f} ms",
                                rank, in.size(), compared, least->above(), most->above(),
                                most->label, most->compute_ms, most->mean_ms));
    const auto late =
        std::count_if(in.begin(), in.end(), [](const Slow& s) { return s.above() > 1; });
    if (late > 1)
      out.push_back(fmt::format("straggler: rank {} is more than 1 % above the mean in {} of {} "
                                "configurations",
                                rank, late, groups.size()));
  }
  for (const RankRecord& r : records)
    if (!r.error.empty())
      out.push_back(fmt::format("{}: rank {} was not analysed: {}", r.key.configuration.label,
                                r.key.rank, r.error));
  return out;
}

std::vector<std::string> next_steps(const std::vector<RankRecord>& records,
                                    const GemmFacts& gemms) {
  std::vector<std::string> out;
  const auto groups = by_configuration(records);
  if (groups.empty())
    return out;
  const auto best_by = [&](TimeKind kind) {
    const auto* best = &groups.front();
    for (const auto& g : groups)
      if (g.mean_ms(kind) < best->mean_ms(kind))
        best = &g;
    return best;
  };
  const auto* total = best_by(TimeKind::kTotal);
  const auto* comm = best_by(TimeKind::kExposedComm);
  const double ms = total->mean_ms(TimeKind::kTotal);
  const double exposed = total->mean_ms(TimeKind::kExposedComm);
  const double idle = total->mean_ms(TimeKind::kIdle);
  if (ms > 0 && exposed > 0.05 * ms)
    out.push_back(fmt::format(
        "communication stays exposed for {:.3f} ms, {:.1f} % of the time, even with {}: start "
        "collectives earlier or make them smaller (bucket size, prefetch), so that they run beside "
        "compute",
        exposed, exposed / ms * 100, total->configuration.label));
  if (groups.size() > 1 && total->configuration.label != comm->configuration.label)
    out.push_back(fmt::format(
        "{} hides communication best ({:.3f} against {:.3f} ms exposed) but computes {:.3f} ms "
        "longer than {}: its collectives take compute units from the kernels beside them",
        comm->configuration.label, comm->mean_ms(TimeKind::kExposedComm), exposed,
        comm->mean_ms(TimeKind::kComputation) - total->mean_ms(TimeKind::kComputation),
        total->configuration.label));
  const auto at_edge = [&](const char* what, const auto& value) {
    std::set<std::int64_t> seen;
    for (const auto& g : groups)
      if (const auto v = value(g.configuration))
        seen.insert(*v);
    const auto own = value(total->configuration);
    if (seen.size() < 2 || !own || (*own != *seen.begin() && *own != *seen.rbegin()))
      return;
    out.push_back(fmt::format("the best configuration has the {} number of {} that was tried ({}): "
                              "try {} ones",
                              *own == *seen.begin() ? "lowest" : "highest", what, *own,
                              *own == *seen.begin() ? "lower" : "higher"));
  };
  at_edge("channels", [](const Configuration& c) { return c.channels_or_cus(); });
  at_edge("threads", [](const Configuration& c) { return c.threads(); });
  std::map<std::int64_t, std::pair<std::size_t, double>> late; // rank: configurations, excess ms
  for (const ConfigurationRanks& group : groups) {
    const RankRecord& worst = group.slowest();
    const double excess = worst.ms(TimeKind::kComputation) - group.mean_ms(TimeKind::kComputation);
    if (group.ranks.size() > 1 && excess > 0.01 * group.mean_ms(TimeKind::kComputation)) {
      ++late[worst.key.rank].first;
      late[worst.key.rank].second += excess;
    }
  }
  for (const auto& [rank, seen] : late)
    if (seen.first * 2 > groups.size())
      out.push_back(fmt::format("rank {} computes {:.3f} ms longer than the mean in {} of {} "
                                "configurations and the others wait for it: look at its GPU's "
                                "clocks, power and temperature, and at its share of the data",
                                rank, seen.second / static_cast<double>(seen.first), seen.first,
                                groups.size()));
  double lost_us = 0;
  std::size_t explained = 0;
  for (const GemmRow& row : gemms.rows)
    if (row.slowdown_us - row.slowdown_half_us > 0) {
      ++explained;
      lost_us = std::max(lost_us, row.slowdown_us);
    }
  if (explained * 2 > gemms.rows.size())
    out.push_back(
        fmt::format("collectives slow down {} of the {} GEMMs with the largest spread, by "
                    "up to {:.1f} us a call: fewer channels, or collectives at another "
                    "place of the step, would give that back",
                    explained, gemms.rows.size(), lost_us));
  if (ms > 0 && idle > 0.05 * ms)
    out.push_back(fmt::format("the GPU idles {:.3f} ms, {:.1f} % of the time, with {}: look for "
                              "launch-bound steps (CPU time, synchronisation, graphs)",
                              idle, idle / ms * 100, total->configuration.label));
  return out;
}

} // namespace rankscope
