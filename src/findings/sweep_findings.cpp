#include "findings/sweep_findings.h"

#include "analyses/graph/graph_attribution.h"
#include "base/display_text.h"
#include "findings/collective_findings.h"
#include "findings/compose.h"
#include "findings/configuration_names.h"
#include "findings/rank_findings.h"
#include "findings/run_findings.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace rankscope {
namespace {

constexpr std::size_t kMostCauses = 3;
constexpr std::size_t kMostGemms = 5;
constexpr std::size_t kMostLinks = 4;

/// Returns the interval in percent, without the unit.
std::string range_of(const Estimate& e, double alpha) {
  const MeanDifference d = e.interval(alpha);
  return range3({d.difference * 100, d.half_width * 100});
}

std::string percent_range(const Estimate& e, double alpha) {
  return range_of(e, alpha) + " %";
}

std::string percent_estimate(const Estimate& e, double alpha) {
  return fmt::format("{} ({})", percent_text(e.value * 100), percent_range(e, alpha));
}

/// The best configuration and those that do not differ significantly from it, best first; and the
/// largest of their means.
struct Fastest {
  std::vector<const ConfigurationRanks*> groups;
  double high_ms = 0;
  double not_excluded_ms = 0; ///< upper end of the intervals of their differences from the best
  double half_width = 0;      ///< half width of the widest of these intervals
};

Fastest fastest_of(const StepRanking& r) {
  Fastest out{{r.best}, r.best_ms, 0, 0};
  for (const AgainstBest& o : r.others)
    if (!o.significant()) {
      out.groups.push_back(o.group);
      out.high_ms = std::max(out.high_ms, o.mean_ms);
      out.not_excluded_ms =
          std::max(out.not_excluded_ms, o.difference.difference + o.difference.half_width);
      out.half_width = std::max(out.half_width, o.difference.half_width);
    }
  return out;
}

/// Returns "; step 7 of 512 threads is left out (rank 1: 12.3 ms longer than its median)", or "".
std::string left_out_note(const StepRanking& r, const ConfigurationNames& names) {
  constexpr std::size_t kMostNamed = 2;
  std::string out;
  for (std::size_t i = 0; i < std::min(kMostNamed, r.left_out.size()); ++i) {
    const OutlyingStep& o = r.left_out[i];
    out += fmt::format("; step {} of {} is left out (on rank {}, {} ms {} than the median step)",
                       o.step, names.name_of(*o.group), o.rank, number3(std::fabs(o.more_ms)),
                       o.more_ms > 0 ? "longer" : "shorter");
  }
  if (r.left_out.size() > kMostNamed)
    out += fmt::format("; {} left out",
                       counted(r.left_out.size() - kMostNamed, "more step is", "more steps are"));
  return out;
}

/// Returns the finding about the configurations with the shortest time of one kind. `verb_one`,
/// `verb_many`: "is fastest", "are fastest". `more`: "faster". `same`: text if no configuration
/// differs significantly.
Finding ranking_finding(const FindingRule& rule, const StepRanking& r,
                        const ConfigurationNames& names, const char* verb_one,
                        const char* verb_many, const char* more, const char* same) {
  const Fastest f = fastest_of(r);
  const bool all = f.groups.size() == r.others.size() + 1;
  Finding out = all ? finding_of(rule, "configurations", "all")
                    : finding_of(rule, "configuration", r.best->configuration.label);
  out.value = r.best_ms;
  out.unit = Unit::kMs;
  out.steps = r.steps;
  out.scope = FindingScope::kThisRun;
  if (f.groups.size() > 1)
    out.detectable = f.half_width;
  const std::string verb = names.verb({r.best}, verb_one, verb_many);
  const std::string best = names.name_of(*r.best);
  if (all) {
    set_headline(
        out, fmt::format("{} ({} configurations): {} ms per step",
                         r.pair ? fmt::format("None differs significantly from {}", best) : same,
                         f.groups.size(), range3(r.best_ms, f.high_ms)));
  } else if (r.winner()) {
    set_headline(out, fmt::format("{} {}: {} ms per step", best, verb, number3(r.best_ms)));
  } else {
    std::vector<const ConfigurationRanks*> others = f.groups;
    std::erase(others, r.best);
    const std::string time = fmt::format("{} {}: {} ms", best, verb, number3(r.best_ms));
    const std::string than = fmt::format(" per step, not significantly {} than ", more);
    const std::size_t used = std::min(kHeadlineWidth, display_width(time + than));
    std::string headline;
    for (const std::string& test :
         {than + names.any_of(others, kHeadlineWidth - used),
          than + counted(others.size(), "other", "others"),
          std::string(" per step (not significant)"), std::string(" (not significant)")})
      if (headline.empty() || display_width(headline) > kHeadlineWidth)
        headline = time + test;
    set_headline(out, headline);
  }
  const std::string tail =
      fmt::format("{}, at least {} per configuration{}", level_text(r.comparisons),
                  counted(r.steps, "step", "steps"), dependence_note(r.dependence));
  if (r.winner()) {
    const AgainstBest& next = r.others.front();
    out.evidence =
        fmt::format("The next, {}, {} {} ms more per step in these runs ({}; {})",
                    names.name_of(*next.group), names.verb({next.group}, "takes", "take"),
                    number3(next.difference.difference), range3(next.difference), tail);
  } else {
    out.evidence = fmt::format("Differences of up to {} ms from {} in these runs are not excluded "
                               "({})",
                               number3(f.not_excluded_ms), best, tail);
    if (r.pair)
      out.evidence += fmt::format("; {} {} {} ms more than {} ({})", names.name_of(*r.pair->slow),
                                  names.verb({r.pair->slow}, "takes", "take"),
                                  number3(r.pair->difference.difference),
                                  names.name_of(*r.pair->fast), range3(r.pair->difference));
  }
  out.evidence += left_out_note(r, names);
  return out;
}

void add_slower(const StepRanking& r, const ConfigurationNames& names, std::vector<Finding>& out) {
  for (const AgainstBest& o : r.others) {
    if (!o.significant())
      continue;
    Finding f =
        finding_of(rules::slower_configuration, "configuration", o.group->configuration.label);
    set_interval(f, o.difference.difference, o.difference.half_width, Unit::kMs);
    f.cost_ms = o.difference.difference;
    f.steps = r.steps;
    f.scope = FindingScope::kThisRun;
    const std::string name = names.name_of(*o.group);
    set_headline(f, fmt::format("{} {} {} ms per step ({})", name,
                                names.verb({o.group}, "costs", "cost"),
                                number3(o.difference.difference),
                                percent_text(o.difference.difference / r.best_ms * 100)));
    f.evidence =
        fmt::format("{}: {} ms more than {} in these runs ({})", name, range3(o.difference),
                    names.name_of(*r.best), level_text(r.comparisons));
    out.push_back(std::move(f));
  }
}

/// Returns "2 to 6 steps" if configurations differ in their numbers of steps.
std::optional<std::string> different_steps_text(const std::vector<ConfigurationRanks>& groups) {
  const auto steps = different_steps(groups);
  if (!steps)
    return std::nullopt;
  const auto number = [](double mean) { // over the ranks
    return with_decimals(mean, mean == std::round(mean) ? 0 : 1);
  };
  return fmt::format("{} to {} steps", number(steps->first), number(steps->second));
}

constexpr const char* kDifferentLengths =
    "Times of complete traces cover different lengths of time";

/// Returns the configuration with the lowest mean. It is used if there are too few steps, so that
/// only means of complete traces are known. If these have different lengths, it is not named.
Finding lowest_mean(const std::vector<ConfigurationRanks>& groups,
                    const ConfigurationNames& names) {
  constexpr const char* kNeeded = "three profiler steps with consecutive numbers";
  Finding out = finding_of(rules::not_ranked, "configurations", "all");
  out.action = fmt::format("Record at least {} in every configuration", kNeeded);
  if (const auto steps = different_steps_text(groups)) {
    set_headline(out, "The configurations are not ranked: their traces have " + *steps);
    out.evidence =
        fmt::format("{}, and a test needs {} in every configuration", kDifferentLengths, kNeeded);
    return out;
  }
  const auto lowest = std::min_element(
      groups.begin(), groups.end(), [](const ConfigurationRanks& a, const ConfigurationRanks& b) {
        const double x = a.mean_ms(TimeKind::kTotal);
        const double y = b.mean_ms(TimeKind::kTotal);
        return (x > 0) != (y > 0) ? x > 0 : x < y;
      });
  out.value = lowest->mean_ms(TimeKind::kTotal);
  out.unit = Unit::kMs;
  set_headline(out, fmt::format("{} {} the lowest mean time, {} ms, without a test",
                                names.name_of(*lowest), names.verb({&*lowest}, "has", "have"),
                                number3(*out.value)));
  out.evidence = fmt::format("Mean over {}; the noise is unknown without {} in every configuration",
                             counted(lowest->ranks.size(), "rank", "ranks"), kNeeded);
  return out;
}

Finding different_work(const SweepJudgement& sweep, const ConfigurationNames& names) {
  Finding out = finding_of(rules::not_ranked, "configurations", "all");
  set_headline(out, fmt::format("{} and {} do different work per step",
                                names.name_of(*sweep.unequal->first),
                                names.name_of(*sweep.unequal->second)));
  out.evidence = "Number or shapes of their GEMMs differ, so configurations are not ranked by step "
                 "time";
  out.action = "Compare the time per sample of the configurations";
  return out;
}

/// Returns the causes that are significant or, if no cause is significant, the results of all
/// checks.
std::string cause_text(const Cause& c, const std::string& base) {
  std::vector<std::string> causes;
  const auto more = c.more_contention();
  if (c.is_slowdown(c.test_contention) && c.is_slowdown(more))
    causes.push_back(fmt::format("contention: GEMMs under a collective take {} longer than without "
                                 "overlap, {} percentage points ({}) more than with {}",
                                 percent_estimate(*c.test_contention, c.alpha),
                                 number3(more->value * 100), range_of(*more, c.alpha), base));
  if (c.general())
    causes.push_back(fmt::format("a general slow-down: without overlap, GEMMs take {} longer and "
                                 "other calls {}, no significant difference between the two",
                                 percent_estimate(*c.gemms_alone, c.alpha),
                                 percent_estimate(*c.others_alone, c.alpha)));
  else
    for (const auto& [what, effect] :
         {std::pair("GEMMs", &c.gemms_alone), std::pair("other calls", &c.others_alone)})
      if (c.is_slowdown(*effect))
        causes.push_back(fmt::format("{} of the same shape take {} longer without overlap too",
                                     what, percent_estimate(**effect, c.alpha)));
  if (!causes.empty())
    return fmt::format("{}", fmt::join(causes, "; "));
  if (!more && !c.gemms_alone && !c.others_alone)
    return "the reason cannot be checked without recorded shapes and two profiler steps";
  std::vector<std::string> checked;
  if (more)
    checked.push_back("contention " + percent_range(*more, c.alpha));
  if (c.gemms_alone)
    checked.push_back("GEMMs without overlap " + percent_range(*c.gemms_alone, c.alpha));
  if (c.others_alone)
    checked.push_back("other calls " + percent_range(*c.others_alone, c.alpha));
  return fmt::format(
      "neither contention nor a general slow-down is significant (difference from {}: {})", base,
      fmt::join(checked, ", "));
}

void add_causes(const SweepJudgement& sweep, const ConfigurationNames& names,
                std::vector<Finding>& out) {
  for (std::size_t i = 0; i < std::min(kMostCauses, sweep.causes.size()); ++i) {
    const Cause& c = sweep.causes[i];
    Finding f = finding_of(rules::computes_longer, "configuration", c.test->configuration.label);
    set_interval(f, c.longer.difference, c.longer.half_width, Unit::kMs);
    f.cost_ms = c.longer.difference;
    f.steps = sweep.total->steps;
    f.scope = FindingScope::kThisRun;
    const std::string base = names.name_of(*c.base);
    set_headline(f, fmt::format("{} {} {} ms longer per step than {}", names.name_of(*c.test),
                                names.verb({c.test}, "computes", "compute"),
                                number3(c.longer.difference), base));
    f.evidence = fmt::format("{}; {} ms in these runs ({})", capital(cause_text(c, base)),
                             range3(c.longer), level_text(sweep.cause_comparisons));
    out.push_back(std::move(f));
  }
}

/// Adds a configuration that exposes less communication but computes longer, if both differences
/// are significant.
void add_trade(const SweepJudgement& sweep, const ConfigurationNames& names,
               std::vector<Finding>& out) {
  if (!sweep.total || !sweep.comm || sweep.comm->best == sweep.total->best)
    return;
  const StepRanking& comm = *sweep.comm;
  const ConfigurationRanks& best = *sweep.total->best;
  const auto exposed = std::find_if(comm.others.begin(), comm.others.end(),
                                    [&](const AgainstBest& o) { return o.group == &best; });
  const auto longer = std::find_if(sweep.causes.begin(), sweep.causes.end(),
                                   [&](const Cause& c) { return c.test == comm.best; });
  if (exposed == comm.others.end() || !exposed->significant() || longer == sweep.causes.end())
    return;
  Finding f =
      finding_of(rules::communication_trade, "configuration", comm.best->configuration.label);
  set_interval(f, longer->longer.difference, longer->longer.half_width, Unit::kMs);
  f.steps = comm.steps;
  f.scope = FindingScope::kThisRun;
  set_headline(f,
               fmt::format("{} {} {} ms less communication per step, but {} {} ms longer",
                           names.name_of(*comm.best), names.verb({comm.best}, "exposes", "expose"),
                           number3(exposed->difference.difference),
                           names.verb({comm.best}, "computes", "compute"),
                           number3(longer->longer.difference)));
  f.evidence =
      fmt::format("Against {} in these runs: exposed communication {} ms less, "
                  "computation {} ms more",
                  names.name_of(best), range3(exposed->difference), range3(longer->longer));
  out.push_back(std::move(f));
}

/// For each link that is slow in most configurations, adds one finding with the values of the
/// configuration in which it is slowest.
void add_sweep_links(const SweepFacts& facts, std::vector<Finding>& out) {
  struct SweepLink {
    SlowGroup group;
    const ConfigurationCollectives* collectives = nullptr;
    std::string shared;
    std::size_t configurations = 0;
  };
  std::map<std::string, SweepLink> links; // key: ranks
  for (const ConfigurationCollectives& c : facts.collectives) {
    const std::vector<SlowGroup> slow = slow_groups(c.summary);
    const std::string shared = shared_link_action(slow, c.summary, c.per_node);
    for (const SlowGroup& g : slow) {
      SweepLink& link = links[g.row->group_ranks];
      if (link.configurations++ == 0 || g.percent_below() > link.group.percent_below()) {
        link.group = g;
        link.collectives = &c;
        link.shared = shared;
      }
    }
  }
  std::size_t named = 0;
  for (const auto& [ranks, link] : links) {
    if (link.configurations * 2 <= facts.collectives.size() || named++ >= kMostLinks)
      continue;
    const std::string& label = link.collectives->configuration.label;
    Finding f = slow_link_finding(link.group, link.shared);
    if (facts.collectives.size() > 1)
      f.evidence += fmt::format("; in {} of {} configurations, most with {}", link.configurations,
                                facts.collectives.size(), brief(label, kHeadlineWidth));
    out.push_back(std::move(f));
  }
}

/// Adds contention that exists in most configurations, even if its size differs.
void add_contention(const SweepJudgement& sweep, const ConfigurationNames& names,
                    std::vector<Finding>& out) {
  const bool alone = sweep.groups.size() == 1;
  std::size_t checked = 0;
  std::size_t found = 0;
  std::size_t most = 0;
  for (std::size_t g = 0; g < sweep.groups.size(); ++g) {
    if (!sweep.contention[g])
      continue;
    ++checked;
    if (!contention_finding({&sweep.groups[g], "", ""}, sweep.contention[g],
                            sweep.cause_comparisons, ""))
      continue;
    if (found++ == 0 || sweep.contention[g]->value > sweep.contention[most]->value)
      most = g;
  }
  if (found == 0 || found * 2 <= checked)
    return;
  const ConfigurationRanks& group = sweep.groups[most];
  const ShownRun run{&group, alone ? std::string() : group.configuration.label,
                     names.name_of(group)};
  out.push_back(*contention_finding(
      run, sweep.contention[most], sweep.cause_comparisons,
      alone ? std::string()
            : fmt::format(
                  "; significant in {} of {} configurations, with the largest effect in this one",
                  found, checked)));
}

/// Adds GPU work whose operators and shapes are unknown.
void add_graphs(const std::vector<RankRecord>& records, bool several, std::vector<Finding>& out) {
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
  Finding f = finding_of(rules::graph_launches, "rank",
                         several ? to_text(most->key) : std::to_string(most->key.rank));
  f.value = share(most->graphs.graph_ns, *most);
  f.unit = Unit::kPercent;
  set_headline(
      f, fmt::format("Graph launches take {} of the GPU time of rank {}{}", percent_text(*f.value),
                     most->key.rank,
                     several ? " of " + brief(most->key.configuration.label, 32) : std::string()));
  f.evidence =
      fmt::format("{}{} of this time has no known operator, so findings about GEMMs and about "
                  "calls of one shape leave it out",
                  ranks > 1 ? fmt::format("The largest value of {} of {} ranks; ", ranks, analysed)
                            : std::string(),
                  percent_text(share(most->graphs.unattributed_ns, *most)));
  out.push_back(std::move(f));
}

/// Adds a note if the fastest value is the smallest or largest one that was tried, and all other
/// values are slower.
template <class Value>
void add_edge(const std::vector<ConfigurationRanks>& groups, const StepRanking& total,
              const char* what, const Value& value, std::vector<Finding>& out) {
  std::set<std::int64_t> seen;
  for (const ConfigurationRanks& g : groups)
    if (const auto v = value(g.configuration))
      seen.insert(*v);
  const auto fastest = value(total.best->configuration);
  if (seen.size() < 2 || !fastest || (*fastest != *seen.begin() && *fastest != *seen.rbegin()))
    return;
  for (const AgainstBest& o : total.others)
    if (value(o.group->configuration) != fastest && !o.significant())
      return;
  const bool lowest = *fastest == *seen.begin();
  Finding f = finding_of(rules::try_further, "parameter", what);
  f.value = static_cast<double>(*fastest);
  f.unit = Unit::kCount;
  f.steps = total.steps;
  f.scope = FindingScope::kThisRun;
  set_headline(f, fmt::format("The fastest number of {}, {}, is the {} that was tried", what,
                              *fastest, lowest ? "lowest" : "highest"));
  f.evidence = "All configurations with another number take significantly longer in these runs";
  f.action = fmt::format("Try {} numbers of {}", lowest ? "lower" : "higher", what);
  out.push_back(std::move(f));
}

void add_edges(const SweepJudgement& sweep, std::vector<Finding>& out) {
  // If the correlation of steps is assumed, the intervals take it into account. If it was measured,
  // runs have to be repeated first.
  if (!sweep.total || (sweep.total->dependence >= kNotedDependence &&
                       sweep.total->dependence != kAssumedDependence))
    return;
  add_edge(
      sweep.groups, *sweep.total, "channels",
      [](const Configuration& c) { return c.channels_or_cus(); }, out);
  add_edge(
      sweep.groups, *sweep.total, "threads", [](const Configuration& c) { return c.threads(); },
      out);
}

/// Adds findings about the work that takes time in the fastest configuration.
void add_times(const SweepFacts& facts, const SweepJudgement& sweep,
               const ConfigurationNames& names, std::vector<Finding>& out) {
  const auto least = [](const ConfigurationRanks& a, const ConfigurationRanks& b) {
    return a.mean_ms(TimeKind::kTotal) < b.mean_ms(TimeKind::kTotal);
  };
  const ConfigurationRanks& group =
      sweep.total ? *sweep.total->best
                  : *std::min_element(sweep.groups.begin(), sweep.groups.end(), least);
  const ShownRun run{&group, sweep.groups.size() > 1 ? group.configuration.label : "",
                     names.name_of(group)};
  const auto found = std::find_if(facts.collectives.begin(), facts.collectives.end(),
                                  [&](const ConfigurationCollectives& c) {
                                    return c.configuration.label == group.configuration.label;
                                  });
  if (auto f = exposed_finding(run, found != facts.collectives.end() ? std::optional(found->exposed)
                                                                     : std::nullopt))
    out.push_back(std::move(*f));
  if (auto f = idle_finding(run))
    out.push_back(std::move(*f));
}

/// Adds a note if configurations differ in their numbers of steps.
void add_step_numbers(const std::vector<ConfigurationRanks>& groups, std::vector<Finding>& out) {
  const auto steps = different_steps_text(groups);
  if (!steps)
    return;
  Finding f = finding_of(rules::different_steps, "run", "");
  set_headline(f, "Configurations have " + *steps);
  f.evidence = fmt::format("{}; times per step are comparable", kDifferentLengths);
  out.push_back(std::move(f));
}

void add_lost(const std::vector<RankRecord>& records, std::vector<Finding>& out) {
  for (const RankRecord& r : records)
    if (!r.error.empty()) {
      Finding f = finding_of(rules::rank_not_analysed, "rank", to_text(r.key));
      set_headline(f, fmt::format("Rank {} of {} was not analysed", r.key.rank,
                                  brief(r.key.configuration.label, 48)));
      f.evidence = brief(r.error, 4 * kHeadlineWidth);
      out.push_back(std::move(f));
    }
}

void add_ranking(const SweepJudgement& sweep, const ConfigurationNames& names,
                 std::vector<Finding>& out) {
  if (sweep.unequal) {
    out.push_back(different_work(sweep, names));
  } else if (!sweep.total) {
    out.push_back(lowest_mean(sweep.groups, names));
  } else {
    out.push_back(ranking_finding(rules::fastest, *sweep.total, names, "is fastest", "are fastest",
                                  "faster", "No significant difference in step time"));
    out.front().action = kRepeatTheRuns;
    add_slower(*sweep.total, names, out);
  }
}

bool answers(const Finding& f) {
  return f.rule == rules::fastest.id || f.rule == rules::slower_configuration.id ||
         f.rule == rules::not_ranked.id;
}

} // namespace

std::vector<Finding> sweep_findings(const SweepFacts& facts) {
  return sweep_findings(facts, judge(facts.records));
}

std::vector<Finding> sweep_findings(const SweepFacts& facts, const SweepJudgement& judgement) {
  std::vector<Finding> out;
  if (judgement.groups.empty())
    return out;
  const ConfigurationNames names(judgement.groups);
  const bool several = judgement.groups.size() > 1;
  if (several)
    add_ranking(judgement, names, out);
  const std::int64_t per_node = facts.collectives.empty() ? 0 : facts.collectives.front().per_node;
  for (Finding& f : slow_rank_findings(judgement.slow, {}, per_node))
    out.push_back(std::move(f));
  add_sweep_links(facts, out);
  add_graphs(facts.records, several, out);
  if (judgement.comm && judgement.comm->others.back().mean_ms > 0) // else: no communication
    out.push_back(ranking_finding(rules::least_exposed, *judgement.comm, names,
                                  "exposes the least communication",
                                  "expose the least communication", "less",
                                  "No significant difference in exposed communication"));
  add_causes(judgement, names, out);
  add_trade(judgement, names, out);
  add_times(facts, judgement, names, out);
  add_contention(judgement, names, out);
  add_edges(judgement, out);
  if (judgement.total || judgement.unequal)
    add_step_numbers(judgement.groups, out);
  add_lost(facts.records, out);
  for (Finding& f : gemm_findings(facts.gemms, kMostGemms))
    out.push_back(std::move(f));
  return out;
}

AnswerText answer_text(std::span<const Finding> findings) {
  constexpr std::size_t kMostInAnswer = 3;
  AnswerText out;
  std::size_t slower = 0;
  std::size_t used = 0;
  for (const Finding& f : findings) {
    const bool answer = answers(f) || (&f == &findings.front());
    if (answer && used == kMostInAnswer) {
      ++slower;
      continue;
    }
    if (answer) {
      ++used;
      out.answer += (out.answer.empty() ? "" : " ") + f.headline + ".";
    }
    const std::string& evidence = f.evidence;
    if (!evidence.empty())
      out.reasons.push_back(answer ? evidence : f.headline + ". " + evidence);
    if (!f.action.empty() &&
        std::find(out.actions.begin(), out.actions.end(), f.action) == out.actions.end())
      out.actions.push_back(f.action);
  }
  if (slower > 0)
    out.answer += fmt::format(" {} slower.",
                              counted(slower, "more configuration is", "more configurations are"));
  return out;
}

} // namespace rankscope
