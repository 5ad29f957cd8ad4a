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
      "why_run", "the steps of the run and how far the job graph explains them",
      {{"steps", "steps", Unit::kCount, [](const R& r) { return r.steps; },
        "profiler steps that all ranks have and that count: the first one of several does not"},
       {"step_ms", "step_ms", Unit::kMs, &R::step_ms, "mean time of these steps"},
       {"after_ms", "after_ms", Unit::kMs, &R::after_ms, "replay without the causes of the table"},
       {"floor_ms", "floor_ms", Unit::kMs, &R::floor_ms, "smaller gains are not reported"},
       {"gpu_on_path_percent", "gpu_on_path_percent", Unit::kPercent, &R::gpu_busy_percent,
        "GPU work, of the critical path"},
       {"host_on_path_percent", "host_on_path_percent", Unit::kPercent, &R::host_percent,
        "host activities, of the critical path"},
       {"unexplained_percent", "unexplained_percent", Unit::kPercent,
        [](const R& r) { return r.quality.unexplained_percent(); },
        "delays and inferred waits, of the critical path"},
       {"without_delays_percent", "without_delays_percent", Unit::kPercent,
        [](const R& r) { return r.quality.without_delays_percent(); },
        "by which the replay without delays differs from the trace"},
       {"prediction_error_percent", "prediction_error_percent", Unit::kPercent,
        &R::prediction_error,
        "of a step that is replayed with the durations of the step before; mean"},
       {"negative_delays", "negative_delays", Unit::kCount,
        [](const R& r) { return r.quality.negative; },
        "activities that begin before all of their waits have ended: wrong waits or clocks"},
       {"contradicted_waits", "contradicted_waits", Unit::kCount,
        [](const R& r) { return r.quality.contradicted; },
        "waits that were left out because times contradict them"},
       {"exposed_wait_ms", "exposed_wait_ms", Unit::kMs,
        [](const R& r) { return r.exposed.wait_ms; },
        "of a step, mean over the ranks: in collectives that no other GPU work overlaps, before "
        "the last member arrives"},
       {"exposed_transfer_ms", "exposed_transfer_ms", Unit::kMs,
        [](const R& r) { return r.exposed.transfer_ms; }, "the same, from then on"},
       {"exposed_unmatched_ms", "exposed_unmatched_ms", Unit::kMs,
        [](const R& r) { return r.exposed.unmatched_ms; },
        "the same, of collectives without other members in the run: wait and transfer unknown"},
       {"clock_error_us", "clock_error_us", Unit::kUs,
        [](const R& r) { return ns_to_us(r.clock_error_ns); },
        "by which clocks of ranks may differ after their alignment"},
       {"frame_cost_percent", "frame_cost_percent", Unit::kPercent, &R::frame_cost_percent,
        "what recording Python frames may have cost of the launching threads' time; rank with "
        "most"},
       {"unlinked_percent", "unlinked_percent", Unit::kPercent, &R::unlinked_percent,
        "GPU time without a launch in the trace"}});
}

Schema<BoundaryStep> boundary_schema() {
  using R = BoundaryStep;
  return Schema<R>(
      "boundary_steps",
      "steps near the begin or end of the recording that wait for a rank without activity; left "
      "out",
      {{"step", &R::number, "its number"},
       {"rank", &R::rank, "that the others wait for"},
       {"excess_ms", "excess_ms", Unit::kMs, &R::excess_ms, "beyond the median of the other steps"},
       {"wait_ms", "wait_ms", Unit::kMs, &R::wait_ms,
        "in one collective, of the rank that waits longest"}});
}

Schema<LongStep> long_step_schema() {
  using R = LongStep;
  return Schema<R>("long_steps",
                   "steps that exceed the median step by 20 % and by five robust standard "
                   "deviations",
                   {{"step", &R::number, "number of the step"},
                    {"ms", "ms", Unit::kMs, &R::ms, "time of the step"},
                    {"excess_ms", "excess_ms", Unit::kMs, &R::excess_ms, "beyond the median step"},
                    {"left_ms", "left_ms", Unit::kMs, &R::left_ms,
                     "excess that is left after the removal of all causes in the table causes"}});
}

Schema<PathRow> path_schema() {
  using R = PathRow;
  return Schema<R>(
      "critical_path", "time on the critical path over all ranks; the rows add up to a step",
      {{"kind", &R::kind,
        "host, call, kernel, collective, copy, set; launch or gap: the usual time to the next "
        "activity; unexplained: a delay that no wait explains"},
       {"what", or_blank(&R::what), "operator, range or call"},
       {"ms", "ms", Unit::kMs, &R::ms, "of a step"},
       {"percent", "percent", Unit::kPercent, &R::percent, "of the path in these steps"}});
}

Schema<CauseRow> cause_schema() {
  using R = CauseRow;
  const auto of = [](auto member) { return [member](const R& r) { return r.cause->*member; }; };
  const auto text = [](auto member) {
    return [member](const R& r) -> std::optional<std::string_view> {
      const std::string& t = r.cause->*member;
      return t.empty() ? std::nullopt : std::optional<std::string_view>(t);
    };
  };
  return Schema<R>(
      "causes", "what takes time on the critical path, and what its removal gains",
      {{"place", &R::place, "1: the largest gain"},
       {"rule", [](const R& r) { return cause_rule_id(r.cause->rule); }, "see docs/why.md"},
       {"ranks", &R::ranks, "that have it"},
       {"what", text(&StepCause::what), "the frame, operator, call or extents that it is about"},
       {"before", text(&StepCause::before), "the operator that ends before it"},
       {"after", text(&StepCause::after), "the operator that follows it"},
       {"gain_ms", "gain_ms", Unit::kMs, of(&StepCause::gain_ms),
        "of a step, by replay, with the causes above removed too"},
       {"gain_low_ms", "gain_low_ms", Unit::kMs, of(&StepCause::low_ms),
        "its 95 % interval over the steps"},
       {"gain_high_ms", "gain_high_ms", Unit::kMs, of(&StepCause::high_ms),
        "its 95 % interval over the steps"},
       {"gain_kind",
        [](const R& r) {
          return std::string_view(r.cause->kind == GainKind::kEstimate ? "estimate" : "at most");
        },
        "estimate: from values of this run; at most: a bound"},
       {"alone_ms", "alone_ms", Unit::kMs, of(&StepCause::alone_ms),
        "gain when it alone is removed"},
       {"together", of(&StepCause::together),
        "place of the first of those causes that gain time only if all of them are removed; each "
        "has an equal part of the gain in gain_ms"},
       {"cost_ms", "cost_ms", Unit::kMs, of(&StepCause::cost_ms),
        "of a step, on the critical path"},
       {"confidence", [](const R& r) { return confidence_name(r.cause->confidence); },
        "sure; likely: one rival could not be excluded; hint: without direct evidence"},
       {"count", "count", Unit::kCount, [](const R& r) { return r.cause->count; },
        "occurrences in all steps"},
       {"steps_seen", "steps_seen", Unit::kCount, [](const R& r) { return r.cause->steps_seen; },
        "steps that have it"},
       {"steps", "steps", Unit::kCount, [](const R& r) { return r.cause->steps; },
        "steps of the run"},
       {"longest_ms", "longest_ms", Unit::kMs, of(&StepCause::occurrence_ms),
        "its longest occurrence"}});
}

/// A part of the excess time of a late rank.
struct RankPartRow {
  std::int64_t rank = 0;
  std::string_view part;
  PartExcess excess;
};
void add_part_rows(const LateRankParts& of, std::vector<RankPartRow>& out) {
  out.push_back({of.rank, "all", of.all});
  for (std::size_t k = 0; k < kStretchParts; ++k)
    out.push_back({of.rank, stretch_part_name(static_cast<StretchPart>(k)), of.parts[k]});
  out.push_back({of.rank, "remainder", {0, 0, of.remainder_ms(), {}, {}}});
}

Schema<RankPartRow> rank_parts_schema() {
  using R = RankPartRow;
  const auto of = [](auto member) { return [member](const R& r) { return r.excess.*member; }; };
  return Schema<R>(
      "late_rank_parts",
      "what late ranks do between collectives, against the other members; of a step",
      {{"rank", &R::rank, "that is slow or late by the test of top"},
       {"part", &R::part,
        "kernels, differing inputs, extra kernels, copies, host, launch and gap, other groups, "
        "unexplained; they and the remainder add up to all"},
       {"own_ms", "own_ms", Unit::kMs, of(&PartExcess::own_ms), "of the rank"},
       {"peers_ms", "peers_ms", Unit::kMs, of(&PartExcess::peers_ms),
        "sum of the medians of the other members"},
       {"excess_ms", "excess_ms", Unit::kMs, of(&PartExcess::excess_ms), "own - peers"},
       {"excess_low_ms", "excess_low_ms", Unit::kMs, of(&PartExcess::low_ms),
        "its 95 % interval over the steps"},
       {"excess_high_ms", "excess_high_ms", Unit::kMs, of(&PartExcess::high_ms),
        "its 95 % interval over the steps"}});
}

Schema<Unsaid> unsaid_schema() {
  using R = Unsaid;
  return Schema<R>(
      "causes_not_reported", "signs of causes that are not reported, and why",
      {{"rule", [](const R& r) { return cause_rule_id(r.rule); }, "see docs/why.md"},
       {"reason", [](const R& r) { return unsaid_reason_name(r.reason); },
        "no-gain: other work takes as long; explained: by the causes of the table; below-noise: "
        "not "
        "significant over the steps, or in fewer than half of them"},
       {"cost_ms", "cost_ms", Unit::kMs, &R::cost_ms, "of a step, on the critical path"},
       {"gain_ms", "gain_ms", Unit::kMs, &R::gain_ms,
        "of a step, by replay, without the causes of the table; the largest of its kind"}});
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
  for (const LateRankParts& of : facts.late_rank_parts)
    add_part_rows(of, parts);
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
