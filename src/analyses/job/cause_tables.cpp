#include "analyses/job/cause_tables.h"

#include "base/units.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <span>

namespace rankscope {
namespace {

/// A cause with its position in the list, and its ranks as text.
struct CauseRow {
  std::int64_t place = 0;
  std::string ranks;
  const StepCause* cause = nullptr;
};

Schema<CauseFacts> run_schema() {
  using R = CauseFacts;
  return Schema<R>(
      "why_run", "counted steps of the run, and how well the job graph explains them; one row",
      {{"steps", "steps", Unit::kCount, [](const R& r) { return r.steps; },
        "number of counted steps: profiler steps that all ranks have; the first of several steps "
        "and the steps that are left out because of boundary_steps are not counted"},
       {"step_ms", "step_ms", Unit::kMs, &R::step_ms, "mean time of a counted step"},
       {"after_ms", "after_ms", Unit::kMs, &R::after_ms,
        "mean time of a counted step in the replay without the causes in the table causes"},
       {"floor_ms", "floor_ms", Unit::kMs, &R::floor_ms, "smallest gain per step that is reported"},
       {"gpu_on_path_percent", "gpu_on_path_percent", Unit::kPercent, &R::gpu_busy_percent,
        "time of GPU work in percent of the critical path"},
       {"host_on_path_percent", "host_on_path_percent", Unit::kPercent, &R::host_percent,
        "time of host activities and calls in percent of the critical path"},
       {"unexplained_percent", "unexplained_percent", Unit::kPercent,
        [](const R& r) { return r.quality.unexplained_percent(); },
        "time that the job graph does not explain (delays and inferred waits), in percent of the "
        "critical path"},
       {"without_delays_percent", "without_delays_percent", Unit::kPercent,
        [](const R& r) { return r.quality.without_delays_percent(); },
        "absolute difference between the duration of the run replayed without delays and its "
        "recorded duration, in percent of the recorded duration"},
       {"prediction_error_percent", "prediction_error_percent", Unit::kPercent,
        &R::prediction_error,
        "mean error of predicted step times, in percent of the measured times; a step is predicted "
        "by a replay with the durations of the step before; empty if a step has other work than "
        "the step before"},
       {"negative_delays", "negative_delays", Unit::kCount,
        [](const R& r) { return r.quality.negative; },
        "number of activities that begin before all of their waits have ended, because waits or "
        "clocks are wrong"},
       {"contradicted_waits", "contradicted_waits", Unit::kCount,
        [](const R& r) { return r.quality.contradicted; },
        "number of waits that were left out of the job graph because the recorded times contradict "
        "them"},
       {"exposed_wait_ms", "exposed_wait_ms", Unit::kMs,
        [](const R& r) { return r.exposed.wait_ms; },
        "time per step in collectives that no other GPU work overlaps, until the last member "
        "arrives; mean over the ranks"},
       {"exposed_pair_wait_ms", "exposed_pair_wait_ms", Unit::kMs,
        [](const R& r) { return r.exposed.pair_wait_ms; },
        "part of exposed_wait_ms in sends and receives"},
       {"exposed_transfer_ms", "exposed_transfer_ms", Unit::kMs,
        [](const R& r) { return r.exposed.transfer_ms; },
        "time per step in collectives that no other GPU work overlaps, after the last member has "
        "arrived; mean over the ranks"},
       {"exposed_unmatched_ms", "exposed_unmatched_ms", Unit::kMs,
        [](const R& r) { return r.exposed.unmatched_ms; },
        "time per step in collectives that no other GPU work overlaps and that have a member that "
        "was not read, after the last known arrival, so that it may be waiting or transfer; mean "
        "over the ranks"},
       {"visible_excess_ms", "visible_excess_ms", Unit::kMs, &R::visible_ms,
        "smallest excess of a rank's computation per step, against its peers, that the test can "
        "detect; 0: not tested, or a rank is slow"},
       {"clock_error_us", "clock_error_us", Unit::kUs,
        [](const R& r) {
          return r.clock_error_ns ? std::optional(ns_to_us(*r.clock_error_ns)) : std::nullopt;
        },
        "possible difference between the clocks of two ranks after their alignment; blank if a "
        "rank shares only sends and receives with the others"},
       {"clock_conflict_us", "clock_conflict_us", Unit::kUs,
        [](const R& r) { return ns_to_us(r.clock_conflict_ns); },
        "longest time by which a receive ends before its send starts; if it is not 0, the clocks "
        "differ and sends and receives are unmatched time"},
       {"frame_cost_percent", "frame_cost_percent", Unit::kPercent, &R::frame_cost_percent,
        "possible cost of recording Python frames, in percent of the launching threads' time, on "
        "the rank with the largest cost"},
       {"unlinked_percent", "unlinked_percent", Unit::kPercent, &R::unlinked_percent,
        "GPU time without a launch in the trace, in percent of the rank's GPU time, on the rank "
        "with the largest share"}});
}

Schema<BoundaryStep> boundary_schema() {
  using R = BoundaryStep;
  return Schema<R>(
      "boundary_steps",
      "steps near the start or end of the recording that are not counted, because all ranks wait "
      "for one rank without activity, or because the first or last step has less GPU work",
      {{"step", &R::number, "number of the step"},
       {"rank", &R::rank, "rank that the other ranks wait for, or that has less GPU work"},
       {"excess_ms", "excess_ms", Unit::kMs, &R::excess_ms,
        "time of the step beyond the median time of the other steps; negative if it is shorter"},
       {"wait_ms", "wait_ms", Unit::kMs,
        [](const R& r) { return r.incomplete() ? std::nullopt : std::optional(r.wait_ms); },
        "longest wait of a rank in one collective of the step; empty if the step has less GPU "
        "work"},
       {"gpu_activities", "gpu_activities", Unit::kCount,
        [](const R& r) { return r.incomplete() ? std::optional(r.activities) : std::nullopt; },
        "number of kernels, collectives, copies and fills of the rank in the step; empty if the "
        "step does not have less GPU work"},
       {"other_gpu_activities", "other_gpu_activities", Unit::kCount,
        [](const R& r) {
          return r.incomplete() ? std::optional(r.other_activities) : std::nullopt;
        },
        "smallest such number of the rank in another step"}});
}

Schema<LongStep> long_step_schema() {
  using R = LongStep;
  return Schema<R>(
      "long_steps",
      "steps that exceed the median step by 20 % and by five robust standard "
      "deviations",
      {{"step", &R::number, "number of the step"},
       {"ms", "ms", Unit::kMs, &R::ms, "time of the step"},
       {"excess_ms", "excess_ms", Unit::kMs, &R::excess_ms,
        "time of the step beyond the median step time"},
       {"left_ms", "left_ms", Unit::kMs, &R::left_ms,
        "part of excess_ms that is left in the replay without the causes in the table causes"}});
}

Schema<PathRow> path_schema() {
  using R = PathRow;
  return Schema<R>(
      "critical_path",
      "time per step on the critical path of all ranks; the rows add up to the step time",
      {{"kind", &R::kind,
        "kind of activity: host, call, kernel, collective, copy or set; launch or gap: the usual "
        "time to the next activity; unexplained: a delay that no wait explains"},
       {"what", or_blank(&R::what), "name of the operator, range or call"},
       {"ms", "ms", Unit::kMs, &R::ms, "time per step on the critical path"},
       {"percent", "percent", Unit::kPercent, &R::percent,
        "time in percent of the critical path in the counted steps"}});
}

Schema<CauseRow> cause_schema() {
  using R = CauseRow;
  const auto field = [](auto member) { return [member](const R& r) { return r.cause->*member; }; };
  const auto text = [](auto member) {
    return [member](const R& r) -> std::optional<std::string_view> {
      const std::string& t = r.cause->*member;
      return t.empty() ? std::nullopt : std::optional<std::string_view>(t);
    };
  };
  return Schema<R>(
      "causes",
      "causes of time on the critical path, and the time that the removal of each cause gains",
      {{"place", &R::place, "position of the cause in this table, from 1"},
       {"rule", [](const R& r) { return cause_rule_id(r.cause->rule); },
        "id of the rule that found the cause (docs/why.md)"},
       {"ranks", &R::ranks, "ranks with this cause"},
       {"what", text(&StepCause::what), "frame, operator, call or shapes of the cause"},
       {"before", text(&StepCause::before), "operator that ends before the cause"},
       {"after", text(&StepCause::after), "operator that follows the cause"},
       {"gain_ms", "gain_ms", Unit::kMs, field(&StepCause::gain_ms),
        "time per step that the removal of this cause gains in the replay, after the causes above "
        "have been removed"},
       {"gain_low_ms", "gain_low_ms", Unit::kMs, field(&StepCause::low_ms),
        "lower end of the 95 % interval of gain_ms over the steps"},
       {"gain_high_ms", "gain_high_ms", Unit::kMs, field(&StepCause::high_ms),
        "upper end of the 95 % interval of gain_ms over the steps"},
       {"gain_kind",
        [](const R& r) {
          return std::string_view(r.cause->kind == GainKind::kEstimate ? "estimate" : "at most");
        },
        "kind of gain. estimate: computed from values of this run; at most: upper bound of the "
        "gain"},
       {"alone_ms", "alone_ms", Unit::kMs, field(&StepCause::alone_ms),
        "time per step that the removal of this cause alone gains in the replay"},
       {"together", field(&StepCause::together),
        "place of the first cause of a group; the causes of a group gain time only if all of them "
        "are removed, and gain_ms contains an equal part of the group's gain"},
       {"cost_ms", "cost_ms", Unit::kMs, field(&StepCause::cost_ms),
        "critical-path time per step of the cause's activities, minus the time that they would "
        "need without the cause"},
       {"confidence", [](const R& r) { return confidence_name(r.cause->confidence); },
        "confidence in the cause: sure; likely (another explanation could not be excluded); hint "
        "(there is no direct evidence)"},
       {"count", "count", Unit::kCount, [](const R& r) { return r.cause->count; },
        "number of occurrences in all counted steps and ranks"},
       {"steps_seen", "steps_seen", Unit::kCount, [](const R& r) { return r.cause->steps_seen; },
        "number of counted steps with this cause; for a difference of ranks from their peers: with "
        "at least half of its mean per step"},
       {"steps", "steps", Unit::kCount, [](const R& r) { return r.cause->steps; },
        "number of counted steps"},
       {"longest_ms", "longest_ms", Unit::kMs, field(&StepCause::occurrence_ms),
        "duration of the longest occurrence of the cause"}});
}

/// A part of the excess time of a late rank.
struct RankPartRow {
  std::int64_t rank = 0;
  std::string_view part;
  PartExcess excess;
};
void add_part_rows(const LateRankParts& late, std::vector<RankPartRow>& out) {
  out.push_back({late.rank, "all", late.all});
  for (std::size_t k = 0; k < kStretchParts; ++k)
    out.push_back({late.rank, stretch_part_name(static_cast<StretchPart>(k)), late.parts[k]});
  out.push_back({late.rank, "remainder", {0, 0, late.remainder_ms(), {}, {}}});
}

Schema<RankPartRow> rank_parts_schema() {
  using R = RankPartRow;
  const auto field = [](auto member) { return [member](const R& r) { return r.excess.*member; }; };
  return Schema<R>(
      "late_rank_parts",
      "time of late ranks between collectives, divided into parts and compared with the other "
      "members",
      {{"rank", &R::rank, "rank that is slow or late by the test of top"},
       {"part", &R::part,
        "part of the time: kernels, differing inputs, extra kernels, copies, host, launch and gap, "
        "other groups or unexplained; the excesses of these parts and of the row remainder add up "
        "to that of the row all"},
       {"own_ms", "own_ms", Unit::kMs, field(&PartExcess::rank_ms),
        "time per step of the rank in this part"},
       {"peers_ms", "peers_ms", Unit::kMs, field(&PartExcess::peers_ms),
        "median time per step of the other members in this part, summed over the collectives"},
       {"excess_ms", "excess_ms", Unit::kMs, field(&PartExcess::excess_ms), "own_ms - peers_ms"},
       {"excess_low_ms", "excess_low_ms", Unit::kMs, field(&PartExcess::low_ms),
        "lower end of the 95 % interval of excess_ms over the steps"},
       {"excess_high_ms", "excess_high_ms", Unit::kMs, field(&PartExcess::high_ms),
        "upper end of the 95 % interval of excess_ms over the steps"}});
}

Schema<Unsaid> unsaid_schema() {
  using R = Unsaid;
  return Schema<R>(
      "causes_not_reported", "causes with evidence that are not reported, and the reason",
      {{"rule", [](const R& r) { return cause_rule_id(r.rule); },
        "id of the rule that found the cause (docs/why.md)"},
       {"reason", [](const R& r) { return unsaid_reason_name(r.reason); },
        "why the cause is not reported. no-gain: overlapping work takes as long, or collectives "
        "lack members; explained: the gain is already included in the table causes; below-noise: "
        "the gain is not significant over the steps; few-steps: fewer than half of the steps have "
        "the cause"},
       {"cost_ms", "cost_ms", Unit::kMs, &R::cost_ms,
        "time per step on the critical path as in the table causes, summed over the causes of this "
        "row"},
       {"gain_ms", "gain_ms", Unit::kMs, &R::gain_ms,
        "largest gain per step of a cause of this row: the time by which a step becomes shorter if "
        "this cause is removed too, after all causes in the table causes"}});
}

std::string ranks_text(const std::vector<std::int64_t>& ranks) {
  std::string out;
  for (const std::int64_t rank : ranks)
    out += fmt::format("{}{}", out.empty() ? "" : " ", rank);
  return out;
}

} // namespace

std::vector<Table> cause_tables(const CauseFacts& facts) {
  std::vector<CauseRow> rows;
  for (const StepCause& cause : facts.causes)
    rows.push_back({static_cast<std::int64_t>(rows.size()) + 1, ranks_text(cause.ranks), &cause});
  std::vector<Table> out;
  out.push_back(run_schema().table(std::span(&facts, 1)));
  out.push_back(cause_schema().table(rows));
  std::vector<RankPartRow> parts;
  for (const LateRankParts& late : facts.late_rank_parts)
    add_part_rows(late, parts);
  out.push_back(rank_parts_schema().table(parts));
  out.push_back(unsaid_schema().table(facts.unsaid));
  out.push_back(path_schema().table(facts.path));
  out.push_back(boundary_schema().table(facts.boundary));
  out.push_back(long_step_schema().table(facts.long_steps));
  return out;
}

std::vector<SheetInfo> cause_sheets() {
  return {run_schema().info(),      cause_schema().info(), rank_parts_schema().info(),
          unsaid_schema().info(),   path_schema().info(),  boundary_schema().info(),
          long_step_schema().info()};
}

} // namespace rankscope
