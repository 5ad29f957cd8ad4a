// serving_steps, serving_requests, serving_summary and serving_gaps (docs/serving.md).
#include "analyses/analysis.h"
#include "analyses/serving/serving_facts.h"
#include "base/units.h"

namespace rankscope {
namespace {

struct StepRow {
  const ServingStepFacts* facts = nullptr;
  std::string_view name;
  std::int64_t origin_ns = 0; ///< start of the first step
};

Value per_second(std::int64_t tokens, std::int64_t ns) {
  return ns > 0 ? Value(static_cast<double>(tokens) / ns_to_s(ns)) : Value();
}

Field<StepRow> ms(const char* id, const char* label, std::int64_t ServingStepFacts::*field,
                  const char* help) {
  return {id, label, Unit::kMs, [field](const StepRow& r) { return ns_to_ms(r.facts->*field); },
          help};
}

Field<StepRow> count(const char* id, std::size_t ServingStepFacts::*field, const char* help) {
  return {id, Unit::kCount, [field](const StepRow& r) { return r.facts->*field; }, help};
}

template <class Get> Field<StepRow> of_counts(const char* id, const char* help, Get get) {
  return {id, Unit::kCount,
          [get](const StepRow& r) { return std::invoke(get, r.facts->step.counts); }, help};
}

void add_what(Schema<StepRow>& schema) {
  schema.add(count("step", &ServingStepFacts::number, "number of the step, by start"));
  schema.add({"annotation", &StepRow::name, "as the server wrote it"});
  schema.add({"phase", [](const StepRow& r) { return phase_name(phase_of(r.facts->step.counts)); },
              "prefill, decode, mixed (both) or idle (no request)"});
  schema.add(of_counts("context_requests", "requests whose prompts are computed",
                       &StepCounts::context_requests));
  schema.add(
      of_counts("generation_requests", "requests that decode", &StepCounts::generation_requests));
  schema.add(of_counts("context_tokens", "tokens of prompts computed",
                       [](const StepCounts& c) { return static_cast<std::int64_t>(c.sums.c_sq); }));
  schema.add(of_counts("generation_tokens", "tokens computed for requests that decode",
                       [](const StepCounts& c) { return static_cast<std::int64_t>(c.sums.g_sq); }));
  schema.add(of_counts("batch_size", "tokens computed in the step", &StepCounts::batch_size));
}

Schema<StepRow> step_schema() {
  using F = ServingStepFacts;
  Schema<StepRow> schema("serving_steps", "steps of an inference server, by their annotations");
  add_what(schema);
  schema.add({"start_ms", "start (ms)", Unit::kMs,
              [](const StepRow& r) { return ns_to_ms(r.facts->step.start_ns - r.origin_ns); },
              "start of the annotation, since the first step's"});
  schema.add(
      {"cpu_ms", "CPU time (ms)", Unit::kMs,
       [](const StepRow& r) { return ns_to_ms(r.facts->step.end_ns - r.facts->step.start_ns); },
       "length of the annotation"});
  schema.add(ms("step_time_ms", "step time (ms)", &F::time_ns,
                "to the end of its GPU work from its start, or from the end of the step before "
                "where that is later"));
  schema.add(ms("period_ms", "period (ms)", &F::period_ns,
                "from the end of the step before to the end of this one"));
  schema.add(ms("gpu_busy_ms", "GPU busy (ms)", &F::busy_ns,
                "union of the GPU work that its calls launched"));
  schema.add(ms("gpu_idle_ms", "GPU idle (ms)", &F::idle_ns,
                "between its first and last GPU work with nothing on the GPU"));
  schema.add(count("launches", &F::launches, "calls that launched GPU work"));
  schema.add(count("graph_launches", &F::graphs, "of these: launches of graphs"));
  schema.add(count("gpu_events", &F::gpu_events, "kernels, copies and memsets of these"));
  schema.add({"tokens_per_s", "tokens per second", Unit::kNone, CellKind::kDouble,
              [](const StepRow& r) {
                return per_second(r.facts->step.counts.batch_size, r.facts->period_ns);
              },
              "batch_size over the period"});
  schema.add(
      {"output_tokens_per_s", "output tokens per second", Unit::kNone, CellKind::kDouble,
       [](const StepRow& r) { return per_second(r.facts->output_tokens(), r.facts->period_ns); },
       "one token for each request over the period"});
  schema.add(ms("gap_ms", "gap before (ms)", &F::gap_ns,
                "idle GPU between the work of the steps before and its own"));
  schema.add({"gap_cause", "gap cause", Unit::kNone,
              [](const StepRow& r) { return gap_cause_name(r.facts->cause); },
              "what the CPU did in most of it: scheduler (in no step), host (in a step), sync "
              "(waiting), launch (launched, not begun)"});
  return schema;
}

/// A request of a step whose annotation lists them.
struct RequestRow {
  const ServingStepFacts* facts = nullptr;
  std::size_t place = 0; ///< 1-based place in the list
  std::int64_t tokens = 0;
};

Schema<RequestRow> request_schema() {
  using R = RequestRow;
  return {"serving_requests",
          "requests of steps whose annotations list their lengths (ATOM's ctx=[..])",
          {{"step", Unit::kCount, [](const R& r) { return r.facts->number; },
            "number of the step, by start"},
           {"phase", [](const R& r) { return phase_name(phase_of(r.facts->step.counts)); },
            "prefill or decode"},
           {"place", Unit::kCount, &R::place,
            "in the list of the step, from 1; the same place of another step need not be the same "
            "request"},
           {"tokens", Unit::kCount, &R::tokens, "attended by the request"},
           {"percent_of_tokens", "of the step's tokens (%)", Unit::kPercent, CellKind::kDouble,
            [](const R& r) {
              const double all = r.facts->step.counts.sums.c_sk + r.facts->step.counts.sums.g_sk;
              return all > 0 ? Value(100.0 * static_cast<double>(r.tokens) / all) : Value();
            },
            "of all tokens that the step's requests attend to"},
           {"token_after_ms", "token after (ms)", Unit::kMs,
            [](const R& r) { return ns_to_ms(r.facts->end_ns - r.facts->step.start_ns); },
            "from the start of the step to the end of its GPU work: of a prefill the first token, "
            "from the step's start"}}};
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
          "times and rates of an inference server over its steps and requests",
          {{"phase", &R::phase, "of the steps; all: requests, or the complete span"},
           {"metric", &R::metric, "quantity, with its unit"},
           {"of", &R::of, "what is counted once: steps, or requests of steps"},
           {"count", Unit::kCount, &R::count, "steps, or requests over all steps"},
           {"mean", &R::mean, "over these"},
           {"p50", &R::p50, "half of them have at most this"},
           {"p90", &R::p90, "90 % of them have at most this"},
           {"p99", &R::p99, "99 % of them have at most this"},
           {"max", &R::max, "the largest"}}};
}

struct GapRow {
  GapCause cause = GapCause::kNone;
  std::size_t gaps = 0;
  std::int64_t ns = 0;
  std::int64_t span_ns = 0;
};

Schema<GapRow> gap_schema() {
  using R = GapRow;
  return {"serving_gaps",
          "idle GPU between steps by what the CPU did",
          {{"cause", [](const R& r) { return gap_cause_name(r.cause); },
            "scheduler (in no step), host (in a step), sync (waiting), launch (launched, not "
            "begun)"},
           {"gaps", Unit::kCount, &R::gaps, "gaps with most of their time so"},
           {"time_ms", "time (ms)", Unit::kMs, in_ms(&R::ns), "over all gaps"},
           {"percent", "of the span (%)", Unit::kPercent,
            [](const R& r) { return percent_of(r.ns, r.span_ns); },
            "of the time from the first step's start to the last one's end"}}};
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
    steps.push_back({&s, t.trace.name(s.step.annotation), facts.steps.front().step.start_ns});
  out.push_back(step_schema().table(steps));
  if (const std::vector<RequestRow> requests = requests_of(t.trace, facts); !requests.empty())
    out.push_back(request_schema().table(requests));
  out.push_back(metric_schema().table(facts.metrics));
  out.back().notes.push_back("annotations name no requests: arrival and queueing are not in the "
                             "trace, so first tokens are from the start of the step that computes "
                             "the prompt, a lower bound");
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
