#include "analyses/job/whatif.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <span>

namespace rankscope {
namespace {

Schema<WhatIfFacts> whatif_run_schema() {
  using R = WhatIfFacts;
  const auto fact = [](auto metric) {
    return [metric](const R& r) -> std::optional<double> {
      return r.stragglers ? std::optional(metric(*r.stragglers)) : std::nullopt;
    };
  };
  const auto correlation = [](auto member) {
    return [member](const R& r) -> std::optional<double> {
      return r.stragglers && r.stragglers->correlation
                 ? std::optional<double>((*r.stragglers->correlation).*member)
                 : std::nullopt;
    };
  };
  return Schema<R>(
      "whatif_run", "the measured run and the replayed run without stragglers; one row",
      {{"ranks", "ranks", Unit::kCount, [](const R& r) { return r.ranks; },
        "number of ranks that were read"},
       {"steps", "steps", Unit::kCount, [](const R& r) { return r.steps; },
        "number of counted steps; 0: the trace has no steps"},
       {"step_ms", "step_ms", Unit::kMs, &R::step_ms, "mean measured time of a counted step"},
       {"unexplained_percent", "unexplained_percent", Unit::kPercent, &R::unexplained_percent,
        "time that the job graph does not explain (delays and inferred waits), in percent of the "
        "critical path"},
       {"without_delays_percent", "without_delays_percent", Unit::kPercent,
        &R::without_delays_percent,
        "time by which a step is shorter in the replay without delays, in percent of step_ms"},
       {"without_delays_ms", "without_delays_ms", Unit::kMs,
        fact([](const StragglerFacts& s) { return s.without_delays_ms; }),
        "mean time of a step in the replay without delays (times that no wait explains)"},
       {"ideal_ms", "ideal_ms", Unit::kMs, fact([](const StragglerFacts& s) { return s.ideal_ms; }),
        "mean time of a step in the ideal run: a replay without delays in which every activity has "
        "its usual duration"},
       {"slowdown", "slowdown", Unit::kRatio,
        fact([](const StragglerFacts& s) { return s.slowdown(); }),
        "without_delays_ms / ideal_ms: cost of stragglers"},
       {"delay_slowdown", "delay_slowdown", Unit::kRatio,
        fact([](const StragglerFacts& s) { return s.delay_slowdown(); }),
        "step_ms / without_delays_ms: cost of delays"},
       {"micro_batch_correlation", "micro_batch_correlation", Unit::kRatio,
        correlation(&MicroBatchCorrelation::coefficient),
        "Pearson's coefficient between the forward and the backward durations of micro-batches, "
        "without the differences between ranks, model chunks and steps; only for pipeline-parallel "
        "jobs"},
       {"micro_batch_correlation_low", "micro_batch_correlation_low", Unit::kRatio,
        correlation(&MicroBatchCorrelation::low),
        "lower end of the 95 % interval of micro_batch_correlation over the steps"},
       {"micro_batch_correlation_high", "micro_batch_correlation_high", Unit::kRatio,
        correlation(&MicroBatchCorrelation::high),
        "upper end of the 95 % interval of micro_batch_correlation over the steps"},
       {"micro_batch_pairs", "micro_batch_pairs", Unit::kCount,
        [](const R& r) -> std::optional<std::size_t> {
          return r.stragglers && r.stragglers->correlation
                     ? std::optional(r.stragglers->correlation->pairs)
                     : std::nullopt;
        },
        "number of pairs of durations behind micro_batch_correlation"}});
}

Schema<StragglerStep> straggler_step_schema() {
  using R = StragglerStep;
  return Schema<R>(
      "straggler_steps",
      "time of each step: measured, replayed without delays, and replayed without delays and "
      "stragglers",
      {{"step", "step", Unit::kNone, [](const R& r) { return r.number; }, "number of the step"},
       {"measured_ms", "measured_ms", Unit::kMs, &R::measured_ms, "measured time of the step"},
       {"without_delays_ms", "without_delays_ms", Unit::kMs, &R::without_delays_ms,
        "time of the step in the replay without delays"},
       {"ideal_ms", "ideal_ms", Unit::kMs, &R::ideal_ms,
        "time of the step in the ideal run: a replay without delays in which every activity has "
        "its usual duration"},
       {"slowdown", "slowdown", Unit::kRatio,
        [](const R& r) { return r.ideal_ms > 0 ? r.without_delays_ms / r.ideal_ms : 1.0; },
        "without_delays_ms / ideal_ms"}});
}

Schema<StragglerShare> share_schema() {
  using R = StragglerShare;
  return Schema<R>(
      "stragglers",
      "the ideal run, replayed with the measured durations of one group; one row per group",
      {{"group", [](const R& r) { return straggler_group_name(r.group); },
        "kind of group: operator, rank, dp-rank or stage"},
       {"name", &R::name, "name of the operator, or number of the rank or stage"},
       {"slowdown", "slowdown", Unit::kRatio, &R::slowdown,
        "mean step time with the group's measured durations / ideal_ms"},
       {"cost_ms", "cost_ms", Unit::kMs, &R::cost_ms,
        "mean step time with the group's measured durations - ideal_ms"}});
}

struct ShareStep {
  const StragglerShare* share = nullptr;
  std::int64_t step = 0;
  double slowdown = 1;
};
Schema<ShareStep> share_step_schema() {
  using R = ShareStep;
  return Schema<R>("stragglers_by_step", "slowdown of each group in each step",
                   {{"group", [](const R& r) { return straggler_group_name(r.share->group); },
                     "kind of group: operator, rank, dp-rank or stage"},
                    {"name", [](const R& r) { return std::string_view(r.share->name); },
                     "name of the operator, or number of the rank or stage"},
                    {"step", "step", Unit::kNone, &R::step, "number of the step"},
                    {"slowdown", "slowdown", Unit::kRatio, &R::slowdown,
                     "time of the step with the group's measured durations, divided by its time in "
                     "the ideal run"}});
}

struct EffectRow {
  std::string_view group;
  std::string ranks;
  const StragglerEffect* effect = nullptr;
};
Schema<EffectRow> effect_schema() {
  using R = EffectRow;
  const auto field = [](auto member) { return [member](const R& r) { return r.effect->*member; }; };
  return Schema<R>(
      "straggler_effects",
      "part of the slowdown that groups of ranks, unequal micro-batches and uneven "
      "stages explain",
      {{"group", &R::group,
        "worst-ranks: the 3 % of ranks with the largest slowdown; last-stage: the "
        "ranks of the last stage; equal-micro-batches: the computations of each "
        "stage, with their mean as the usual duration; even-stages: the computations "
        "of each stage, scaled to the mean of all stages; equal-and-even: both"},
       {"ranks", &R::ranks, "ranks of the group; empty: all ranks"},
       {"removed", "removed", Unit::kRatio, field(&StragglerEffect::removed),
        "part of the slowdown that disappears when the group has its usual durations: "
        "(T - T with these durations) / (T - ideal_ms), T = without_delays_ms"},
       {"added", "added", Unit::kRatio, field(&StragglerEffect::added),
        "part of the slowdown that the group's measured durations alone cause: (step "
        "time of the ideal run with these durations - ideal_ms) / (T - ideal_ms); only "
        "for groups of ranks"},
       {"gain_ms", "gain_ms", Unit::kMs, field(&StragglerEffect::gain_ms),
        "time per step that is gained when the group has its usual durations"},
       {"gain_low_ms", "gain_low_ms", Unit::kMs, field(&StragglerEffect::low_ms),
        "lower end of the 95 % interval of gain_ms over the steps, for all groups of "
        "this kind together"},
       {"gain_high_ms", "gain_high_ms", Unit::kMs, field(&StragglerEffect::high_ms),
        "upper end of the 95 % interval of gain_ms over the steps, for all groups of "
        "this kind together"}});
}

struct AnswerRow {
  const EditAnswer* answer = nullptr;
  double before_ms = 0;
};
Schema<AnswerRow> answer_schema() {
  using R = AnswerRow;
  const auto field = [](auto member) { return [member](const R& r) { return r.answer->*member; }; };
  return Schema<R>(
      "changes", "predicted step time with the requested changes",
      {{"change", [](const R& r) { return std::string_view(r.answer->text); },
        "requested change (--edit), with its factor"},
       {"activities", "activities", Unit::kCount, field(&EditAnswer::activities),
        "number of activities that the change affects, in all steps and ranks"},
       {"after_ms", "after_ms", Unit::kMs, field(&EditAnswer::after_ms),
        "mean time of a step in the replay with this change"},
       {"change_ms", "change_ms", Unit::kMs, field(&EditAnswer::change_ms),
        "after_ms - measured step time"},
       {"change_low_ms", "change_low_ms", Unit::kMs, field(&EditAnswer::low_ms),
        "lower end of the 95 % interval of change_ms over the steps"},
       {"change_high_ms", "change_high_ms", Unit::kMs, field(&EditAnswer::high_ms),
        "upper end of the 95 % interval of change_ms over the steps"},
       {"change_percent", "change_percent", Unit::kPercent,
        [](const R& r) { return r.before_ms > 0 ? 100 * r.answer->change_ms / r.before_ms : 0.0; },
        "change_ms in percent of the measured step time"}});
}

struct ChangedPathRow {
  std::string_view change;
  const PathRow* row = nullptr;
};
Schema<ChangedPathRow> changed_path_schema() {
  using R = ChangedPathRow;
  return Schema<R>(
      "changed_paths", "time per step on the critical path of the run with each change",
      {{"change", &R::change, "requested change (--edit), with its factor"},
       {"kind", [](const R& r) { return std::string_view(r.row->kind); },
        "kind of activity, as in the table critical_path of rankscope why"},
       {"what", [](const R& r) { return std::string_view(r.row->what); },
        "name of the operator, range or call"},
       {"ms", "ms", Unit::kMs, [](const R& r) { return r.row->ms; },
        "time per step on the critical path"},
       {"percent", "percent", Unit::kPercent, [](const R& r) { return r.row->percent; },
        "time in percent of the critical path"}});
}

void add_straggler_tables(const StragglerFacts& facts, std::vector<Table>& out) {
  out.push_back(straggler_step_schema().table(facts.steps));
  out.push_back(share_schema().table(facts.shares));
  std::vector<ShareStep> steps;
  for (const StragglerShare& share : facts.shares)
    for (std::size_t k = 0; k < share.step_slow.size(); ++k)
      steps.push_back({&share, facts.steps[k].number, share.step_slow[k]});
  out.push_back(share_step_schema().table(steps));
  std::vector<EffectRow> effects;
  const auto add = [&](std::string_view group, const std::optional<StragglerEffect>& effect) {
    if (effect)
      effects.push_back({group, fmt::format("{}", fmt::join(effect->ranks, " ")), &*effect});
  };
  add("worst-ranks", facts.worst_ranks);
  add("last-stage", facts.last_stage);
  add("equal-micro-batches", facts.equal_batches);
  add("even-stages", facts.even_stages);
  add("equal-and-even", facts.equal_and_even);
  out.push_back(effect_schema().table(effects));
}

/// Returns the unexplained share of the critical path in percent. `path`, `ends`: as measured.
/// Steps that were recorded one by one have a separate path each.
double unexplained_percent(const JobRun& run, const std::vector<PathPiece>& path,
                           const std::vector<std::int64_t>& ends, const CountedSteps& clock) {
  if (run.step_begin_ns.empty())
    return quality_of(run.graph, clock.part_of(path, ends)).unexplained_percent();
  double out = 0;
  for (const PathRow& row : path_rows(run, JobEdit{}, clock))
    if (row.kind == "unexplained")
      out += row.percent;
  return out;
}

} // namespace

Result<WhatIf> whatif_of(const JobRun& run, const WorkerGrid* grid,
                         const std::vector<RunEdit>& changes, std::optional<StepPositions> steps) {
  WhatIf out;
  const std::vector<PathPiece> path = critical_path(run.graph);
  const std::vector<std::int64_t> ends = step_ends(run, {});
  CountedSteps clock(run, path, ends);
  if (steps)
    clock.only(*steps);
  out.facts.ranks = run.ranks.size();
  out.facts.steps = run.step_numbers.empty() ? 0 : clock.counted();
  out.facts.boundary = clock.boundary();
  out.facts.step_ms = clock.mean_ms(ends);
  out.facts.unexplained_percent = unexplained_percent(run, path, ends, clock);
  JobEdit without = JobEdit::of(run.graph);
  clear_delays(run.graph, without);
  if (out.facts.step_ms > 0)
    out.facts.without_delays_percent =
        100 * (1 - clock.mean_ms(step_ends(run, without)) / out.facts.step_ms);
  out.facts.pipeline = grid != nullptr;
  if (!changes.empty()) {
    RS_TRY(out.facts.answers, edit_answers(run, clock, changes, out.edit));
    return out;
  }
  const RunPlaces places =
      grid != nullptr ? places_by_name(run) : places_of(run, PlaceIn::kAnyStep);
  out.edit = ideal_edit(run, places);
  out.facts.stragglers = stragglers_of(run, clock, out.edit, grid);
  return out;
}

std::vector<Table> whatif_tables(const WhatIfFacts& facts) {
  std::vector<Table> out{whatif_run_schema().table(std::span(&facts, 1))};
  if (facts.stragglers)
    add_straggler_tables(*facts.stragglers, out);
  if (facts.answers.empty())
    return out;
  std::vector<AnswerRow> answers;
  std::vector<ChangedPathRow> paths;
  for (const EditAnswer& answer : facts.answers) {
    answers.push_back({&answer, facts.step_ms});
    for (const PathRow& row : answer.path)
      paths.push_back({answer.text, &row});
  }
  out.push_back(answer_schema().table(answers));
  out.push_back(changed_path_schema().table(paths));
  return out;
}

std::vector<SheetInfo> whatif_sheets() {
  return {whatif_run_schema().info(),  straggler_step_schema().info(), share_schema().info(),
          share_step_schema().info(),  effect_schema().info(),         answer_schema().info(),
          changed_path_schema().info()};
}

} // namespace rankscope
