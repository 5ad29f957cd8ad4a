#include "findings/straggler_findings.h"

#include "findings/compose.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr double kLeastStraggling = 1.03;
constexpr double kMostOfIt = 0.5; ///< minimum fraction of the slowdown that one group must explain
constexpr std::size_t kRanksNamed = 8;

bool explains(const std::optional<StragglerEffect>& effect) {
  return effect && effect->removed >= kMostOfIt && effect->low_ms && *effect->low_ms > 0;
}

void set_effect(Finding& f, const WhatIfFacts& facts, const StragglerEffect& effect) {
  f.value = effect.gain_ms;
  f.low = effect.low_ms;
  f.high = effect.high_ms;
  f.unit = Unit::kMs;
  f.steps = facts.steps;
  f.cost_ms = effect.gain_ms;
  f.evidence =
      fmt::format("with the usual durations there, a step takes {} ms less (95 % CI {} ms, {}); "
                  "this is {} of the cost of stragglers",
                  number3(effect.gain_ms), range3(*effect.low_ms, *effect.high_ms),
                  counted(facts.steps, "step", "steps"), percent_text(100 * effect.removed));
  f.evidence = capital(std::move(f.evidence));
}

std::string ranks_of(const StragglerEffect& effect) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < std::min(kRanksNamed, effect.ranks.size()); ++k)
    names.push_back(fmt::format("{}", effect.ranks[k]));
  if (effect.ranks.size() > kRanksNamed)
    names.push_back(fmt::format("{} more", effect.ranks.size() - kRanksNamed));
  return joined(names, "and");
}

} // namespace

std::vector<Finding> straggler_findings(const WhatIfFacts& facts) {
  std::vector<Finding> out;
  if (!facts.pipeline || !facts.stragglers || facts.stragglers->slowdown() < kLeastStraggling)
    return out;
  const StragglerFacts& s = *facts.stragglers;
  const double cost = s.without_delays_ms - s.ideal_ms;
  if (explains(s.last_stage)) {
    Finding f = finding_of(rules::slow_last_stage, "run", "");
    set_headline(f, fmt::format("The last pipeline stage takes longer than the others: {} ms of a "
                                "step",
                                number3(s.last_stage->gain_ms)));
    set_effect(f, facts, *s.last_stage);
    f.action = "give the last stage fewer layers, or split its loss and output layer";
    out.push_back(std::move(f));
  }
  if (explains(s.worst_ranks)) {
    Finding f = finding_of(rules::slow_workers, "rank", ranks_of(*s.worst_ranks));
    const bool single = s.worst_ranks->ranks.size() == 1;
    set_headline(f, fmt::format("{} {} {} longer than the others: {} ms of a step",
                                single ? "Rank" : "Ranks", ranks_of(*s.worst_ranks),
                                single ? "takes" : "take", number3(s.worst_ranks->gain_ms)));
    set_effect(f, facts, *s.worst_ranks);
    f.action = "check clocks, temperature and neighbours of these workers, then replace them";
    out.push_back(std::move(f));
  }
  if (out.empty()) {
    Finding f = finding_of(rules::spread_stragglers, "run", "");
    set_headline(
        f,
        fmt::format(
            "Stragglers cost {} ms of a step; neither a stage nor a few ranks explain most of this",
            number3(cost)));
    f.value = f.cost_ms = cost;
    f.unit = Unit::kMs;
    const auto share = [](const std::optional<StragglerEffect>& effect) {
      return effect ? percent_text(100 * effect->removed) : std::string("unknown");
    };
    f.evidence = fmt::format("Slowdown {:.3f}; the last stage explains {} of it, the {} ranks with "
                             "the largest slowdown explain {}",
                             s.slowdown(), share(s.last_stage),
                             s.worst_ranks ? s.worst_ranks->ranks.size() : 0, share(s.worst_ranks));
    f.action = "compare the work of micro-batches: unequal sequence lengths make other ranks slow "
               "in each step";
    out.push_back(std::move(f));
  }
  return out;
}

} // namespace rankscope
