#include "analyses/compare/what_changed.h"

#include "base/sample_intervals.h"
#include "base/sort.h"
#include "base/units.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace rankscope {
namespace {

constexpr double kPlaceNear = 0.05;     ///< fraction of the launches of a step
constexpr double kPlaceEqual = 0.02;    ///< smaller fraction, used if the operator differs
constexpr double kLaunchesEqual = 0.02; ///< fraction of the number of launches: traces may lack
                                        ///< some

/// Own times of both runs in milliseconds, one value per step.
struct Samples {
  std::vector<double> base, test;
};

/// A list of rows with their samples, before they are judged.
struct WhatChangedRows {
  std::vector<Change> rows;
  std::vector<Samples> samples;

  std::size_t add(Change row, const StepWork& base, const StepWork& test) {
    rows.push_back(std::move(row));
    samples.push_back(
        {std::vector<double>(base.steps.size()), std::vector<double>(test.steps.size())});
    return rows.size() - 1;
  }
};

void add_samples(std::vector<double>& to, const std::vector<std::int64_t>& ns, std::size_t ranks) {
  for (std::size_t s = 0; s < to.size(); ++s)
    to[s] += ns_to_ms(ns[s]) / static_cast<double>(ranks);
}

std::vector<double> total_samples(const StepWork& run) {
  std::vector<double> out(run.steps.size());
  add_samples(out, run.total_ns, run.ranks);
  return out;
}

/// Returns rows for kernels, collectives, copies and idle time; a replaced kernel is one row.
WhatChangedRows work_rows(const StepWork& base, const StepWork& test) {
  std::map<WorkKey, const WorkKey*> now_named; // baseline key by the test's key
  std::map<WorkKey, const WorkKey*> then_named;
  const std::vector<std::pair<WorkKey, WorkKey>> replaced = replaced_kernels(base, test);
  for (const auto& [old_key, new_key] : replaced) {
    now_named.emplace(new_key, &old_key);
    then_named.emplace(old_key, &new_key);
  }
  WhatChangedRows out;
  const auto add = [&](const WorkKey& key, const Work* then, const Work* now) {
    Change row;
    row.what = step_work_kind_name(key.kind);
    row.name = key.name;
    row.op = key.op;
    row.shapes = key.shapes;
    if (has_launches(key.kind)) {
      row.state = then == nullptr  ? ChangeState::kNew
                  : now == nullptr ? ChangeState::kVanished
                                   : ChangeState::kBoth;
      row.base_launches = then == nullptr ? 0 : then->launches;
      row.test_launches = now == nullptr ? 0 : now->launches;
    }
    const std::size_t at = out.add(std::move(row), base, test);
    if (then != nullptr)
      add_samples(out.samples[at].base, then->self_ns, base.ranks);
    if (now != nullptr)
      add_samples(out.samples[at].test, now->self_ns, test.ranks);
  };
  for (const auto& [key, work] : base.work) {
    if (then_named.contains(key))
      continue;
    const auto found = test.work.find(key);
    add(key, &work, found == test.work.end() ? nullptr : &found->second);
  }
  for (const auto& [key, work] : test.work) {
    if (const auto old = now_named.find(key); old != now_named.end()) {
      add(key, &base.work.at(*old->second), &work);
      out.rows.back().state = ChangeState::kReplaced;
      out.rows.back().old_name = old->second->name;
    } else if (!base.work.contains(key)) {
      add(key, nullptr, &work);
    }
  }
  return out;
}

/// Returns rows for operators, and one row for each kind without operators.
WhatChangedRows operator_rows(const StepWork& base, const StepWork& test) {
  WhatChangedRows out;
  std::map<std::pair<std::string_view, std::string>, std::size_t> places; // kinds without operators
  const auto add_run = [&](const StepWork& run, std::vector<double> Samples::*side,
                           std::optional<double> Change::*launches) {
    for (const auto& [key, work] : run.work) {
      const bool launched = has_launches(key.kind);
      const std::string_view what = launched ? "operator" : step_work_kind_name(key.kind);
      const auto [at, fresh] = places.try_emplace({what, key.op}, 0);
      if (fresh) {
        Change row;
        row.what = what;
        row.name = key.kind == StepWorkKind::kIdle ? kJoinedIdle.name
                   : !launched                     ? key.name
                   : key.op.empty()                ? std::string("(no operator)")
                                                   : key.op;
        at->second = out.add(std::move(row), base, test);
      }
      add_samples(out.samples[at->second].*side, work.self_ns, run.ranks);
      if (launched)
        (out.rows[at->second].*launches) =
            (out.rows[at->second].*launches).value_or(0) + work.launches;
    }
  };
  add_run(base, &Samples::base, &Change::base_launches);
  add_run(test, &Samples::test, &Change::test_launches);
  for (Change& row : out.rows) {
    if (row.what != "operator")
      continue;
    row.state = !row.base_launches   ? ChangeState::kNew
                : !row.test_launches ? ChangeState::kVanished
                                     : ChangeState::kBoth;
  }
  return out;
}

void set_interval(Change& row, const std::optional<MeanDifference>& interval, double divided_by) {
  if (!interval)
    return;
  row.low_ms = (interval->difference - interval->half_width) / divided_by;
  row.high_ms = (interval->difference + interval->half_width) / divided_by;
}

/// Sets `reported` if the interval excludes 0 and the difference exceeds the threshold in percent
/// of the baseline's time.
void set_reported(Change& row, const JudgeRule& rule) {
  const bool significant = row.low_ms && (*row.low_ms > 0 || *row.high_ms < 0);
  const bool large =
      std::fabs(row.test_ms - row.base_ms) > rule.threshold_percent / 100 * row.base_ms;
  row.reported = significant && large;
  row.below_threshold = significant && !large;
}

/// Returns the statistics over steps, with at least the scatter that the clock's resolution causes.
SampleStats stats_of(const std::vector<double>& ms, const JudgeRule& rule) {
  return with_rounding(sample_stats(ms), ns_to_ms(rule.clock_ns));
}

void judge_rows(WhatChangedRows& list, const JudgeRule& rule, std::size_t judged, bool& assumed) {
  for (std::size_t i = 0; i < list.rows.size(); ++i) {
    Change& row = list.rows[i];
    const SampleStats base = stats_of(list.samples[i].base, rule);
    const SampleStats test = stats_of(list.samples[i].test, rule);
    row.base_ms = base.mean;
    row.test_ms = test.mean;
    row.difference_ms = test.mean - base.mean;
    set_interval(row, difference_of(base, test, rule, judged, assumed), 1);
    set_reported(row, rule);
  }
}

/// Compares each step of the test with the baseline's mean. Step times have heavy tails, so a
/// normal interval is too narrow. So the interval also extends at least kGap times as far from the
/// mean as any step of the baseline. With fewer than kFewestBefore baseline steps, there is no
/// interval: so few steps may be nearly equal by chance.
std::vector<Change> step_rows(const StepWork& base, const StepWork& test, const JudgeRule& rule,
                              std::size_t judged) {
  constexpr double kGap = 4;
  constexpr std::size_t kFewestBefore = 4;
  const std::vector<double> before = total_samples(base);
  const SampleStats then = stats_of(before, rule);
  double farthest = 0;
  for (const double ms : before)
    farthest = std::max(farthest, std::fabs(ms - then.mean));
  const std::vector<double> now = total_samples(test);
  std::vector<Change> out;
  for (std::size_t s = 0; s < now.size(); ++s) {
    Change row;
    row.what = "step";
    row.name = std::to_string(test.steps[s]);
    row.base_ms = then.mean;
    row.test_ms = now[s];
    const auto steps = static_cast<double>(now.size());
    row.difference_ms = (now[s] - then.mean) / steps;
    auto interval =
        then.n < kFewestBefore ? std::nullopt : prediction(then, now[s], corrected_alpha(judged));
    if (interval)
      interval->half_width = std::max(interval->half_width, kGap * farthest);
    set_interval(row, interval, steps);
    set_reported(row, rule);
    out.push_back(std::move(row));
  }
  return out;
}

/// Returns the list with the `reported` rows first; both parts are sorted by size of the
/// difference.
ChangeList ranked(std::vector<Change> rows, const Change& total) {
  sort_stably(rows, [](const Change& a, const Change& b) {
    if (a.reported != b.reported)
      return a.reported;
    return std::fabs(a.difference_ms) > std::fabs(b.difference_ms);
  });
  ChangeList out;
  out.rows = std::move(rows);
  for (Change& row : out.rows) {
    (row.reported          ? out.explained_ms
     : row.below_threshold ? out.below_ms
                           : out.unexplained_ms) += row.difference_ms;
    out.reported += row.reported ? 1 : 0;
    out.below += row.below_threshold ? 1 : 0;
    if (total.reported)
      row.share_percent = 100 * row.difference_ms / total.difference_ms;
  }
  return out;
}

/// How doubtful it is that kernel `now` replaces kernel `then`: a smaller value is less doubtful.
/// likeness() returns nullopt if `now` does not replace `then`.
struct Likeness {
  int doubts = 0; ///< number of missing pieces of evidence
  double apart = 0;
};

std::optional<Likeness> likeness(const WorkKey& then_key, const Work& then, const WorkKey& now_key,
                                 const Work& now) {
  if (then_key.shapes != now_key.shapes ||
      !(std::fabs(then.launches - now.launches) <= kLaunchesEqual * then.launches))
    return std::nullopt;
  const double apart = std::fabs(then.place - now.place);
  const bool path = then.path != 0 && then.path == now.path;
  const bool geometry = !then.grid.empty() && then.grid == now.grid && then.block == now.block;
  if (then_key.op == now_key.op) {
    const bool near = apart <= kPlaceNear;
    const int evidence = (path ? 1 : 0) + (geometry ? 1 : 0) + (near ? 1 : 0);
    return evidence >= 2 ? std::optional(Likeness{3 - evidence, apart}) : std::nullopt;
  }
  // generated kernels: the name starts with the operator's name
  const bool generated = !then_key.op.empty() && then_key.name.starts_with(then_key.op) &&
                         !now_key.op.empty() && now_key.name.starts_with(now_key.op);
  return generated && path && geometry && apart <= kPlaceEqual ? std::optional(Likeness{2, apart})
                                                               : std::nullopt;
}

} // namespace

std::string_view change_state_name(ChangeState state) {
  static constexpr std::string_view kNames[] = {"in both", "new", "vanished", "replaced"};
  return kNames[static_cast<std::size_t>(state)];
}

std::vector<std::pair<WorkKey, WorkKey>> replaced_kernels(const StepWork& base,
                                                          const StepWork& test) {
  using Entry = std::pair<const WorkKey, Work>;
  const auto only_in = [](const StepWork& run, const StepWork& other) {
    std::map<std::string, std::vector<const Entry*>> out; // by shapes: kernels with different
                                                          // shapes are never alike
    for (const Entry& entry : run.work)
      if (entry.first.kind == StepWorkKind::kKernel && !other.work.contains(entry.first))
        out[entry.first.shapes].push_back(&entry);
    return out;
  };
  struct Candidate {
    Likeness like;
    const Entry *then, *now;
  };
  std::vector<Candidate> candidates;
  const auto added = only_in(test, base);
  for (const auto& [shapes, gone] : only_in(base, test)) {
    const auto found = added.find(shapes);
    // generated names give thousands of pairs; with millions of pairs, more than names has changed
    if (found == added.end() || gone.size() * found->second.size() > 4'000'000)
      continue;
    for (const Entry* then : gone)
      for (const Entry* now : found->second)
        if (const auto like = likeness(then->first, then->second, now->first, now->second))
          candidates.push_back({*like, then, now});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    const auto order = [](const Candidate& c) {
      return std::tie(c.like.doubts, c.like.apart, c.then->first, c.now->first);
    };
    return order(a) < order(b);
  });
  std::map<const Entry*, bool> matched;
  std::vector<std::pair<WorkKey, WorkKey>> out;
  for (const Candidate& c : candidates)
    if (!matched[c.then] && !matched[c.now]) {
      matched[c.then] = matched[c.now] = true;
      out.emplace_back(c.then->first, c.now->first);
    }
  return out;
}

WhatChanged what_changed(const StepWork& base_run, const StepWork& test_run,
                         const JudgeRule& rule) {
  const bool waits = base_run.waits_known && test_run.waits_known;
  StepWork base = waits ? with_separate_waits(base_run) : base_run;
  StepWork test = waits ? with_separate_waits(test_run) : test_run;
  if (base.work.contains(kJoinedIdle) || test.work.contains(kJoinedIdle)) {
    base = with_joined_idle(std::move(base));
    test = with_joined_idle(std::move(test));
  }
  WhatChanged out;
  if (base.ranks == 0 || test.ranks == 0 || base.without_steps != test.without_steps)
    return out;
  out.known = true;
  out.without_steps = base.without_steps;
  out.base_steps = base.steps.size();
  out.test_steps = test.steps.size();
  out.threshold_percent = rule.threshold_percent;
  WhatChangedRows work = work_rows(base, test);
  WhatChangedRows operators = operator_rows(base, test);
  out.rows = work.rows.size() + operators.rows.size() + (out.without_steps ? 0 : test.steps.size());

  WhatChangedRows total;
  Change step_time;
  step_time.what = out.without_steps ? "total time" : "step time";
  total.rows.push_back(std::move(step_time));
  total.samples.push_back({total_samples(base), total_samples(test)});
  judge_rows(total, rule, 1, out.assumed);
  out.step_time = std::move(total.rows.front());
  out.step_time.reported = // no threshold: the lists can also divide a small difference
      out.step_time.low_ms && (*out.step_time.low_ms > 0 || *out.step_time.high_ms < 0);
  if (out.step_time.reported)
    out.step_time.share_percent = 100;

  judge_rows(work, rule, out.rows, out.assumed);
  judge_rows(operators, rule, out.rows, out.assumed);
  out.work = ranked(std::move(work.rows), out.step_time);
  out.operators = ranked(std::move(operators.rows), out.step_time);
  if (!out.without_steps)
    out.steps = ranked(step_rows(base, test, rule, out.rows), out.step_time);
  return out;
}

} // namespace rankscope
