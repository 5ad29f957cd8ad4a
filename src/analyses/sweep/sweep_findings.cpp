#include "analyses/sweep/sweep_findings.h"

#include "analyses/graph/graph_attribution.h"
#include "analyses/sweep/slow_rank_words.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

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
  const std::string noise = fmt::format("Welch, {}, {} steps{}", level(r.comparisons), r.steps,
                                        dependence_note(r.dependence));
  if (r.winner()) {
    const AgainstBest& next = r.others.front();
    return fmt::format(
        "{} in these runs: {}, {:.3f} ms a step; the next, {}, takes {:.3f} ms more ({}; {})", what,
        r.best->configuration.label, r.best_ms, next.group->configuration.label,
        next.difference.difference, interval(next.difference), noise);
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
  return fmt::format(
      "{} in these runs: {} cannot be told apart, {:.3f} to {:.3f} ms a step; {} longer "
      "({})",
      what, labels(same), r.best_ms, high,
      slower == 1 ? "the other one takes" : fmt::format("the other {} take", slower), noise);
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
  return fmt::format(
      "{}: lowest mean with {}, {:.3f} ms over {} ranks; without three profiler steps "
      "in every configuration it cannot be told from noise",
      what, lowest->configuration.label, lowest->mean_ms(kind), lowest->ranks.size());
}

/// "12.3 to 14.5 %": an effect with its interval.
std::string percent_range(const Estimate& e, double alpha) {
  const MeanDifference d = e.interval(alpha);
  return fmt::format("{:.2f} to {:.2f} %", (d.difference - d.half_width) * 100,
                     (d.difference + d.half_width) * 100);
}

std::string percent_sweep_findings(const Estimate& e, double alpha) {
  return fmt::format("{:.2f} % ({})", e.value * 100, percent_range(e, alpha));
}

/// The checks that hold, or what all of them gave.
std::string cause_text(const Cause& c) {
  std::vector<std::string> said;
  const auto more = c.more_contention();
  if (c.told(c.test_contention) && c.told(more))
    said.push_back(fmt::format(
        "contention, GEMM calls that collectives overlap fully take {} longer than calls of the "
        "same shape beside none, {:.2f} percent points ({}) more than there",
        percent_sweep_findings(*c.test_contention, c.alpha), more->value * 100,
        percent_range(*more, c.alpha)));
  if (c.general())
    said.push_back(fmt::format("a general slow-down, calls of the same shape beside no collective "
                               "take longer by about one factor: GEMMs {}, others {}",
                               percent_sweep_findings(*c.gemms_alone, c.alpha),
                               percent_sweep_findings(*c.others_alone, c.alpha)));
  else
    for (const auto& [what, effect] :
         {std::pair("GEMM", &c.gemms_alone), std::pair("other", &c.others_alone)})
      if (c.told(*effect))
        said.push_back(fmt::format("{} calls of the same shape take {} longer beside no collective "
                                   "too",
                                   what, percent_sweep_findings(**effect, c.alpha)));
  if (!said.empty())
    return fmt::format("{}", fmt::join(said, "; "));
  if (!more && !c.gemms_alone && !c.others_alone)
    return "why cannot be checked without recorded shapes and two profiler steps";
  std::vector<std::string> checked;
  if (more)
    checked.push_back(fmt::format("contention {}", percent_range(*more, c.alpha)));
  if (c.gemms_alone)
    checked.push_back(
        fmt::format("GEMMs beside no collective {}", percent_range(*c.gemms_alone, c.alpha)));
  if (c.others_alone)
    checked.push_back(fmt::format("others {}", percent_range(*c.others_alone, c.alpha)));
  return fmt::format("neither contention nor a general slow-down is told (more than there by: {})",
                     fmt::join(checked, ", "));
}

void cause_sentences(const SweepJudgement& sweep, std::vector<std::string>& out) {
  constexpr std::size_t kMost = 3;
  for (std::size_t i = 0; i < std::min(kMost, sweep.causes.size()); ++i) {
    const Cause& c = sweep.causes[i];
    out.push_back(
        fmt::format("in these runs, {} computes {:.3f} ms a step longer than {} ({}): {} ({})",
                    c.test->configuration.label, c.longer.difference, c.base->configuration.label,
                    interval(c.longer), cause_text(c), level(sweep.cause_comparisons)));
  }
}

/// A configuration that hides more communication and computes longer, when both are told.
void trade_sentence(const SweepJudgement& sweep, std::vector<std::string>& out) {
  if (!sweep.total || !sweep.comm || sweep.comm->best == sweep.total->best)
    return;
  const StepRanking& comm = *sweep.comm;
  const auto exposed =
      std::find_if(comm.others.begin(), comm.others.end(),
                   [&](const AgainstBest& o) { return o.group == sweep.total->best; });
  const auto longer = std::find_if(sweep.causes.begin(), sweep.causes.end(),
                                   [&](const Cause& c) { return c.test == comm.best; });
  if (exposed == comm.others.end() || !exposed->told() || longer == sweep.causes.end())
    return;
  out.push_back(fmt::format(
      "in these runs, {} hides communication best, {:.3f} ms a step less exposed than {} "
      "({}), but computes {:.3f} "
      "ms longer ({}): {}",
      comm.best->configuration.label, exposed->difference.difference,
      sweep.total->best->configuration.label, interval(exposed->difference),
      longer->longer.difference, interval(longer->longer), cause_text(*longer)));
}

/// Contention in most configurations, whatever tells them apart.
void contention_step(const SweepJudgement& sweep, std::vector<std::string>& out) {
  std::size_t told = 0;
  std::size_t checked = 0;
  std::size_t most = 0;
  for (std::size_t g = 0; g < sweep.groups.size(); ++g) {
    const auto& c = sweep.contention[g];
    if (!c)
      continue;
    ++checked;
    const MeanDifference d = c->interval(sweep.cause_alpha);
    if (d.difference - d.half_width <= kLeastSlowdown)
      continue;
    if (told++ == 0 || c->value > sweep.contention[most]->value)
      most = g;
  }
  if (told == 0 || told * 2 <= checked)
    return;
  out.push_back(fmt::format(
      "GEMM calls that collectives overlap fully take longer than calls of the same shape beside "
      "none in {} of {} configurations, most in {}: {} ({}; {} calls): fewer channels, or "
      "collectives at another place of the step, would give that back",
      told, checked, sweep.groups[most].configuration.label,
      percent_sweep_findings(*sweep.contention[most], sweep.cause_alpha),
      level(sweep.cause_comparisons), sweep.contention[most]->calls));
}

/// What operators and shapes cannot be told of, before anything is said by them.
void graph_sentence(const std::vector<RankRecord>& records, std::vector<std::string>& out) {
  const RankRecord* most = nullptr;
  std::size_t ranks = 0;
  std::size_t analysed = 0;
  const auto share = [](std::int64_t ns, const RankRecord& r) {
    return r.graphs.gpu_ns > 0
               ? 100.0 * static_cast<double>(ns) / static_cast<double>(r.graphs.gpu_ns)
               : 0.0;
  };
  for (const RankRecord& r : records) {
    analysed += r.error.empty() ? 1 : 0;
    if (share(r.graphs.graph_ns, r) < kNotedPercent)
      continue;
    ++ranks;
    if (most == nullptr || share(r.graphs.graph_ns, r) > share(most->graphs.graph_ns, *most))
      most = &r;
  }
  if (most == nullptr)
    return;
  out.push_back(fmt::format(
      "graph launches hold {:.1f} % of the GPU time of rank {} in {}{}, {:.1f} % of it without an "
      "operator: what is said of GEMMs and of calls of one shape leaves those out",
      share(most->graphs.graph_ns, *most), most->key.rank, most->key.configuration.label,
      ranks > 1 ? fmt::format(", the most of {} of {} ranks", ranks, analysed) : std::string(),
      share(most->graphs.unattributed_ns, *most)));
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
  out.push_back(
      fmt::format("in these runs, the best configuration has the {} number of {} that was "
                  "tried ({}), and all with another one take longer: try {} ones",
                  *own == *seen.begin() ? "lowest" : "highest", what, *own,
                  *own == *seen.begin() ? "lower" : "higher"));
}

/// The part of the communication time of a configuration that waits for the last member, 0 to 1;
/// none where collectives are unknown. The transfer is what the last member's kernel takes.
std::optional<double> waiting_share(const ConfigurationRanks& group,
                                    const std::vector<ConfigurationCollectives>& collectives) {
  const auto of = std::find_if(collectives.begin(), collectives.end(), [&](const auto& c) {
    return c.configuration.label == group.configuration.label;
  });
  if (of == collectives.end() || of->summary.empty())
    return std::nullopt;
  double transfer_ms = 0; // over all ranks
  for (const SyncSummary& row : of->summary) {
    if (row.group_size == kNoId)
      return std::nullopt;
    transfer_ms += row.total_latency_ms * static_cast<double>(row.group_size);
  }
  const double comm_ms =
      group.mean_ms(TimeKind::kTotalComm) * static_cast<double>(group.ranks.size());
  if (!(comm_ms > 0))
    return std::nullopt;
  return std::clamp(1 - transfer_ms / comm_ms, 0.0, 1.0);
}

/// Exposed communication is waiting and transfer: what helps depends on which.
void exposed_step(const SweepJudgement& sweep, const ConfigurationRanks& shown,
                  const std::vector<ConfigurationCollectives>& collectives,
                  std::vector<std::string>& out) {
  const double ms = shown.mean_ms(TimeKind::kTotal);
  const double exposed = shown.mean_ms(TimeKind::kExposedComm);
  if (!(ms > 0) || exposed <= kWorthSaying * ms)
    return;
  const std::string head =
      fmt::format("communication is exposed for {:.3f} ms, {:.1f} % of the time, {}with {}",
                  exposed, exposed / ms * 100, sweep.total && sweep.total->winner() ? "even " : "",
                  shown.configuration.label);
  const std::optional<double> waiting = waiting_share(shown, collectives);
  if (!waiting)
    out.push_back(head + ": how much of it is waiting for late ranks is not known; see rankscope "
                         "collectives");
  else if (*waiting > 0.5)
    out.push_back(head + fmt::format("; {:.0f} % of the communication time is waiting for the last "
                                     "rank to start: find out why ranks are late before changing "
                                     "collectives (rankscope collectives, straggler_summary)",
                                     *waiting * 100));
  else
    out.push_back(head + fmt::format("; {:.0f} % of the communication time is transfer: start "
                                     "collectives earlier or make them smaller (bucket size, "
                                     "prefetch), so that compute overlaps them",
                                     (1 - *waiting) * 100));
}

/// Two configurations that cannot be ranked, for they do other work.
std::optional<std::pair<const ConfigurationRanks*, const ConfigurationRanks*>>
unequal_work(const std::vector<ConfigurationRanks>& groups) {
  for (std::size_t i = 1; i < groups.size(); ++i)
    if (work_differs(groups[0], groups[i]))
      return std::pair(&groups[0], &groups[i]);
  return std::nullopt;
}

} // namespace

SweepJudgement judge(const std::vector<RankRecord>& records) {
  SweepJudgement out;
  out.groups = by_configuration(records);
  out.unequal = unequal_work(out.groups);
  if (!out.unequal) {
    out.total = rank_by_steps(out.groups, TimeKind::kTotal);
    out.comm = rank_by_steps(out.groups, TimeKind::kExposedComm);
  }
  out.slow = slow_ranks(out.groups);
  // three checks against the best configuration, and contention in each
  const std::size_t n = out.groups.size();
  out.cause_comparisons = n > 1 ? 3 * (n - 1) + n : n;
  out.cause_alpha = corrected_alpha(out.cause_comparisons);
  for (const ConfigurationRanks& group : out.groups)
    out.contention.push_back(contention_of(group));
  if (!out.total)
    return out;
  for (const AgainstBest& o : out.total->others) {
    const auto longer = computes_longer(*out.total, *o.group);
    if (!longer || longer->difference - longer->half_width <= 0)
      continue;
    out.causes.push_back(cause_of(*out.total->best, *o.group, out.cause_alpha));
    out.causes.back().longer = *longer;
  }
  std::stable_sort(out.causes.begin(), out.causes.end(), [](const Cause& a, const Cause& b) {
    return a.longer.difference > b.longer.difference;
  });
  return out;
}

std::vector<std::string> summary_findings(const SweepJudgement& sweep,
                                          const std::vector<RankRecord>& records) {
  std::vector<std::string> out;
  if (sweep.groups.empty())
    return out;
  graph_sentence(records, out);
  if (sweep.unequal)
    out.push_back(fmt::format("{} and {} do different work per step (number or shapes of their "
                              "GEMMs): configurations are not ranked by step time; compare their "
                              "time per sample",
                              sweep.unequal->first->configuration.label,
                              sweep.unequal->second->configuration.label));
  else if (sweep.groups.size() > 1)
    for (const auto& [kind, what, ranking] :
         {std::tuple(TimeKind::kTotal, "shortest steps", &sweep.total),
          std::tuple(TimeKind::kExposedComm, "least exposed communication", &sweep.comm)})
      out.push_back(*ranking ? ranking_sentence(**ranking, what)
                             : lowest_mean_sentence(sweep.groups, kind, what));
  cause_sentences(sweep, out);
  for (std::string& sentence : slow_rank_findings(sweep.slow, sweep.groups.size() > 1))
    out.push_back(std::move(sentence));
  for (const RankRecord& r : records)
    if (!r.error.empty())
      out.push_back(fmt::format("{}: rank {} was not analysed: {}", r.key.configuration.label,
                                r.key.rank, r.error));
  return out;
}

namespace {

/// The idle time of a configuration with its main cause, and what to do about that.
std::string idle_step(const ConfigurationRanks& run, double idle_ms, double percent) {
  std::array<double, kIdleCauses> by_cause{};
  for (const RankRecord* r : run.ranks)
    for (std::size_t c = 0; c < kIdleCauses; ++c)
      by_cause[c] += static_cast<double>(r->idle_ns[c]);
  const double all = std::accumulate(by_cause.begin(), by_cause.end(), 0.0);
  const auto most = std::max_element(by_cause.begin(), by_cause.end());
  const auto cause = static_cast<IdleCause>(most - by_cause.begin());
  std::string out = fmt::format("the GPU is idle for {:.3f} ms, {:.1f} % of the time, with {}",
                                idle_ms, percent, run.configuration.label);
  if (all > 0)
    out += fmt::format("; {:.1f} % of that is {} ({}): {}", *most / all * 100,
                       idle_cause_name(cause), idle_cause_help(cause), idle_cause_advice(cause));
  return out;
}

} // namespace

std::vector<std::string> next_steps(const SweepJudgement& sweep,
                                    const std::vector<ConfigurationCollectives>& collectives) {
  std::vector<std::string> out;
  const auto& groups = sweep.groups;
  if (groups.empty())
    return out;
  const auto& total = sweep.total;
  const ConfigurationRanks& shown =
      total ? *total->best
            : *std::min_element(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
                return a.mean_ms(TimeKind::kTotal) < b.mean_ms(TimeKind::kTotal);
              });
  const double ms = shown.mean_ms(TimeKind::kTotal);
  const double idle = shown.mean_ms(TimeKind::kIdle);
  exposed_step(sweep, shown, collectives, out);
  if (total)
    trade_sentence(sweep, out);
  // where the correlation is assumed the intervals have it; where it is seen runs have to be
  // repeated
  if (total && (total->dependence < kNotedDependence || total->dependence == kAssumedDependence)) {
    edge_sentence(
        groups, *total, "channels", [](const Configuration& c) { return c.channels_or_cus(); },
        out);
    edge_sentence(
        groups, *total, "threads", [](const Configuration& c) { return c.threads(); }, out);
  }
  for (std::string& sentence : slow_rank_advice(sweep.slow))
    out.push_back(std::move(sentence));
  contention_step(sweep, out);
  if (ms > 0 && idle > kWorthSaying * ms)
    out.push_back(idle_step(shown, idle, idle / ms * 100));
  return out;
}

} // namespace rankscope
