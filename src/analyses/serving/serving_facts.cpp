#include "analyses/serving/serving_facts.h"

#include "analyses/graph/graph_replays.h"
#include "base/interval_set.h"
#include "base/invariant.h"
#include "base/units.h"
#include "core/graph_launch.h"

#include <algorithm>
#include <map>

namespace rankscope {
namespace {

bool synchronises(std::string_view call) {
  return call.find("Synchronize") != std::string_view::npos;
}

/// Returns the parts of sorted, disjoint intervals that are within [start, end).
std::vector<Interval> slice(const IntervalSet& set, std::int64_t start, std::int64_t end) {
  const auto all = set.intervals();
  auto at = std::partition_point(all.begin(), all.end(),
                                 [start](const Interval& i) { return i.end <= start; });
  std::vector<Interval> out;
  for (; at != all.end() && at->start < end; ++at)
    out.push_back({std::max(at->start, start), std::min(at->end, end)});
  return out;
}

/// Computes the steps of a complete trace.
class Gatherer {
public:
  explicit Gatherer(const LoadedTrace& t) : t_(t), e_(t.trace.events) {}

  std::vector<ServingStepFacts> gather() {
    for (const AnnotatedStep& step : annotated_steps(t_.trace)) {
      ServingStepFacts facts;
      facts.step = step;
      facts.number = steps_.size() + 1;
      steps_.push_back(facts);
    }
    if (steps_.empty())
      return std::move(steps_);
    find_calls();
    find_gpu_work();
    times_and_gaps();
    return std::move(steps_);
  }

private:
  struct Call {
    std::int64_t start_ns, end_ns;
  };

  /// Returns the newest step of the process that is open at `ts`; kNoRow without such a step.
  [[nodiscard]] std::uint32_t step_of(std::uint32_t track, std::int64_t ts) const {
    const auto steps = by_process_.find(process(track));
    if (steps == by_process_.end())
      return kNoRow;
    const auto after = std::ranges::partition_point(
        steps->second, [&](std::uint32_t s) { return steps_[s].step.start_ns <= ts; });
    if (after == steps->second.begin() || ts >= steps_[*std::prev(after)].step.end_ns)
      return kNoRow;
    return *std::prev(after);
  }
  [[nodiscard]] std::pair<std::int64_t, StrId> process(std::uint32_t track) const {
    return {t_.trace.tracks[track].pid, t_.trace.tracks[track].pid_text};
  }

  void find_calls() {
    for (std::uint32_t s = 0; s < steps_.size(); ++s) {
      const std::uint32_t track = e_.track[steps_[s].step.annotation];
      by_process_[process(track)].push_back(s);
      step_tracks_[track] = true;
    }
    std::vector<Interval> steps;
    for (const ServingStepFacts& s : steps_)
      steps.push_back({s.step.start_ns, s.step.end_ns});
    in_steps_ = IntervalSet(std::move(steps));
    std::vector<Interval> waits;
    for (EventId i = 0; i < e_.size(); ++i)
      if (is_runtime(e_.category[i]) && step_tracks_.count(e_.track[i]) > 0 &&
          synchronises(t_.trace.name(i)))
        waits.push_back({e_.ts_ns[i], t_.trace.end_ns(i)});
    waits_ = IntervalSet(std::move(waits));
  }

  void find_gpu_work() {
    std::vector<std::vector<Interval>> work(steps_.size());
    first_call_.assign(steps_.size(), {0, 0});
    std::vector<Interval> all;
    std::vector<bool> counted(e_.size());
    for (EventId i = 0; i < e_.size(); ++i) {
      if (!is_gpu(e_.category[i]))
        continue;
      all.push_back({e_.ts_ns[i], t_.trace.end_ns(i)});
      const EventId call = t_.tree.linked(i) ? launch_of(t_, i) : kNoEvent;
      const std::uint32_t s = call == kNoEvent ? kNoRow : step_of(e_.track[call], e_.ts_ns[call]);
      if (s == kNoRow)
        continue;
      ServingStepFacts& step = steps_[s];
      if (step.gpu_events++ == 0 || e_.ts_ns[i] < step.gpu_start_ns) {
        step.gpu_start_ns = e_.ts_ns[i];
        first_call_[s] = {e_.ts_ns[call], t_.trace.end_ns(call)};
      }
      work[s].push_back(all.back());
      if (!counted[call]) {
        counted[call] = true;
        ++step.launches;
        step.graphs += launches_graph(t_.trace.name(call)) ? 1 : 0;
      }
    }
    busy_ = IntervalSet(std::move(all));
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      ServingStepFacts& step = steps_[s];
      step.end_ns = step.step.end_ns;
      if (work[s].empty())
        continue;
      step.end_ns = std::ranges::max_element(work[s], [](const auto& a, const auto& b) {
                      return a.end < b.end;
                    })->end;
      step.busy_ns = IntervalSet(std::move(work[s])).length();
      step.idle_ns =
          step.end_ns - step.gpu_start_ns - busy_.covered(step.gpu_start_ns, step.end_ns);
    }
  }

  void times_and_gaps() {
    std::optional<std::int64_t> last_end; // of the GPU work of all steps so far
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      ServingStepFacts& step = steps_[s];
      if (step.gpu_events == 0)
        continue;
      const std::int64_t before = std::min(last_end.value_or(step.step.start_ns), step.end_ns);
      step.time_ns = step.end_ns - std::min(std::max(step.step.start_ns, before), step.end_ns);
      step.period_ns = last_end ? step.end_ns - before : step.time_ns;
      if (last_end && step.gpu_start_ns > *last_end)
        gap_before(step, *last_end, first_call_[s]);
      last_end = std::max(last_end.value_or(step.end_ns), step.end_ns);
    }
  }

  void gap_before(ServingStepFacts& step, std::int64_t start, const Call& first) {
    const std::int64_t end = step.gpu_start_ns;
    IntervalSet idle = IntervalSet({{start, end}}).minus(IntervalSet(slice(busy_, start, end)));
    step.gap_ns = idle.length();
    const auto assign = [&](GapCause cause, const IntervalSet& during) {
      const IntervalSet part = idle.intersect(during);
      step.gap_by_cause[static_cast<std::size_t>(cause)] = part.length();
      idle = idle.minus(part);
    };
    if (first.end_ns < end)
      assign(GapCause::kLaunch, IntervalSet({{first.end_ns, end}}));
    assign(GapCause::kSync, IntervalSet(slice(waits_, start, end)));
    assign(GapCause::kHost, IntervalSet(slice(in_steps_, start, end)));
    assign(GapCause::kScheduler, IntervalSet({{start, end}}));
    const auto most = std::ranges::max_element(step.gap_by_cause);
    step.cause = static_cast<GapCause>(most - step.gap_by_cause.begin());
  }

  const LoadedTrace& t_;
  const Events& e_;
  std::vector<ServingStepFacts> steps_;
  std::map<std::pair<std::int64_t, StrId>, std::vector<std::uint32_t>> by_process_;
  std::map<std::uint32_t, bool> step_tracks_;
  std::vector<Call> first_call_;
  IntervalSet in_steps_, waits_, busy_;
};

using Weighted = std::vector<std::pair<double, std::int64_t>>;

void add_metric(ServingFacts& out, std::string_view phase, const char* metric,
                const char* count_unit, Weighted values) {
  std::erase_if(values, [](const auto& v) { return v.second <= 0; });
  if (values.empty())
    return;
  ServingMetric m;
  m.phase = phase;
  m.metric = metric;
  m.count_unit = count_unit;
  double sum = 0;
  for (const auto& [value, weight] : values) {
    m.count += weight;
    sum += value * static_cast<double>(weight);
    m.max = std::max(m.max, value);
  }
  m.mean = sum / static_cast<double>(m.count);
  m.p50 = weighted_quantile(values, 0.5);
  m.p90 = weighted_quantile(values, 0.9);
  m.p99 = weighted_quantile(values, 0.99);
  out.metrics.push_back(std::move(m));
}

double per_second_serving_facts(std::int64_t tokens, std::int64_t ns) {
  return ns > 0 ? static_cast<double>(tokens) / ns_to_s(ns) : 0;
}

void add_phase(ServingFacts& out, std::string_view phase,
               const std::vector<const ServingStepFacts*>& steps) {
  using S = ServingStepFacts;
  const auto over = [&](const char* metric, bool counts, auto&& value) {
    Weighted values;
    for (const S* s : steps)
      values.emplace_back(value(*s), s->gpu_events == 0 || (counts && !s->has_counts()) ? 0 : 1);
    add_metric(out, phase, metric, "steps", std::move(values));
  };
  const auto over_steps = [&](const char* metric, auto&& value) { over(metric, false, value); };
  const auto over_counts = [&](const char* metric, auto&& value) { over(metric, true, value); };
  over_steps("step time (ms)", [](const S& s) { return ns_to_ms(s.time_ns); });
  over_steps("GPU busy (ms)", [](const S& s) { return ns_to_ms(s.busy_ns); });
  over_steps("GPU idle in the step (ms)", [](const S& s) { return ns_to_ms(s.idle_ns); });
  over_steps("gap before the step (ms)", [](const S& s) { return ns_to_ms(s.gap_ns); });
  over_counts("requests", [](const S& s) { return static_cast<double>(s.step.counts.requests()); });
  over_counts("batch size (tokens)",
              [](const S& s) { return static_cast<double>(s.step.counts.batch_size); });
  over_counts("computed tokens per second", [](const S& s) {
    return per_second_serving_facts(s.step.counts.batch_size, s.period_ns);
  });
  over_counts("output tokens per second",
              [](const S& s) { return per_second_serving_facts(s.output_tokens(), s.period_ns); });
}

/// Returns the times between tokens, by number of the step of the later token. A decoding request
/// of a step waited since the end of the previous decoding step; at most as many requests as that
/// step decoded can have done so. Additional requests waited since the end of the previous step
/// that processed prompts. After a step with unknown requests, or with requests whose GPU work is
/// not in the trace, both are unknown.
std::map<std::size_t, Weighted> inter_token_times(const std::vector<ServingStepFacts>& steps) {
  std::map<std::size_t, Weighted> out;
  const ServingStepFacts* decoded = nullptr;
  const ServingStepFacts* prefilled = nullptr;
  for (const ServingStepFacts& step : steps) {
    if (!step.has_counts() || step.lacks_gpu_work()) {
      decoded = prefilled = nullptr;
      continue;
    }
    const std::int64_t now = step.step.counts.generation_requests;
    if (now > 0) {
      const std::int64_t same =
          decoded == nullptr ? 0 : std::min(now, decoded->step.counts.generation_requests);
      if (same > 0)
        out[step.number].emplace_back(ns_to_ms(step.end_ns - decoded->end_ns), same);
      if (now > same && prefilled != nullptr)
        out[step.number].emplace_back(
            ns_to_ms(step.end_ns - prefilled->end_ns),
            std::min(now - same, prefilled->step.counts.context_requests));
      decoded = &step;
    }
    if (step.step.counts.context_requests > 0)
      prefilled = &step;
  }
  return out;
}

/// Keeps the steps with annotations in `part`, and makes them refer to the annotations there.
void keep_steps_of(const Trace& part, const Trace& complete, std::vector<ServingStepFacts>& steps) {
  std::map<std::uint32_t, EventId> annotations; // by uid
  for (EventId i = 0; i < part.events.size(); ++i)
    if (part.events.category[i] == Category::kUserAnnotation)
      annotations.emplace(part.events.uid[i], i);
  std::erase_if(steps, [&](ServingStepFacts& s) {
    const auto found = annotations.find(complete.events.uid[s.step.annotation]);
    if (found != annotations.end())
      s.step.annotation = found->second;
    return found == annotations.end();
  });
}

void add_sums(ServingFacts& out) {
  std::vector<Interval> periods;
  for (const ServingStepFacts& s : out.steps) {
    periods.push_back({s.end_ns - s.period_ns, s.end_ns});
    for (std::size_t c = 1; c < kGapCauses; ++c)
      out.gap_ns[c] += s.gap_by_cause[c];
    if (s.gap_ns > 0)
      ++out.gaps[static_cast<std::size_t>(s.cause)];
  }
  out.span_ns = IntervalSet(std::move(periods)).length();
}

void add_metrics(ServingFacts& out, const std::map<std::size_t, Weighted>& between_tokens) {
  for (const StepPhase phase :
       {StepPhase::kPrefill, StepPhase::kMixed, StepPhase::kDecode, StepPhase::kDiffusion}) {
    std::vector<const ServingStepFacts*> steps;
    for (const ServingStepFacts& s : out.steps)
      if (phase_of(s.step.counts) == phase)
        steps.push_back(&s);
    if (!steps.empty())
      add_phase(out, phase_name(phase), steps);
  }
  Weighted first;
  Weighted between;
  std::int64_t tokens = 0;
  for (const ServingStepFacts& s : out.steps) {
    first.emplace_back(ns_to_ms(s.end_ns - s.step.start_ns),
                       s.has_counts() && s.gpu_events > 0 ? s.step.counts.context_requests : 0);
    if (const auto found = between_tokens.find(s.number); found != between_tokens.end())
      between.insert(between.end(), found->second.begin(), found->second.end());
    tokens += s.gpu_events > 0 ? s.output_tokens() : 0;
  }
  add_metric(out, "all", "first token, from the start of the step (ms)", "requests",
             std::move(first));
  add_metric(out, "all", "between tokens (ms)", "requests", std::move(between));
  if (tokens > 0 && std::ranges::all_of(out.steps, &ServingStepFacts::has_counts))
    add_metric(out, "all", "output tokens per second, over the complete span", "span",
               {{per_second_serving_facts(tokens, out.span_ns), 1}});
}

} // namespace

std::string_view gap_cause_name(GapCause cause) {
  static constexpr std::array<std::string_view, kGapCauses> kNames = {"none", "scheduler", "host",
                                                                      "sync", "launch"};
  return kNames[static_cast<std::size_t>(cause)];
}

double weighted_quantile(std::vector<std::pair<double, std::int64_t>> values, double q) {
  RS_ASSERT(!values.empty() && q >= 0 && q <= 1);
  std::sort(values.begin(), values.end());
  std::int64_t total = 0;
  for (const auto& [value, weight] : values)
    total += weight;
  std::int64_t up_to = 0;
  for (const auto& [value, weight] : values) {
    up_to += weight;
    if (static_cast<double>(up_to) >= q * static_cast<double>(total))
      return value;
  }
  return values.back().first;
}

ServingFacts compute(const LoadedTrace& t, const ServingKey& /*key*/) {
  const LoadedTrace& complete = t.complete != nullptr ? *t.complete : t;
  ServingFacts out;
  out.steps = Gatherer(complete).gather();
  if (out.steps.empty())
    return out;
  out.origin_ns = out.steps.front().step.start_ns;
  const std::map<std::size_t, Weighted> between_tokens = inter_token_times(out.steps);
  if (&complete != &t)
    keep_steps_of(t.trace, complete.trace, out.steps);
  add_sums(out);
  add_metrics(out, between_tokens);
  return out;
}

} // namespace rankscope
