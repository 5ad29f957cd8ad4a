#include "analyses/job/stragglers.h"

#include "base/sort.h"
#include "base/statistics.h"
#include "base/units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <numeric>

namespace rankscope {
namespace {

constexpr std::array<std::string_view, 4> kGroupNames = {"operator", "rank", "dp-rank", "stage"};
constexpr std::size_t kMostShares = 64;
constexpr double kWorstRanks = 0.03;

class Stragglers {
public:
  Stragglers(const JobRun& run, const CountedSteps& clock, const JobEdit& ideal,
             const WorkerGrid* grid)
      : run_(run), clock_(clock), grid_(grid), ideal_(ideal), plain_(JobEdit::of(run.graph)) {
    clear_delays(run.graph, plain_);
    plain_ends_ = step_ends(run, plain_);
  }

  StragglerFacts facts() {
    out_.ranks = run_.ranks.size();
    set_times();
    add_operators();
    if (grid_ != nullptr) {
      add_shares(StragglerGroup::kDataParallel, grid_->data_parallel);
      add_shares(StragglerGroup::kStage, grid_->stage);
    } else if (run_.ranks.size() > 1) {
      std::vector<std::int64_t> ranks;
      for (const RankGraph& rank : run_.ranks)
        ranks.push_back(rank.rank);
      out_.ranks_left_out = add_shares(StragglerGroup::kRank, ranks);
    }
    set_effects();
    return std::move(out_);
  }

private:
  using Chosen = std::function<bool(NodeId)>;

  void set_times() {
    const std::vector<std::int64_t> now = step_ends(run_, {}), ideal = step_ends(run_, ideal_);
    out_.measured_ms = clock_.mean_ms(now);
    out_.without_delays_ms = clock_.mean_ms(plain_ends_);
    out_.ideal_ms = clock_.mean_ms(ideal);
    const std::vector<double> measured = clock_.each_ms(now), without = clock_.each_ms(plain_ends_);
    ideal_steps_ = clock_.each_ms(ideal);
    for (std::size_t k = 0; k < measured.size(); ++k) {
      const std::size_t row = clock_.first() + k;
      out_.steps.push_back({row < run_.step_numbers.size() ? run_.step_numbers[row] : 0,
                            measured[k], without[k], ideal_steps_[k]});
    }
  }

  /// Returns the step ends of `to` with the durations of the chosen nodes from `from`.
  [[nodiscard]] std::vector<std::int64_t> ends_with(const JobEdit& to, const JobEdit& from,
                                                    const Chosen& chosen) const {
    JobEdit edit = to;
    for (NodeId n = 0; n < run_.graph.size(); ++n)
      if (chosen(n))
        edit.dur_ns[n] = from.dur_ns[n];
    return step_ends(run_, edit);
  }

  void add_share(StragglerGroup group, std::string name, const Chosen& chosen) {
    StragglerShare share;
    share.group = group;
    share.name = std::move(name);
    const std::vector<std::int64_t> ends = ends_with(ideal_, plain_, chosen);
    share.cost_ms = clock_.mean_ms(ends) - out_.ideal_ms;
    share.slowdown = out_.ideal_ms > 0 ? 1 + share.cost_ms / out_.ideal_ms : 1;
    share.step_slow = clock_.each_ms(ends);
    for (std::size_t k = 0; k < share.step_slow.size(); ++k)
      share.step_slow[k] = ideal_steps_[k] > 0 ? share.step_slow[k] / ideal_steps_[k] : 1;
    out_.shares.push_back(std::move(share));
  }
  void sort_shares(StragglerGroup group) {
    const auto begin = std::ranges::find_if(
        out_.shares, [group](const StragglerShare& s) { return s.group == group; });
    std::stable_sort(
        begin, out_.shares.end(),
        [](const StragglerShare& a, const StragglerShare& b) { return a.slowdown > b.slowdown; });
  }

  /// Returns the keys of `group` to compute. If there are too many, returns those with the most
  /// time above the usual time.
  template <class Key, class GroupOf>
  [[nodiscard]] std::vector<Key> most_excess(const GroupOf& group, std::size_t& left_out) const {
    std::map<Key, double> excess;
    for (NodeId n = 0; n < run_.graph.size(); ++n)
      if (run_.is_activity(n))
        excess[group(n)] +=
            static_cast<double>(std::max<std::int64_t>(0, plain_.dur_ns[n] - ideal_.dur_ns[n]));
    std::vector<Key> keys;
    for (const auto& [key, ns] : excess)
      keys.push_back(key);
    if (keys.size() > kMostShares) {
      sort_stably(keys, [&](const Key& a, const Key& b) { return excess.at(a) > excess.at(b); });
      left_out = keys.size() - kMostShares;
      keys.resize(kMostShares);
      std::ranges::sort(keys);
    }
    return keys;
  }

  void add_operators() {
    // by rank and activity there
    std::map<std::string, std::uint32_t> number;
    std::vector<std::vector<std::uint32_t>> operators(run_.ranks.size());
    for (std::size_t r = 0; r < run_.ranks.size(); ++r)
      for (const Activity& a : run_.ranks[r].activities)
        operators[r].push_back(
            number
                .emplace(operator_name(run_.ranks[r], a), static_cast<std::uint32_t>(number.size()))
                .first->second);
    std::vector<std::string> names(number.size());
    for (const auto& [name, k] : number)
      names[k] = name;
    const auto group = [&](NodeId n) { return operators[run_.rank_of[n]][run_.node(n).activity]; };
    for (const std::uint32_t k : most_excess<std::uint32_t>(group, out_.operators_left_out))
      add_share(StragglerGroup::kOperator, names[k],
                [&](NodeId n) { return run_.is_activity(n) && group(n) == k; });
    sort_shares(StragglerGroup::kOperator);
  }
  [[nodiscard]] static std::string operator_name(const RankGraph& rank, const Activity& a) {
    switch (a.kind) {
    case ActivityKind::kHost:
      return "host";
    case ActivityKind::kCall:
      return "runtime calls";
    case ActivityKind::kCopy:
      return "copies";
    case ActivityKind::kSet:
      return "fills";
    default:
      return std::string(rank.text(a.op == kEmptyStr ? a.name : a.op));
    }
  }

  /// Adds a share for each value in `values`, which has one value for each rank. Returns the number
  /// of omitted values.
  std::size_t add_shares(StragglerGroup group, const std::vector<std::int64_t>& values) {
    std::size_t left_out = 0;
    const auto value_of = [&](NodeId n) { return values[run_.rank_of[n]]; };
    for (const std::int64_t value : most_excess<std::int64_t>(value_of, left_out)) {
      add_share(group, fmt::format("{}", value),
                [&](NodeId n) { return values[run_.rank_of[n]] == value; });
      slow_[{group, value}] = out_.shares.back().slowdown;
    }
    sort_shares(group);
    return left_out;
  }

  /// Returns the slowdown of a rank. In a grid, this is the smaller one of its column's and its
  /// row's slowdown.
  [[nodiscard]] double score(std::uint32_t r) const {
    const auto slowdown = [&](StragglerGroup group, std::int64_t value) {
      const auto at = slow_.find({group, value});
      return at == slow_.end() ? 0 : at->second;
    };
    if (grid_ == nullptr)
      return slowdown(StragglerGroup::kRank, run_.ranks[r].rank);
    return std::min(slowdown(StragglerGroup::kDataParallel, grid_->data_parallel[r]),
                    slowdown(StragglerGroup::kStage, grid_->stage[r]));
  }

  void set_effects() {
    const std::size_t ranks = run_.ranks.size();
    if (ranks < 2 || out_.without_delays_ms <= out_.ideal_ms)
      return;
    std::vector<std::uint32_t> order(ranks);
    std::iota(order.begin(), order.end(), 0U);
    sort_stably(order, [this](auto a, auto b) { return score(a) > score(b); });
    order.resize(
        static_cast<std::size_t>(std::ceil(static_cast<double>(ranks) * kWorstRanks - 1e-9)));
    out_.worst_ranks = effect_of_ranks(order, ranks);
    if (grid_ == nullptr)
      return;
    const std::int64_t last = *std::ranges::max_element(grid_->stage);
    std::vector<std::uint32_t> members;
    for (std::uint32_t r = 0; r < ranks; ++r)
      if (grid_->stage[r] == last)
        members.push_back(r);
    if (members.size() < ranks)
      out_.last_stage = effect_of_ranks(members, static_cast<std::size_t>(last + 1));
    set_effects_of_work();
  }
  /// Sets the effects of unequal micro-batches and of uneven stages.
  void set_effects_of_work() {
    if (grid_->computations.empty())
      return;
    out_.correlation = micro_batch_correlation(run_, *grid_, clock_);
    JobEdit equal = plain_;
    equalize_micro_batches(run_, *grid_, equal);
    out_.equal_batches = effect_of(step_ends(run_, equal), 1);
    if (!out_.last_stage)
      return;
    JobEdit even = plain_;
    balance_stages(run_, *grid_, even);
    out_.even_stages = effect_of(step_ends(run_, even), 1);
    balance_stages(run_, *grid_, equal);
    out_.equal_and_even = effect_of(step_ends(run_, equal), 1);
  }
  /// Returns the effect of a replay with these step ends. `choices`: the number of sets of
  /// activities from which the replayed set was chosen, for Bonferroni's correction.
  [[nodiscard]] StragglerEffect effect_of(const std::vector<std::int64_t>& removed,
                                          std::size_t choices) const {
    StragglerEffect out;
    out.gain_ms = out_.without_delays_ms - clock_.mean_ms(removed);
    out.removed = out.gain_ms / (out_.without_delays_ms - out_.ideal_ms);
    if (const std::optional<MeanDifference> interval =
            clock_.difference_ms(plain_ends_, removed, 0.05 / static_cast<double>(choices))) {
      out.low_ms = interval->difference - interval->half_width;
      out.high_ms = interval->difference + interval->half_width;
    }
    return out;
  }
  /// Returns the effect of these ranks, with their usual durations.
  [[nodiscard]] StragglerEffect effect_of_ranks(const std::vector<std::uint32_t>& ranks,
                                                std::size_t choices) const {
    std::vector<bool> chosen(run_.ranks.size(), false);
    for (const std::uint32_t r : ranks)
      chosen[r] = true;
    const Chosen is_chosen = [&](NodeId n) { return bool(chosen[run_.rank_of[n]]); };
    StragglerEffect out = effect_of(ends_with(plain_, ideal_, is_chosen), choices);
    for (const std::uint32_t r : ranks)
      out.ranks.push_back(run_.ranks[r].rank);
    std::ranges::sort(out.ranks);
    out.added = (clock_.mean_ms(ends_with(ideal_, plain_, is_chosen)) - out_.ideal_ms) /
                (out_.without_delays_ms - out_.ideal_ms);
    return out;
  }

  const JobRun& run_;
  const CountedSteps& clock_;
  const WorkerGrid* grid_;
  const JobEdit& ideal_;
  JobEdit plain_; ///< measured durations, without delays
  std::vector<std::int64_t> plain_ends_;
  StragglerFacts out_;
  std::vector<double> ideal_steps_;
  std::map<std::pair<StragglerGroup, std::int64_t>, double> slow_;
};

/// Returns the usual duration of each node in ns: the mean at its place, or the median for
/// communication.
std::vector<std::int64_t> usual_durations(const JobRun& run, const RunPlaces& places) {
  std::vector<std::int64_t> out(run.graph.size());
  for (NodeId n = 0; n < run.graph.size(); ++n)
    out[n] = run.graph.dur_ns(n);
  const PlaceNodes nodes(places);
  std::vector<double> durations;
  for (std::uint32_t place = 0; place < nodes.count(); ++place) {
    durations.clear();
    double sum = 0;
    for (const NodeId n : nodes.at(place)) {
      durations.push_back(static_cast<double>(run.graph.dur_ns(n)));
      sum += durations.back();
    }
    const bool communication =
        run.activity(nodes.at(place).front()).kind == ActivityKind::kCollective;
    const double usual = communication ? quantile_of(std::move(durations), 0.5)
                                       : sum / static_cast<double>(nodes.at(place).size());
    for (const NodeId n : nodes.at(place))
      out[n] = std::llround(usual);
  }
  return out;
}

} // namespace

std::string_view straggler_group_name(StragglerGroup group) {
  return kGroupNames[static_cast<std::size_t>(group)];
}

JobEdit ideal_edit(const JobRun& run, const RunPlaces& places) {
  JobEdit edit = JobEdit::of(run.graph);
  edit.dur_ns = usual_durations(run, places);
  clear_delays(run.graph, edit);
  return edit;
}

StragglerFacts stragglers_of(const JobRun& run, const CountedSteps& clock, const JobEdit& ideal,
                             const WorkerGrid* grid) {
  return Stragglers(run, clock, ideal, grid).facts();
}

} // namespace rankscope
