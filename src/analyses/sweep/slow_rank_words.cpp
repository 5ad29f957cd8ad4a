#include "analyses/sweep/slow_rank_words.h"

#include "analyses/ranks/rank_ranges.h"
#include "base/number_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace rankscope {
namespace {

constexpr std::size_t kMostSlowRanges = 4; ///< that have a sentence each
constexpr double kWorthAdvice = 1;         ///< percent
constexpr double kSameGemms = 0.5;         ///< GEMM kernels a step

std::string these_steps(std::size_t steps) {
  return steps == 1 ? std::string("this one step") : fmt::format("these {} steps", steps);
}

/// Says what the test could have shown: silence is not equality.
std::string none_sentence(const TestedRanks& t, bool named) {
  const double percent = t.mean_ms > 0 ? t.test.least_visible / t.mean_ms * 100 : 0;
  return fmt::format(
      "{}no rank computes significantly longer than its peers; {} can show an excess "
      "of {:.3f} ms per step ({:.2f} %) or more, and less than {} % is not named{}",
      named ? t.group->configuration.label + ": " : std::string(), these_steps(t.test.steps),
      t.test.least_visible, percent, kDeviceSpreadPercent, dependence_note(t.test.dependence));
}

const TestedRanks& test_of(const SlowRanks& slow, const ConfigurationRanks* group) {
  return *std::find_if(slow.tested.begin(), slow.tested.end(),
                       [group](const TestedRanks& t) { return t.group == group; });
}

std::string slow_sentence(const FoundRanks& range, const SlowRank& most, const RankTest& test,
                          const std::string& where) {
  const RankExcess& e = most.excess;
  const bool several = range.size() > 1;
  std::string out = fmt::format(
      "{} compute{} {:.3f} ms longer per step than {} peers (95 % CI {:.3f} to {:.3f} over all "
      "ranks), {:.2f} %{}{}; slowest in {} of {}{}",
      range_name(range), several ? "" : "s", e.excess, several ? "their" : "its",
      e.excess - e.half_width, e.excess + e.half_width, most.percent,
      several ? fmt::format(" (rank {}; the others at least {:.3f} ms)", most.rank, range.least)
              : std::string(),
      where, e.most, these_steps(test.steps), dependence_note(test.dependence));
  if (most.waited)
    out += fmt::format("; the collectives of its peers last {:.3f} ms longer per step ({:.3f} to "
                       "{:.3f})",
                       most.waited->difference, most.waited->difference - most.waited->half_width,
                       most.waited->difference + most.waited->half_width);
  return out;
}

std::map<std::int64_t, std::vector<const SlowRank*>> slow_by_rank(const SlowRanks& slow) {
  std::map<std::int64_t, std::vector<const SlowRank*>> out;
  for (const SlowRank& s : slow.told)
    out[s.rank].push_back(&s);
  return out;
}

const SlowRank& worst_of(const std::vector<const SlowRank*>& in) {
  return **std::max_element(in.begin(), in.end(), [](const SlowRank* a, const SlowRank* b) {
    return a->percent < b->percent;
  });
}

} // namespace

std::vector<std::string> slow_rank_findings(const SlowRanks& slow, bool name_configurations) {
  std::vector<std::string> out;
  if (slow.told.empty()) {
    for (const TestedRanks& t : slow.tested)
      out.push_back(none_sentence(t, name_configurations));
    return out;
  }
  std::vector<FoundRank> ranks; // each by the configuration in which it is slowest
  std::vector<const SlowRank*> worst;
  const auto by_rank = slow_by_rank(slow);
  for (const auto& [rank, in] : by_rank) {
    worst.push_back(&worst_of(in));
    ranks.push_back({rank, worst.back()->excess.excess});
  }
  std::vector<std::int64_t> more;
  for (const FoundRanks& range : in_ranges(ranks)) {
    if (out.size() == kMostSlowRanges) {
      for (const std::size_t i : range.members)
        more.push_back(ranks[i].rank);
      continue;
    }
    const SlowRank& most = *worst[*std::max_element(
        range.members.begin(), range.members.end(),
        [&](std::size_t a, std::size_t b) { return ranks[a].excess < ranks[b].excess; })];
    out.push_back(slow_sentence(range, most, test_of(slow, most.group).test,
                                name_configurations
                                    ? fmt::format(", in {} of {} configurations, most in {}",
                                                  by_rank.at(most.rank).size(), slow.tested.size(),
                                                  most.group->configuration.label)
                                    : std::string()));
  }
  if (!more.empty()) {
    std::sort(more.begin(), more.end());
    out.push_back(fmt::format("{} more ranks compute significantly longer than their peers: {}",
                              more.size(), ranges_text(more)));
  }
  return out;
}

std::vector<std::string> slow_rank_advice(const SlowRanks& slow) {
  std::vector<std::string> out;
  for (const auto& [rank, all] : slow_by_rank(slow)) {
    std::vector<const SlowRank*> in;
    std::copy_if(all.begin(), all.end(), std::back_inserter(in),
                 [](const SlowRank* s) { return s->percent > kWorthAdvice; });
    if (in.size() * 2 <= slow.tested.size())
      continue;
    const SlowRank& most = worst_of(in);
    const std::string head =
        fmt::format("rank {} computes more than {:.0f} % longer than its peers in {} of {} "
                    "configurations: ",
                    rank, kWorthAdvice, in.size(), slow.tested.size());
    if (most.more_gemms >= kSameGemms)
      out.push_back(head + fmt::format("it runs {:.1f} GEMM kernels more per step than they do, so "
                                       "look at its share of the work first",
                                       most.more_gemms));
    else if (most.gemm_percent >= most.percent / 2)
      out.push_back(
          head + fmt::format("its GEMM kernels take {:.2f} % longer than the same kernels of its "
                             "peers, so look at its GPU's clocks, power and temperature",
                             most.gemm_percent));
    else
      out.push_back(head +
                    fmt::format("its GEMM kernels take as long as its peers' ({:+.2f} %), so "
                                "look for other kernels that it runs more of",
                                most.gemm_percent));
  }
  return out;
}

} // namespace rankscope
