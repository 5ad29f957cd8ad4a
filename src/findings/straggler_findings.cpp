#include "findings/straggler_findings.h"

#include "base/sort.h"
#include "findings/compose.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr double kLeastStraggling = 1.03;
constexpr double kMostOfIt = 0.5; ///< minimum fraction of the slowdown that one group must explain
constexpr double kLeastCorrelation = 0.9;
constexpr std::size_t kRanksNamed = 8;

bool gains_time(const std::optional<StragglerEffect>& effect) {
  return effect && effect->low_ms && *effect->low_ms > 0;
}

bool explains(const std::optional<StragglerEffect>& effect) {
  return gains_time(effect) && effect->removed >= kMostOfIt;
}

/// Returns whether sequence lengths determine the durations of micro-batches. They do if even the
/// lower end of the coefficient reaches the threshold of the study (analyses/job/micro_batches.h).
bool lengths_decide(const std::optional<MicroBatchCorrelation>& correlation) {
  return correlation && correlation->low && *correlation->low >= kLeastCorrelation;
}

std::string correlation_text(const MicroBatchCorrelation& c) {
  const std::string interval =
      c.low ? fmt::format("95 % CI {:.3f} to {:.3f}, ", *c.low, *c.high) : std::string();
  return fmt::format("Among the micro-batches of a rank in a step, forward and backward durations "
                     "have the correlation coefficient {:.3f} ({}{})",
                     c.coefficient, interval, counted(c.pairs, "pair", "pairs"));
}

std::string straggler_gain(const WhatIfFacts& facts, const StragglerEffect& effect) {
  return fmt::format("{} ms less (95 % CI {} ms, {})", number3(effect.gain_ms),
                     range3(*effect.low_ms, *effect.high_ms),
                     counted(facts.steps, "step", "steps"));
}

std::string share_of_slowdown(const std::optional<StragglerEffect>& effect) {
  return effect ? percent_text(100 * effect->removed) : std::string("unknown");
}

void set_values(Finding& f, const WhatIfFacts& facts, const StragglerEffect& effect) {
  f.value = effect.gain_ms;
  f.low = effect.low_ms;
  f.high = effect.high_ms;
  f.unit = Unit::kMs;
  f.steps = facts.steps;
  f.cost_ms = effect.gain_ms;
}

std::string ranks_of(const StragglerEffect& effect) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < std::min(kRanksNamed, effect.ranks.size()); ++k)
    names.push_back(fmt::format("{}", effect.ranks[k]));
  if (effect.ranks.size() > kRanksNamed)
    names.push_back(fmt::format("{} more", effect.ranks.size() - kRanksNamed));
  return joined(names, "and");
}

Finding lengths_finding(const WhatIfFacts& facts) {
  const StragglerFacts& s = *facts.stragglers;
  Finding f = finding_of(rules::sequence_lengths, "run", "");
  set_headline(f, fmt::format("Micro-batches have different sequence lengths: {} ms of a step",
                              number3(s.equal_batches->gain_ms)));
  set_values(f, facts, *s.equal_batches);
  f.evidence = fmt::format(
      "With equal micro-batches, a step takes {}; this is {} of the cost of stragglers. {}",
      straggler_gain(facts, *s.equal_batches), share_of_slowdown(s.equal_batches),
      correlation_text(*s.correlation));
  f.action = "give all micro-batches and data-parallel ranks about the same work; the time of "
             "attention grows with the square of the sequence length";
  return f;
}

Finding last_stage_finding(const WhatIfFacts& facts, bool with_lengths) {
  const StragglerFacts& s = *facts.stragglers;
  Finding f = finding_of(rules::slow_last_stage, "run", "");
  set_headline(f, fmt::format("The last pipeline stage takes longer than the others: {} ms of a "
                              "step",
                              number3(s.even_stages->gain_ms)));
  set_values(f, facts, *s.even_stages);
  f.evidence = fmt::format(
      "With the computation time spread evenly over the stages, a step takes {}. With the usual "
      "durations on the last stage and no other change, it takes {} ms less, which is {} of the "
      "cost of stragglers",
      straggler_gain(facts, *s.even_stages), number3(s.last_stage->gain_ms),
      share_of_slowdown(s.last_stage));
  if (with_lengths && gains_time(s.equal_and_even))
    f.evidence += fmt::format(". With equal micro-batches and even stages, a step takes {}",
                              straggler_gain(facts, *s.equal_and_even));
  f.action = "give the last stage fewer layers, or split its loss and output layer";
  return f;
}

Finding workers_finding(const WhatIfFacts& facts) {
  const StragglerEffect& worst = *facts.stragglers->worst_ranks;
  const std::string names = ranks_of(worst);
  Finding f = finding_of(rules::slow_workers, "rank", names);
  const bool single = worst.ranks.size() == 1;
  set_headline(f, fmt::format("{} {} {} longer than the others: {} ms of a step",
                              single ? "Rank" : "Ranks", names, single ? "takes" : "take",
                              number3(worst.gain_ms)));
  set_values(f, facts, worst);
  f.evidence = fmt::format("With the usual durations there, a step takes {}; this is {} of the "
                           "cost of stragglers",
                           straggler_gain(facts, worst), share_of_slowdown(worst));
  f.action = "check clocks, temperature and neighbours of these workers, then replace them";
  return f;
}

Finding spread_finding(const StragglerFacts& s) {
  const double cost = s.without_delays_ms - s.ideal_ms;
  Finding f = finding_of(rules::spread_stragglers, "run", "");
  set_headline(f, fmt::format("Stragglers cost {} ms of a step; no single cause explains most of "
                              "this",
                              number3(cost)));
  f.value = f.cost_ms = cost;
  f.unit = Unit::kMs;
  const std::size_t worst = s.worst_ranks ? s.worst_ranks->ranks.size() : 0;
  f.evidence = fmt::format(
      "Slowdown {:.3f}; the last stage explains {} of it, the {} with the largest slowdown {} {}",
      s.slowdown(), share_of_slowdown(s.last_stage),
      worst == 1 ? "rank" : fmt::format("{} ranks", worst), worst == 1 ? "explains" : "explain",
      share_of_slowdown(s.worst_ranks));
  if (s.correlation)
    f.evidence += fmt::format(", unequal micro-batches explain {}. {}",
                              share_of_slowdown(s.equal_batches), correlation_text(*s.correlation));
  f.action = !s.correlation || lengths_decide(s.correlation)
                 ? "compare the work of micro-batches: unequal sequence lengths make other ranks "
                   "slow in each step"
                 : "find the slow ranks of each step in the table stragglers_by_step (--json); "
                   "sequence lengths would give a coefficient of 0.9 or more";
  return f;
}

} // namespace

std::vector<Finding> straggler_findings(const WhatIfFacts& facts) {
  std::vector<Finding> out;
  if (!facts.pipeline || !facts.stragglers || facts.stragglers->slowdown() < kLeastStraggling)
    return out;
  const StragglerFacts& s = *facts.stragglers;
  const bool lengths = lengths_decide(s.correlation) && explains(s.equal_batches);
  if (lengths)
    out.push_back(lengths_finding(facts));
  if (explains(s.last_stage) && gains_time(s.even_stages))
    out.push_back(last_stage_finding(facts, lengths));
  if (explains(s.worst_ranks))
    out.push_back(workers_finding(facts));
  if (out.empty())
    out.push_back(spread_finding(s));
  sort_stably(out, [](const Finding& a, const Finding& b) { return a.value > b.value; });
  return out;
}

} // namespace rankscope
