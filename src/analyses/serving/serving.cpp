// serving_steps, serving_requests, serving_summary and serving_gaps (docs/serving.md).
#include "analyses/analysis.h"
#include "analyses/serving/serving_facts.h"
#include "base/units.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {
namespace {

struct StepRow {
  const ServingStepFacts* facts = nullptr;
  std::string_view name;
  std::int64_t origin_ns = 0; ///< start of the first step of the trace
};

Value per_second(const StepRow& r, std::int64_t tokens) {
  const std::int64_t ns = r.facts->period_ns;
  return ns > 0 && r.facts->has_counts() ? Value(static_cast<double>(tokens) / ns_to_s(ns))
                                         : Value();
}

Field<StepRow> ms(const char* id, const char* label, std::int64_t ServingStepFacts::*field,
                  const char* help) {
  return {id, label, Unit::kMs, [field](const StepRow& r) { return ns_to_ms(r.facts->*field); },
          help};
}

/// The same, blank for steps without GPU work.
Field<StepRow> ms_of_work(const char* id, const char* label, std::int64_t ServingStepFacts::*field,
                          const char* help) {
  return {id, label, Unit::kMs,
          [field](const StepRow& r) {
            return r.facts->gpu_events > 0 ? std::optional(ns_to_ms(r.facts->*field))
                                           : std::nullopt;
          },
          help};
}

Field<StepRow> count(const char* id, std::size_t ServingStepFacts::*field, const char* help) {
  return {id, Unit::kCount, [field](const StepRow& r) { return r.facts->*field; }, help};
}

template <class Get> Field<StepRow> of_counts(const char* id, const char* help, Get get) {
  return {id, Unit::kCount,
          [get](const StepRow& r) {
            const StepCounts& counts = r.facts->step.counts;
            return r.facts->has_counts() ? std::optional(std::invoke(get, counts)) : std::nullopt;
          },
          help};
}

void add_what(Schema<StepRow>& schema) {
  schema.add(count("step", &ServingStepFacts::number,
                   "number of the step, in the order of the step starts"));
  schema.add({"annotation", &StepRow::name, "annotation text as the server wrote it"});
  schema.add(
      {"phase",
       [](const StepRow& r) { return text_or_blank(phase_name(phase_of(r.facts->step.counts))); },
       "phase of the step: prefill, decode, mixed (both), idle (no request) or diffusion; "
       "blank if the annotation does not show it"});
  schema.add(of_counts("context_requests", "number of requests whose prompts the step computes",
                       &StepCounts::context_requests));
  schema.add(of_counts("generation_requests", "number of requests that the step decodes",
                       &StepCounts::generation_requests));
  schema.add(of_counts("context_tokens", "number of prompt tokens that the step computes",
                       [](const StepCounts& c) { return static_cast<std::int64_t>(c.sums.c_sq); }));
  schema.add(of_counts("generation_tokens",
                       "number of tokens that the step computes for decoding requests",
                       [](const StepCounts& c) { return static_cast<std::int64_t>(c.sums.g_sq); }));
  schema.add(of_counts("batch_size", "number of all tokens that the step computes",
                       &StepCounts::batch_size));
}

Schema<StepRow> step_schema() {
  using F = ServingStepFacts;
  Schema<StepRow> schema("serving_steps", "steps of an inference server, from their annotations");
  add_what(schema);
  schema.add({"start_ms", "start (ms)", Unit::kMs,
              [](const StepRow& r) { return ns_to_ms(r.facts->step.start_ns - r.origin_ns); },
              "time from the start of the first step to the start of this step's annotation"});
  schema.add(
      {"cpu_ms", "CPU time (ms)", Unit::kMs,
       [](const StepRow& r) { return ns_to_ms(r.facts->step.end_ns - r.facts->step.start_ns); },
       "duration of the step's annotation on the CPU"});
  schema.add(ms_of_work("step_time_ms", "step time (ms)", &F::time_ns,
                        "time from the start of the step, or from the end of the earlier steps' "
                        "GPU work if this is later, to the end of the step's GPU work"));
  schema.add(ms_of_work("period_ms", "period (ms)", &F::period_ns,
                        "time from the end of the earlier steps' GPU work to the end of this "
                        "step's GPU work"));
  schema.add(ms("gpu_busy_ms", "GPU busy (ms)", &F::busy_ns,
                "time during which GPU work that the step launched ran"));
  schema.add(ms("gpu_idle_ms", "GPU idle (ms)", &F::idle_ns,
                "time without any GPU work between the first and the last GPU work of the step"));
  schema.add(count("launches", &F::launches, "number of calls in the step that launched GPU work"));
  schema.add(
      count("graph_launches", &F::graphs, "number of calls in the step that launched a graph"));
  schema.add(count("gpu_events", &F::gpu_events,
                   "number of kernels, copies and memsets that the step launched"));
  schema.add({"tokens_per_s", "tokens per second", Unit::kNone, CellKind::kDouble,
              [](const StepRow& r) { return per_second(r, r.facts->step.counts.batch_size); },
              "batch_size divided by period (ms), in tokens per second"});
  schema.add(
      {"output_tokens_per_s", "output tokens per second", Unit::kNone, CellKind::kDouble,
       [](const StepRow& r) { return per_second(r, r.facts->output_tokens()); },
       "number of requests divided by period (ms), as tokens per second; each request counts as "
       "one token"});
  schema.add(ms("gap_ms", "gap before (ms)", &F::gap_ns,
                "idle GPU time between the end of the earlier steps' GPU work and the start of "
                "this step's GPU work"));
  schema.add(
      {"gap_cause", "gap cause", Unit::kNone,
       [](const StepRow& r) { return gap_cause_name(r.facts->cause); },
       "activity of the CPU in the largest part of the gap: scheduler (outside all steps), host "
       "(inside a step), sync (waiting for the GPU), launch (work launched, but not started)"});
  return schema;
}

/// A request of a step with an annotation that lists the requests.
struct RequestRow {
  const ServingStepFacts* facts = nullptr;
  std::size_t place = 0; ///< 1-based place in the list
  std::int64_t tokens = 0;
};

Schema<RequestRow> request_schema() {
  using R = RequestRow;
  return {
      "serving_requests",
      "requests of each step, if the step's annotation lists the request lengths (ATOM's ctx=[..])",
      {{"step", Unit::kCount, [](const R& r) { return r.facts->number; },
        "number of the step, as in serving_steps"},
       {"phase", [](const R& r) { return phase_name(phase_of(r.facts->step.counts)); },
        "phase of the step: prefill or decode"},
       {"place", Unit::kCount, &R::place,
        "position in the step's list of requests, from 1; the same position in another step may be "
        "another request"},
       {"tokens", Unit::kCount, &R::tokens, "number of tokens that the request attends to"},
       {"percent_of_tokens", "of the step's tokens (%)", Unit::kPercent, CellKind::kDouble,
        [](const R& r) {
          const double all = r.facts->step.counts.sums.c_sk + r.facts->step.counts.sums.g_sk;
          return all > 0 ? Value(100.0 * static_cast<double>(r.tokens) / all) : Value();
        },
        "tokens in percent of all tokens that the requests of the step attend to"},
       {"token_after_ms", "token after (ms)", Unit::kMs,
        [](const R& r) {
          return r.facts->gpu_events > 0
                     ? std::optional(ns_to_ms(r.facts->end_ns - r.facts->step.start_ns))
                     : std::nullopt;
        },
        "time from the start of the step to the end of its GPU work; for a prefill, this is the "
        "time from the start of the step to the first token"}}};
}

std::vector<RequestRow> requests_of(const Trace& trace, const ServingFacts& facts) {
  std::vector<RequestRow> out;
  for (const ServingStepFacts& step : facts.steps) {
    std::size_t place = 0;
    for (const std::int64_t tokens : step_request_lengths(trace.name(step.step.annotation)))
      out.push_back({&step, ++place, tokens});
  }
  return out;
}

Schema<ServingMetric> metric_schema() {
  using R = ServingMetric;
  return {"serving_summary",
          "statistics of an inference server: step times, token times and tokens per second",
          {{"phase", &R::phase,
            "phase of the steps; all: values of requests in all phases, or of the complete span"},
           {"metric", &R::metric, "name of the metric and its unit"},
           {"of", &R::count_unit, "what is counted: steps, requests, or the complete span"},
           {"count", Unit::kCount, &R::count,
            "number of values: steps, requests in all steps, or 1 for the complete span"},
           {"mean", &R::mean, "mean of the values"},
           {"p50", &R::p50, "median: half of the values are not larger than this value"},
           {"p90", &R::p90, "90th percentile: 90 % of the values are not larger than this value"},
           {"p99", &R::p99, "99th percentile: 99 % of the values are not larger than this value"},
           {"max", &R::max, "largest of the values"}}};
}

struct GapRow {
  GapCause cause = GapCause::kNone;
  std::size_t gaps = 0;
  std::int64_t ns = 0;
  std::int64_t span_ns = 0;
};

Schema<GapRow> gap_schema() {
  using R = GapRow;
  return {
      "serving_gaps",
      "idle GPU time between steps, by activity of the CPU",
      {{"cause", [](const R& r) { return gap_cause_name(r.cause); },
        "activity of the CPU during idle GPU time: scheduler (outside all steps), host (inside a "
        "step), sync (waiting for the GPU), launch (work launched, but not started)"},
       {"gaps", Unit::kCount, &R::gaps, "number of gaps in which this cause takes the most time"},
       {"time_ms", "time (ms)", Unit::kMs, in_ms(&R::ns),
        "idle GPU time with this cause, summed over all gaps"},
       {"percent", "of the span (%)", Unit::kPercent,
        [](const R& r) { return percent_of(r.ns, r.span_ns); },
        "time (ms) in percent of the time from the start of the first step to the end of the last "
        "step; for chosen steps, of the sum of their periods"}}};
}

std::vector<SheetInfo> describe_serving(const ReportOptions&) {
  return {step_schema().info(), request_schema().info(), metric_schema().info(),
          gap_schema().info()};
}

Result<std::vector<Table>> run_serving(const LoadedTrace& t, const ReportOptions& options) {
  std::vector<Table> out;
  if (options.compat_tracelens)
    return out;
  const ServingFacts& facts = t.shared(ServingKey{});
  if (facts.steps.empty())
    return out;
  std::vector<StepRow> steps;
  for (const ServingStepFacts& s : facts.steps)
    steps.push_back({&s, t.trace.name(s.step.annotation), facts.origin_ns});
  out.push_back(step_schema().table(steps));
  if (const std::vector<RequestRow> requests = requests_of(t.trace, facts); !requests.empty())
    out.push_back(request_schema().table(requests));
  out.push_back(metric_schema().table(facts.metrics));
  out.back().notes.push_back(
      "The trace contains no arrival times of requests. The time to the first token is therefore "
      "counted from the start of the step that computes the prompt, and is a lower bound.");
  if (const auto lacking = std::ranges::count_if(facts.steps, &ServingStepFacts::lacks_gpu_work);
      lacking > 0)
    out.back().notes.push_back(
        fmt::format("{} of {} steps have no GPU work in the trace. They have no step time, and the "
                    "times of their tokens are unknown.",
                    lacking, facts.steps.size()));
  std::vector<GapRow> gaps;
  for (std::size_t c = 1; c < kGapCauses; ++c)
    gaps.push_back({static_cast<GapCause>(c), facts.gaps[c], facts.gap_ns[c], facts.span_ns});
  out.push_back(gap_schema().table(gaps));
  return out;
}

} // namespace

const Analysis serving_analysis{
    "serving",
    "steps of an inference server: times, batches, rates, gaps",
    {"serving_steps", "serving_requests", "serving_summary", "serving_gaps"},
    run_serving,
    describe_serving};

} // namespace rankscope
