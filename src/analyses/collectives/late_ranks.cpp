#include "analyses/collectives/late_ranks.h"

#include "analyses/ranks/rank_ranges.h"
#include "base/number_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace rankscope {
namespace {

constexpr double kClockUs = 0.001;         ///< resolution of durations
constexpr std::size_t kMostLateRanges = 4; ///< that have a sentence each

std::string_view steps_word(std::size_t steps) {
  return steps == 1 ? "step" : "steps";
}

std::string late_sentence(const FoundRanks& range, const std::vector<LateRank>& late,
                          const CollectiveFacts& facts, std::size_t steps) {
  const LateRank& most = late[*std::max_element(
      range.members.begin(), range.members.end(),
      [&](std::size_t a, std::size_t b) { return late[a].late.excess < late[b].late.excess; })];
  const RankExcess& e = most.late;
  const bool several = range.size() > 1;
  return fmt::format("{} start{} collectives {} us later than the other members ({}95 % CI {:.1f} "
                     "to {:.1f} us over "
                     "all ranks; by the durations of {} collectives in {} {}); {} last in {:.0f} %",
                     range_name(range, facts.per_node), several ? "" : "s",
                     several ? fmt::format("{:.1f} to {:.1f}", range.least, range.most)
                             : fmt::format("{:.1f}", e.excess),
                     several ? fmt::format("rank {}: ", most.rank->rank) : std::string(),
                     e.excess - e.half_width, e.excess + e.half_width, most.rank->collectives,
                     steps, steps_word(steps),
                     several ? fmt::format("rank {} is", most.rank->rank) : "it is",
                     most.rank->percent_of(most.rank->shortest));
}

} // namespace

LateRanks late_ranks(const CollectiveFacts& facts) {
  std::vector<std::vector<StepSeries>> run(1);
  for (const Straggler& s : facts.stragglers)
    run.front().push_back(s.late_us);
  LateRanks out;
  out.test = std::move(test_ranks(run, kClockUs).front());
  for (std::size_t r = 0; r < out.test.ranks.size(); ++r)
    out.ranks.push_back({&facts.stragglers[r], out.test.ranks[r]});
  out.test.ranks.clear();
  return out;
}

std::vector<CollectiveSentence> late_rank_findings(const CollectiveFacts& facts) {
  const LateRanks found = late_ranks(facts);
  std::vector<CollectiveSentence> out;
  if (found.ranks.empty())
    return out;
  std::vector<LateRank> late;
  std::vector<FoundRank> ranks;
  for (const LateRank& r : found.ranks)
    if (r.late.significant) {
      late.push_back(r);
      ranks.push_back({r.rank->rank, r.late.excess});
    }
  const RankTest& test = found.test;
  const std::string depend = dependence_note(test.dependence);
  if (late.empty()) {
    out.push_back({fmt::format("no rank starts collectives significantly later than the other "
                               "members; {} {} can show a lateness of {:.1f} us or more{}",
                               test.steps == 1 ? "this" : "these",
                               test.steps == 1 ? "one step" : fmt::format("{} steps", test.steps),
                               test.least_visible, depend),
                   "straggler_summary"});
    return out;
  }
  std::vector<std::int64_t> more;
  for (const FoundRanks& range : in_ranges(ranks)) {
    if (out.size() < kMostLateRanges)
      out.push_back({late_sentence(range, late, facts, test.steps) + depend, "straggler_summary"});
    else
      for (const std::size_t i : range.members)
        more.push_back(ranks[i].rank);
  }
  if (!more.empty()) {
    std::sort(more.begin(), more.end());
    out.push_back({fmt::format("{} more ranks start collectives significantly late: {}",
                               more.size(), ranges_text(more)),
                   "straggler_summary"});
  }
  return out;
}

} // namespace rankscope
