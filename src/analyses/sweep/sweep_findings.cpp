#include "analyses/sweep/sweep_findings.h"

#include "analyses/sweep/sweep_compare.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace rankscope {
namespace {

constexpr double kWorthSaying = 0.05; ///< share of the time from which it is a thing to look at

std::string interval(const MeanDifference& d) {
  return fmt::format("{:.3f} to {:.3f}", d.difference - d.half_width, d.difference + d.half_width);
}

std::string level(std::size_t comparisons) {
  return comparisons > 1 ? fmt::format("95 % over {} comparisons", comparisons)
                         : std::string("95 %");
}

std::string labels(const std::vector<const ConfigurationRanks*>& groups) {
  std::string out;
  for (std::size_t i = 0; i < groups.size(); ++i)
    out += (i == 0 ? "" : i + 1 == groups.size() ? " and " : ", ") + groups[i]->configuration.label;
  return out;
}

/// Which configuration has the least of `what`, or which cannot be told apart.
std::string ranking_sentence(const StepRanking& r, const char* what) {
  const std::string noise = fmt::format("Welch, {}, {} steps", level(r.comparisons), r.steps);
  if (r.winner()) {
    const AgainstBest& next = r.others.front();
    return fmt::format("{}: {}, {:.3f} ms a step; the next, {}, takes {:.3f} ms more ({}; {})",
                       what, r.best->configuration.label, r.best_ms,
                       next.group->configuration.label, next.difference.difference,
                       interval(next.difference), noise);
  }
  std::vector<const ConfigurationRanks*> same{r.best};
  double high = r.best_ms;
  for (const AgainstBest& o : r.others)
    if (!o.told()) {
      same.push_back(o.group);
      high = std::max(high, o.mean_ms);
    }
  if (same.size() == r.others.size() + 1)
    return fmt::format("{}: the {} configurations cannot be told apart, {:.3f} to {:.3f} ms a step "
                       "({})",
                       what, same.size(), r.best_ms, high, noise);
  const std::size_t slower = r.others.size() + 1 - same.size();
  return fmt::format("{}: {} cannot be told apart, {:.3f} to {:.3f} ms a step; {} longer ({})",
                     what, labels(same), r.best_ms, high,
                     slower == 1 ? "the other one takes" : fmt::format("the other {} take", slower),
                     noise);
}

/// Without steps the means are all there is.
std::string lowest_mean_sentence(const std::vector<ConfigurationRanks>& groups, TimeKind kind,
                                 const char* what) {
  const auto lowest =
      std::min_element(groups.begin(), groups.end(),
                       [kind](const ConfigurationRanks& a, const ConfigurationRanks& b) {
                         const bool works = a.mean_ms(TimeKind::kTotal) > 0;
                         return works != (b.mean_ms(TimeKind::kTotal) > 0)
                                    ? works
                                    : a.mean_ms(kind) < b.mean_ms(kind);
                       });
  return fmt::format("{}: lowest mean with {}, {:.3f} ms over {} ranks; without two profiler steps "
                     "in every configuration it cannot be told from noise",
                     what, lowest->configuration.label, lowest->mean_ms(kind),
                     lowest->ranks.size());
}

void slow_rank_sentences(const std::vector<ConfigurationRanks>& groups,
                         std::vector<std::string>& out) {
  const SlowRanks slow = slow_ranks(groups);
  if (slow.tested > 0 && slow.told.empty())
    out.push_back("no rank computes longer than the others beyond the noise of its steps");
  std::map<std::int64_t, std::vector<const SlowRank*>> by_rank;
  for (const SlowRank& s : slow.told)
    by_rank[s.rank].push_back(&s);
  for (const auto& [rank, in] : by_rank) {
    const SlowRank& most =
        **std::max_element(in.begin(), in.end(), [](const SlowRank* a, const SlowRank* b) {
          return a->percent < b->percent;
        });
    out.push_back(fmt::format(
        "rank {} computes longer than the others in {} of {} configurations, most in {}: {:.3f} ms "
        "a step ({}; paired by step, 95 % over all ranks), {:.2f} % above their mean",
        rank, in.size(), slow.tested, most.group->configuration.label, most.excess.difference,
        interval(most.excess), most.percent));
  }
}

/// GEMMs of one configuration whose calls slow down as collectives overlap them.
struct Contention {
  std::size_t rows = 0, slower = 0;
  double most_us = 0;
};
Contention contention_of(const GemmFacts& gemms, const std::string& label) {
  Contention out;
  for (const GemmRow& row : gemms.rows) {
    if (!label.empty() && row.key.configuration.label != label)
      continue;
    ++out.rows;
    if (row.slowdown_us - row.slowdown_half_us > 0) {
      ++out.slower;
      out.most_us = std::max(out.most_us, row.slowdown_us);
    }
  }
  return out;
}

/// A configuration that hides more communication and computes longer, when both are told. The cause
/// is stated only with the check that it is.
void trade_sentence(const std::vector<ConfigurationRanks>& groups, const StepRanking& total,
                    const GemmFacts& gemms, std::vector<std::string>& out) {
  const auto comm = rank_by_steps(groups, TimeKind::kExposedComm);
  if (!comm || comm->best == total.best)
    return;
  const auto exposed = std::find_if(comm->others.begin(), comm->others.end(),
                                    [&](const AgainstBest& o) { return o.group == total.best; });
  if (exposed == comm->others.end() || !exposed->told())
    return;
  const auto longer = welch(sample_stats(step_means_ms(*total.best, TimeKind::kComputation)),
                            sample_stats(step_means_ms(*comm->best, TimeKind::kComputation)),
                            corrected_alpha(total.comparisons));
  if (!longer || longer->difference - longer->half_width <= 0)
    return;
  const std::string& label = comm->best->configuration.label;
  const Contention c = contention_of(gemms, label);
  out.push_back(fmt::format(
      "{} hides communication best, {:.3f} ms a step less exposed than {} ({}), but computes "
      "{:.3f} "
      "ms longer ({}): {}",
      label, exposed->difference.difference, total.best->configuration.label,
      interval(exposed->difference), longer->difference, interval(*longer),
      c.slower * 2 > c.rows
          ? fmt::format("{} of its {} GEMMs with the largest spread slow down while collectives "
                        "overlap them, by up to {:.1f} us a call",
                        c.slower, c.rows, c.most_us)
          : fmt::format("{} of its {} GEMMs with the largest spread slow down while collectives "
                        "overlap them, so overlap alone does not explain it (clocks and power?)",
                        c.slower, c.rows)));
}

/// The best one lies at the end of what was tried, and everything with another value is told worse.
template <class Value>
void edge_sentence(const std::vector<ConfigurationRanks>& groups, const StepRanking& total,
                   const char* what, const Value& value, std::vector<std::string>& out) {
  std::set<std::int64_t> seen;
  for (const ConfigurationRanks& g : groups)
    if (const auto v = value(g.configuration))
      seen.insert(*v);
  const auto own = value(total.best->configuration);
  if (seen.size() < 2 || !own || (*own != *seen.begin() && *own != *seen.rbegin()))
    return;
  for (const AgainstBest& o : total.others)
    if (value(o.group->configuration) != own && !o.told())
      return;
  out.push_back(fmt::format("the best configuration has the {} number of {} that was tried ({}), "
                            "and all with another one take longer: try {} ones",
                            *own == *seen.begin() ? "lowest" : "highest", what, *own,
                            *own == *seen.begin() ? "lower" : "higher"));
}

void slow_rank_steps(const std::vector<ConfigurationRanks>& groups, std::vector<std::string>& out) {
  const SlowRanks slow = slow_ranks(groups);
  std::map<std::int64_t, std::vector<const SlowRank*>> by_rank;
  for (const SlowRank& s : slow.told)
    if (s.percent > 1)
      by_rank[s.rank].push_back(&s);
  for (const auto& [rank, in] : by_rank) {
    if (in.size() * 2 <= slow.tested)
      continue;
    const auto waited =
        std::find_if(in.begin(), in.end(), [](const SlowRank* s) { return s->waited.has_value(); });
    out.push_back(fmt::format(
        "rank {} computes more than 1 % longer than the others in {} of {} configurations{}: look "
        "at its GPU's clocks, power and temperature, and at its share of the data",
        rank, in.size(), slow.tested,
        waited == in.end()
            ? std::string()
            : fmt::format(", and they wait for it, {:.3f} ms a step in {} ({})",
                          (*waited)->waited->difference, (*waited)->group->configuration.label,
                          interval(*(*waited)->waited))));
  }
}

} // namespace

std::vector<std::string> summary_findings(const std::vector<RankRecord>& records) {
  std::vector<std::string> out;
  const auto groups = by_configuration(records);
  if (groups.empty())
    return out;
  if (groups.size() > 1)
    for (const auto& [kind, what] :
         {std::pair(TimeKind::kTotal, "shortest steps"),
          std::pair(TimeKind::kExposedComm, "least exposed communication")}) {
      const auto ranking = rank_by_steps(groups, kind);
      out.push_back(ranking ? ranking_sentence(*ranking, what)
                            : lowest_mean_sentence(groups, kind, what));
    }
  slow_rank_sentences(groups, out);
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
  const auto total = rank_by_steps(groups, TimeKind::kTotal);
  const ConfigurationRanks& shown =
      total ? *total->best
            : *std::min_element(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
                return a.mean_ms(TimeKind::kTotal) < b.mean_ms(TimeKind::kTotal);
              });
  const double ms = shown.mean_ms(TimeKind::kTotal);
  const double exposed = shown.mean_ms(TimeKind::kExposedComm);
  const double idle = shown.mean_ms(TimeKind::kIdle);
  if (ms > 0 && exposed > kWorthSaying * ms)
    out.push_back(fmt::format(
        "communication stays exposed for {:.3f} ms, {:.1f} % of the time, {}with {}: start "
        "collectives earlier or make them smaller (bucket size, prefetch), so that compute "
        "overlaps "
        "them",
        exposed, exposed / ms * 100, total && total->winner() ? "even " : "",
        shown.configuration.label));
  if (total) {
    trade_sentence(groups, *total, gemms, out);
    edge_sentence(
        groups, *total, "channels", [](const Configuration& c) { return c.channels_or_cus(); },
        out);
    edge_sentence(
        groups, *total, "threads", [](const Configuration& c) { return c.threads(); }, out);
  }
  slow_rank_steps(groups, out);
  const Contention all = contention_of(gemms, "");
  if (all.slower * 2 > all.rows)
    out.push_back(
        fmt::format("{} of the {} GEMMs with the largest spread slow down while "
                    "collectives overlap them, by up to {:.1f} us a call: fewer channels, "
                    "or collectives at another place of the step, would give that back",
                    all.slower, all.rows, all.most_us));
  if (ms > 0 && idle > kWorthSaying * ms)
    out.push_back(fmt::format("the GPU idles {:.3f} ms, {:.1f} % of the time, with {}: look for "
                              "launch-bound steps (CPU time, synchronisation, graphs)",
                              idle, idle / ms * 100, shown.configuration.label));
  return out;
}

} // namespace rankscope
