#include "findings/rank_findings.h"

#include "analyses/collectives/collective_sums.h"
#include "analyses/ranks/rank_ranges.h"
#include "analyses/ranks/work_excess.h"
#include "base/number_text.h"
#include "base/sort.h"
#include "base/units.h"
#include "findings/compose.h"
#include "findings/run_findings.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <span>

namespace rankscope {
namespace {

constexpr std::size_t kMostRanges = 4; ///< maximum number of ranges with separate findings
constexpr double kWorthAdvice = 1;     ///< percent: minimum excess for a specific action
constexpr double kMostOfIt = 0.5;      ///< least share of a rank's excess that a reason explains
constexpr double kSameGemms = 0.5;     ///< difference in GEMM kernels per step, below which ranks
                                       ///< have the same GEMMs

/// Returns the scope. Two steps are sufficient for an interval, but not for a statement beyond
/// these steps.
FindingScope scope_of(std::size_t steps) {
  return steps > 2 ? FindingScope::kThisRun : FindingScope::kTheseSteps;
}

/// Narrows the scope of a finding to the recorded steps if the excess of a rank rises or falls over
/// them, as on GPUs that throttle, or is not in all of them (`changing`). `series`: excess of each
/// rank of the finding by step.
void limit_to_steps(std::span<const StepSeries> series, bool changing, const char* what,
                    Finding& out) {
  const char* how = changing ? "changes" : nullptr;
  for (const StepSeries& values : series)
    if (const std::optional<double> slope = trend_of(values)) {
      how = *slope > 0 ? "rises" : "falls";
      break;
    }
  if (how == nullptr)
    return;
  out.scope = FindingScope::kTheseSteps;
  out.evidence +=
      fmt::format("; the {} {} over these steps, so it may be different in others", what, how);
}

/// Sets the value of the finding, and its interval if the excess is in all steps. Returns the
/// interval, or the range over the steps, for the evidence.
std::string set_excess(Finding& out, const RankExcess& e, Unit unit, const char* unit_text) {
  if (!e.changing) {
    set_interval(out, e.excess, e.half_width, unit);
    return fmt::format("95 % CI {} {} over all ranks", range3(*out.low, *out.high), unit_text);
  }
  out.value = e.excess;
  out.unit = unit;
  return fmt::format("mean of {} {} in the steps", range3(e.lowest, e.highest), unit_text);
}

/// Returns "0.52 ms on average, but -0.01 to 1.57 ms in the steps".
std::string unclear_text(const RankExcess& e, const char* unit_text) {
  return fmt::format("{0} {2} on average, but {1} {2} in the steps", number3(e.mean),
                     range3(e.lowest, e.highest), unit_text);
}

std::string these_steps(std::size_t steps) {
  return steps == 1 ? "this one step" : fmt::format("these {} steps", steps);
}

/// Returns ", if most steps have it": the test trims the steps of a rank, so one long step does not
/// count.
const char* in_most(std::size_t steps) {
  return steps > 2 ? ", if most steps have it" : "";
}

/// Returns "1 call" or "1.50 calls".
std::string amount(double value, const char* one, const char* several) {
  const double whole = std::round(value);
  if (std::fabs(value - whole) > 0.005)
    return fmt::format("{} {}", number3(value), several);
  return counted(static_cast<std::size_t>(whole), one, several);
}

/// Returns "this one step" or "3 of these 8 steps".
std::string slowest_in(std::size_t times, std::size_t steps) {
  if (steps > 1)
    return fmt::format("{} of {}", times, these_steps(steps));
  return times > 0 ? these_steps(steps) : "no step";
}

Finding range_finding(const FindingRule& rule, const FoundRanks& range) {
  return range.size() > 1 ? finding_of(rule, "ranks", fmt::format("{}-{}", range.first, range.last))
                          : finding_of(rule, "rank", std::to_string(range.first));
}

/// Returns one finding for all ranges that have no separate finding.
Finding more_ranks(const FindingRule& rule, std::vector<std::int64_t> ranks, const char* what) {
  std::sort(ranks.begin(), ranks.end());
  const std::string list = ranges_text(ranks);
  Finding out = finding_of(rule, "ranks", list);
  out.value = static_cast<double>(ranks.size());
  out.unit = Unit::kCount;
  set_headline(out, fmt::format("{} {}", counted(ranks.size(), "more rank", "more ranks"), what));
  out.evidence = (ranks.size() > 1 ? "Ranks " : "Rank ") + list;
  return out;
}

/// Returns the member with the largest excess in a range.
std::size_t most_of(const FoundRanks& range, const std::vector<FoundRank>& ranks) {
  return *std::max_element(
      range.members.begin(), range.members.end(),
      [&](std::size_t a, std::size_t b) { return ranks[a].excess < ranks[b].excess; });
}

// ---- slow

using SlowByRank = std::map<std::int64_t, std::vector<const SlowRank*>>;

const SlowRank& worst_of(const std::vector<const SlowRank*>& in) {
  return **std::max_element(in.begin(), in.end(), [](const SlowRank* a, const SlowRank* b) {
    return a->percent < b->percent;
  });
}

/// Reports how large an effect the tests could detect: if no rank is found, this does not mean that
/// all ranks are equal.
Finding no_slow_rank(const SlowRanks& slow) {
  const std::vector<TestedRanks>& tested = slow.tested;
  Finding out = finding_of(rules::no_slow_rank, "run", "");
  double least = tested.front().test.least_visible;
  double most = least;
  double percent = 0;
  double dependence = 0;
  std::size_t fewest = tested.front().test.steps;
  std::size_t longest = fewest; // steps
  for (const TestedRanks& t : tested) {
    least = std::min(least, t.test.least_visible);
    most = std::max(most, t.test.least_visible);
    percent = std::max(percent, t.mean_ms > 0 ? t.test.least_visible / t.mean_ms * 100 : 0);
    dependence = std::max(dependence, t.test.dependence);
    fewest = std::min(fewest, t.test.steps);
    longest = std::max(longest, t.test.steps);
  }
  out.detectable = most;
  out.unit = Unit::kMs;
  out.steps = fewest;
  out.scope = scope_of(fewest);
  set_headline(out, "No rank computes significantly longer than its peers" +
                        (tested.size() > 1 ? fmt::format(" in {} configurations", tested.size())
                                           : std::string()));
  std::string steps =
      fewest == longest ? these_steps(fewest) : fmt::format("{} to {} steps", fewest, longest);
  if (tested.size() > 1)
    steps = "per configuration, " + steps;
  if (const auto unclear = std::ranges::max_element(slow.unclear, {}, &SlowRank::percent);
      unclear != slow.unclear.end())
    steps = fmt::format("rank {} computes longer by {}{}; for other ranks, {}", unclear->rank,
                        unclear_text(unclear->excess, "ms"),
                        tested.size() > 1
                            ? " of " + brief(unclear->group->configuration.label, kHeadlineWidth)
                            : std::string(),
                        steps);
  steps = capital(steps);
  if (percent > 100)
    out.evidence = steps +
                   " cannot show a slow rank: the differences between the ranks vary by more "
                   "than a step";
  else
    out.evidence = fmt::format("{} can show an excess of at least {} ms per step ({}){}; an excess "
                               "below {} % is not reported{}",
                               steps, least < most ? range3(least, most) : number3(most),
                               (least < most ? "at most " : "") + percent_text(percent),
                               in_most(longest), kDeviceSpreadPercent, dependence_note(dependence));
  if (tested.size() > 1)
    out.evidence += "; the test is over all ranks of all configurations, so a test of one "
                    "configuration alone (rankscope top) can show less";
  return out;
}

Finding too_few_ranks(std::size_t ranks) {
  Finding out = finding_of(rules::no_slow_rank, "run", "");
  out.steps = 1;
  out.scope = scope_of(1);
  set_headline(out, fmt::format("One step of {} ranks cannot show whether a rank is slow", ranks));
  out.evidence = fmt::format("The test of a single step needs {} peers", kFewestPeers);
  out.action = "Record two steps or more";
  return out;
}

/// Returns GEMM kernels and other kernels of each rank. The latter are the computation without GEMM
/// kernels; their number is unknown.
WorkByRank gemms_and_others(const ConfigurationRanks& group) {
  WorkByRank out;
  for (const RankRecord* rank : group.ranks) {
    WorkSum gemms;
    for (const auto& [name, kernel] : rank->gemm_kernels)
      gemms.kernel_ns += static_cast<double>(kernel.sum_ns);
    const double all_ns = rank->ms(TimeKind::kComputation) * 1e6;
    out[rank->key.rank] = {{"GEMM kernels", gemms},
                           {"other kernels", {std::max(0.0, all_ns - gemms.kernel_ns), 0}}};
  }
  return out;
}

/// The work of a rank in one operator or family, compared with the median of its peers. In ms per
/// step.
struct ComparedWork : WorkExcess {
  std::string name;
  double more_calls = 0; ///< per step
};

/// Returns the median of the peers' values per step; 0 for peers without this work.
double usual_of(const ConfigurationRanks& group, std::int64_t rank, const WorkByRank& work,
                const std::string& name, double (*value)(const WorkSum&)) {
  std::vector<double> peers;
  for (const RankRecord* peer : group.ranks) {
    if (peer->key.rank == rank)
      continue;
    double sum = 0;
    if (const auto found = work.find(peer->key.rank); found != work.end())
      if (const auto at = found->second.find(name); at != found->second.end())
        sum = value(at->second);
    peers.push_back(sum / static_cast<double>(std::max<std::size_t>(peer->steps.size(), 1)));
  }
  return quantile_of(std::move(peers), 0.5);
}

/// Compares the work of the slow rank; the largest excess is first.
std::vector<ComparedWork> compared_work(const SlowRank& slow, const WorkByRank& work) {
  const auto ms = [](const WorkSum& sum) { return ns_to_ms(sum.kernel_ns); };
  const auto calls = [](const WorkSum& sum) { return static_cast<double>(sum.calls); };
  const auto record = std::ranges::find(slow.group->ranks, slow.rank,
                                        [](const RankRecord* r) { return r->key.rank; });
  const auto found = work.find(slow.rank);
  std::vector<ComparedWork> out;
  if (record == slow.group->ranks.end() || found == work.end())
    return out;
  const auto steps = static_cast<double>(std::max<std::size_t>((*record)->steps.size(), 1));
  for (const auto& [name, sum] : found->second) {
    const double usual_ms = usual_of(*slow.group, slow.rank, work, name, ms);
    out.push_back({{usual_ms, ms(sum) / steps - usual_ms},
                   name,
                   calls(sum) / steps - usual_of(*slow.group, slow.rank, work, name, calls)});
  }
  sort_stably(out, std::ranges::greater(), &ComparedWork::excess);
  return out;
}

/// Returns "its operators take 4.8 to 5.2 % longer than those of its peers".
std::string alike_text(const std::vector<ComparedWork>& work) {
  std::vector<std::string> names;
  double least = work.front().percent();
  double most = least;
  for (const ComparedWork& w : work) {
    names.push_back(brief(w.name, 48));
    least = std::min(least, w.percent());
    most = std::max(most, w.percent());
  }
  std::ranges::sort(names);
  const std::string low = fmt::format("{:.1f}", least);
  const std::string high = fmt::format("{:.1f}", most);
  return fmt::format("its {} take {} % longer than those of its peers",
                     names.size() > 2 ? "operators" : joined(names, "and"),
                     low == high ? low : low + " to " + high);
}

/// Returns whether most GEMM time of the rank is in calls whose operator or arguments half of its
/// peers do not have.
bool has_other_gemms(const SlowRank& slow) {
  const auto& ranks = slow.group->ranks;
  const auto own =
      std::ranges::find(ranks, slow.rank, [](const RankRecord* r) { return r->key.rank; });
  if (own == ranks.end())
    return false;
  double all_us = 0;
  double other_us = 0;
  for (const CallGroup& calls : (*own)->calls) {
    if (!calls.gemm)
      continue;
    const auto has = std::ranges::count_if(ranks, [&](const RankRecord* r) {
      return r != *own && std::ranges::find(r->calls, calls.key, &CallGroup::key) != r->calls.end();
    });
    double us = 0;
    for (const CallBlock& block : calls.blocks)
      us += block.us;
    all_us += us;
    other_us += 2 * has < std::ssize(ranks) - 1 ? us : 0;
  }
  return 2 * other_us > all_us;
}

/// Returns whether sums over the traces show what differs within the steps: work outside of the
/// steps, for example an evaluation, hardly differs between the rank and its peers.
bool sums_are_of_steps(const SlowRank& slow) {
  constexpr double kMostOutside = 0.1; // of the excess
  std::vector<double> peers;           // computation outside of the steps, ms per step
  double own = 0;
  for (const RankRecord* rank : slow.group->ranks) {
    double outside_ms = rank->ms(TimeKind::kComputation);
    for (const StepTimes& step : rank->steps)
      outside_ms -= ns_to_ms(step.ns[static_cast<std::size_t>(TimeKind::kComputation)]);
    outside_ms /= static_cast<double>(std::max<std::size_t>(rank->steps.size(), 1));
    if (rank->key.rank == slow.rank)
      own = outside_ms;
    else
      peers.push_back(outside_ms);
  }
  return std::fabs(own - quantile_of(std::move(peers), 0.5)) <= kMostOutside * slow.excess.excess;
}

/// Returns the action for a slow rank. It says only what the comparison of its work with that of
/// its peers shows.
std::string slow_action(const SlowRank& most, const WorkByRank& operators) {
  const std::string rank = fmt::format("Rank {}: ", most.rank);
  if (most.percent <= kWorthAdvice)
    return rank + "repeat the run first, because GPUs of the same model can differ by this much";
  if (!sums_are_of_steps(most))
    return rank + "compare its kernels within the steps with those of its peers (rankscope why); "
                  "its work outside of the steps differs too";
  if (most.more_gemms >= kSameGemms)
    return rank + fmt::format("it runs {} more per step than its peers, so check its share of the "
                              "work first",
                              amount(most.more_gemms, "GEMM kernel", "GEMM kernels"));
  if (has_other_gemms(most))
    return rank + "its GEMMs have other shapes than those of its peers, so check its share of the "
                  "data first";
  const std::vector<ComparedWork> work =
      compared_work(most, operators.empty() ? gemms_and_others(*most.group) : operators);
  const std::vector<ComparedWork> large = large_work(work);
  double excess_ms = 0;
  for (const ComparedWork& w : large)
    excess_ms += w.excess;
  if (longer_alike(large) && excess_ms >= kMostOfIt * most.excess.excess)
    return rank + alike_text(large) + ", so check its GPU's clocks, power and temperature";
  if (work.empty() || !(work.front().excess > 0))
    return rank + "compare its kernels with those of its peers: rankscope report, sheet "
                  "kernel_summary";
  const ComparedWork& first = work.front();
  const std::string name = brief(first.name, 48);
  if (first.more_calls >= kSameGemms)
    return rank + fmt::format("it runs {} of {} more per step than its peers, so check its share "
                              "of the work first",
                              amount(first.more_calls, "call", "calls"), name);
  const std::string percent =
      first.usual > 0 ? fmt::format(" ({})", percent_text(first.percent())) : std::string();
  const std::string longer = number3(first.excess);
  if (operators.empty())
    return rank +
           fmt::format("its {} take {} ms longer per step than those of its peers{}; rankscope "
                       "top shows which operator",
                       name, longer, percent);
  return rank +
         fmt::format("{} takes {} ms longer per step than on its peers{}; compare its shapes "
                     "and kernels (rankscope report, sheet ops_summary)",
                     name, longer, percent);
}

/// Returns the step in which the computation of the rank is longest.
std::optional<FindingPlace> longest_step(const SlowRank& slow) {
  const StepTimes* most = nullptr;
  const auto computes = [](const StepTimes& step) {
    return step.ns[static_cast<std::size_t>(TimeKind::kComputation)];
  };
  for (const RankRecord* rank : slow.group->ranks)
    for (const StepTimes& step : rank->steps)
      if (rank->key.rank == slow.rank && step.end_ns > step.start_ns &&
          (most == nullptr || computes(step) > computes(*most)))
        most = &step;
  return most != nullptr ? std::optional(FindingPlace{slow.rank, most->start_ns, most->end_ns})
                         : std::nullopt;
}

/// Returns the excess in computation by step, of those of the ranks that are in the group of
/// `most`.
std::vector<StepSeries> excess_by_step(const FoundRanks& range, const SlowRank& most) {
  std::vector<StepSeries> all = against_peers(common_steps(*most.group, TimeKind::kComputation));
  std::vector<StepSeries> out;
  for (std::size_t r = 0; r < all.size(); ++r)
    if (const std::int64_t rank = most.group->ranks[r]->key.rank;
        rank >= range.first && rank <= range.last)
      out.push_back(std::move(all[r]));
  return out;
}

Finding slow_rank(const FoundRanks& range, const SlowRank& most, const RankTest& test,
                  const std::string& where, const WorkByRank& operators, std::int64_t per_node) {
  const RankExcess& e = most.excess;
  const bool several = range.size() > 1;
  Finding out = range_finding(rules::slow_rank, range);
  const std::string excess = set_excess(out, e, Unit::kMs, "ms");
  out.cost_ms = e.excess;
  out.place = longest_step(most);
  out.steps = test.steps;
  out.scope = scope_of(test.steps);
  out.detectable = test.least_visible;
  set_headline(out,
               fmt::format("{} {} {} ms longer per step than {} peers ({})",
                           capital(range_name(range, per_node)), several ? "compute" : "computes",
                           several ? range3(range.least, range.most) : number3(e.excess),
                           several ? "their" : "its", percent_text(most.percent)));
  out.evidence =
      fmt::format("{}; slowest in {}{}{}",
                  several ? fmt::format("Rank {}: {}", most.rank, excess) : capital(excess),
                  slowest_in(e.most, test.steps), where, dependence_note(test.dependence));
  if (most.waited)
    out.evidence +=
        fmt::format("; the collectives of its peers last {} ms longer per step than its own ({})",
                    number3(most.waited->difference), range3(*most.waited));
  if (const auto slower = contention_percent(contention_of(*most.group), 1))
    out.evidence += fmt::format("; GEMMs are {} slower under collectives, and the peers wait "
                                "longer in them, so the rank itself may lose more time",
                                percent_text(slower->difference));
  limit_to_steps(excess_by_step(range, most), e.changing, "excess", out);
  out.action = slow_action(most, operators);
  return out;
}

// ---- late

Finding no_late_rank(const LateRanks& late) {
  const RankTest& test = late.test;
  Finding out = finding_of(rules::no_late_rank, "run", "");
  out.detectable = test.least_visible;
  out.unit = Unit::kUs;
  out.steps = test.steps;
  out.scope = scope_of(test.steps);
  set_headline(out, "No rank starts collectives significantly later than the other members");
  std::string steps = these_steps(test.steps);
  const LateRank* most = nullptr;
  for (const LateRank& rank : late.ranks)
    if (test.is_unclear(rank.late) && (most == nullptr || rank.late.excess > most->late.excess))
      most = &rank;
  if (most != nullptr)
    steps = fmt::format("rank {} starts later by {}; for other ranks, {}", most->rank->rank,
                        unclear_text(most->late, "\u00b5s"), steps);
  out.evidence = fmt::format("{} can show a lateness of at least {} \u00b5s{}{}", capital(steps),
                             number3(test.least_visible), in_most(test.steps),
                             dependence_note(test.dependence));
  return out;
}

/// A rank for which a late rank waits, and the group in which it does.
struct WaitsFor {
  std::int64_t rank = 0;
  std::string group;
};

/// Returns whether a rank of `group` is not in `than`. If all ranks are, they leave each collective
/// of `than` together, so waiting in it does not make one of them late in `group`.
bool has_other_ranks(const LateRanks& late, const std::string& group, const std::string& than) {
  return std::ranges::any_of(late.ranks, [&](const LateRank& r) {
    return r.rank->late_us_by_group.contains(group) && !r.rank->late_us_by_group.contains(than);
  });
}

/// Returns the late rank for which this rank waits in a group, and is therefore late in its other
/// groups: a rank that is more than twice as late there, and for at least half of that lateness. Of
/// several, the latest; nullopt: none.
std::optional<WaitsFor> waits_for(const Straggler& rank, const LateRanks& late) {
  std::optional<WaitsFor> out;
  double most = 0;
  for (const auto& [group, own_us] : rank.late_us_by_group) {
    double late_us = 0, from_here_us = 0; // in other groups; of these, what waiting here may cause
    for (const auto& [other, us] : rank.late_us_by_group)
      if (other != group && us > 0) {
        late_us += us;
        from_here_us += has_other_ranks(late, other, group) ? us : 0;
      }
    if (!(from_here_us > 0) || from_here_us < kMostOfIt * late_us)
      continue;
    for (const LateRank& other : late.ranks) {
      const auto at = other.rank->late_us_by_group.find(group);
      if (!other.late.significant || at == other.rank->late_us_by_group.end() ||
          at->second <= std::max(most, 2 * own_us) || at->second < kMostOfIt * from_here_us)
        continue;
      most = at->second;
      out = WaitsFor{other.rank->rank, group};
    }
  }
  return out;
}

/// Returns whether ranks wait for each other in a circle that contains `rank`.
bool waits_for_itself(std::int64_t rank, std::int64_t other, const LateRanks& late) {
  for (std::size_t k = 0; k < late.ranks.size() && other != rank; ++k) {
    const auto at =
        std::ranges::find(late.ranks, other, [](const LateRank& r) { return r.rank->rank; });
    const std::optional<WaitsFor> next = waits_for(*at->rank, late);
    if (!next)
      return false;
    other = next->rank;
  }
  return other == rank;
}

/// Returns the action for a late rank: perhaps only its link is slow, or it waits for another late
/// rank, and its work is normal. `late`: all ranks.
std::string late_action(const Straggler& late_rank, const LateRanks& late,
                        std::span<const SlowGroup> links) {
  const std::int64_t rank = late_rank.rank;
  for (const SlowGroup& link : links) {
    const std::vector<std::int64_t> ranks = numbers_in(link.row->group_ranks);
    if (std::find(ranks.begin(), ranks.end(), rank) != ranks.end())
      return fmt::format("Rank {}: check the slow link of its group {} first; collectives over "
                         "this link take longer, and the work after them starts later",
                         rank, brief(link.row->group, 24));
  }
  if (const auto other = waits_for(late_rank, late);
      other && !waits_for_itself(rank, other->rank, late))
    return fmt::format("Rank {}: look at rank {} first, for which it waits in group {}", rank,
                       other->rank, brief(other->group, 24));
  return fmt::format("Rank {}: find the work before its collectives that takes longer: compute, "
                     "host, data loading",
                     rank);
}

/// `series`: lateness of each rank of the range by step.
Finding late_rank(const FoundRanks& range, const LateRank& most, std::int64_t per_node,
                  const LateRanks& late, std::span<const SlowGroup> links,
                  std::span<const StepSeries> series) {
  const RankExcess& e = most.late;
  const RankTest& test = late.test;
  const bool several = range.size() > 1;
  Finding out = range_finding(rules::late_rank, range);
  const std::string excess = set_excess(out, e, Unit::kUs, "\u00b5s");
  if (test.steps > 1) // without profiler steps, a trace counts as one step, so there is no cost per
                      // step
    out.cost_ms = e.excess / 1000 * static_cast<double>(most.rank->collectives) /
                  static_cast<double>(test.steps);
  if (most.rank->latest.end_ns > most.rank->latest.start_ns)
    out.place = most.rank->latest;
  out.steps = test.steps;
  out.scope = scope_of(test.steps);
  out.detectable = test.least_visible;
  set_headline(out, fmt::format("{} {} collectives {} \u00b5s later than the other members",
                                capital(range_name(range, per_node)), several ? "start" : "starts",
                                several ? range3(range.least, range.most) : number3(e.excess)));
  out.evidence = fmt::format(
      "{}, from the durations of {} collectives in {}; last to start in {:.0f} % of them{}",
      several ? fmt::format("Rank {}: {}", most.rank->rank, excess) : capital(excess),
      most.rank->collectives, counted(test.steps, "step", "steps"),
      most.rank->percent_of(most.rank->shortest), dependence_note(test.dependence));
  limit_to_steps(series, e.changing, "lateness", out);
  out.action = late_action(*most.rank, late, links);
  return out;
}

} // namespace

std::vector<Finding> slow_rank_findings(const SlowRanks& slow, const WorkByRank& operators,
                                        std::int64_t per_node) {
  std::vector<Finding> out;
  if (slow.ranks.empty()) {
    if (!slow.tested.empty())
      out.push_back(no_slow_rank(slow));
    else if (slow.too_few > 0)
      out.push_back(too_few_ranks(slow.too_few));
    return out;
  }
  SlowByRank by_rank;
  for (const SlowRank& s : slow.ranks)
    by_rank[s.rank].push_back(&s);
  std::vector<FoundRank> ranks; // for each rank, the configuration in which it is slowest
  std::vector<const SlowRank*> worst;
  for (const auto& [rank, in] : by_rank) {
    worst.push_back(&worst_of(in));
    ranks.push_back({rank, worst.back()->excess.excess});
  }
  std::vector<std::int64_t> more;
  for (const FoundRanks& range : in_ranges(ranks)) {
    if (out.size() == kMostRanges) {
      for (const std::size_t i : range.members)
        more.push_back(ranks[i].rank);
      continue;
    }
    const SlowRank& most = *worst[most_of(range, ranks)];
    const auto test = std::find_if(slow.tested.begin(), slow.tested.end(),
                                   [&](const TestedRanks& t) { return t.group == most.group; });
    out.push_back(slow_rank(
        range, most, test->test,
        slow.tested.size() > 1 ? fmt::format("; in {} of {} configurations, most in {}",
                                             by_rank.at(most.rank).size(), slow.tested.size(),
                                             brief(most.group->configuration.label, kHeadlineWidth))
                               : std::string(),
        operators, per_node));
  }
  if (!more.empty())
    out.push_back(more_ranks(rules::slow_rank, std::move(more),
                             "computing significantly longer than their peers"));
  return out;
}

std::vector<Finding> late_rank_findings(const LateRanks& late, std::int64_t per_node,
                                        std::span<const SlowGroup> links) {
  std::vector<Finding> out;
  if (late.ranks.empty())
    return out;
  std::vector<const LateRank*> significant;
  std::vector<FoundRank> ranks;
  for (const LateRank& r : late.ranks)
    if (r.late.significant) {
      significant.push_back(&r);
      ranks.push_back({r.rank->rank, r.late.excess});
    }
  if (ranks.empty()) {
    out.push_back(no_late_rank(late));
    return out;
  }
  std::vector<std::int64_t> more;
  for (const FoundRanks& range : in_ranges(ranks)) {
    std::vector<StepSeries> series;
    for (const std::size_t i : range.members) {
      series.push_back(significant[i]->rank->late_us);
      if (out.size() == kMostRanges)
        more.push_back(ranks[i].rank);
    }
    if (out.size() < kMostRanges)
      out.push_back(
          late_rank(range, *significant[most_of(range, ranks)], per_node, late, links, series));
  }
  if (!more.empty())
    out.push_back(
        more_ranks(rules::late_rank, std::move(more), "starting collectives significantly late"));
  return out;
}

} // namespace rankscope
