#include "app/step_energy.h"

#include "base/to_number.h"

#include <algorithm>
#include <set>

namespace rankscope {
StepClock step_clock(const Trace& trace) {
  switch (trace.clock().domain) {
  case ClockDomain::kUnix:
    return StepClock::kUnix;
  case ClockDomain::kMonotonic:
    for (const auto& [key, value] : trace.header.other)
      if (key == "rocprof_clock")
        return value == "\"CLOCK_BOOTTIME\"" ? StepClock::kBoottime : StepClock::kMonotonic;
    return StepClock::kUnknown;
  default:
    return StepClock::kUnknown;
  }
}

namespace {

std::int64_t samples_within(const std::vector<PowerSample>& samples, const TimeSpan& span) {
  const auto first = std::ranges::partition_point(
      samples, [&](const PowerSample& s) { return s.unix_ns < span.begin_ns; });
  const auto last = std::partition_point(
      first, samples.end(), [&](const PowerSample& s) { return s.unix_ns <= span.end_ns; });
  return last - first;
}

} // namespace

TracedSteps traced_steps(const LoadedTrace& loaded) {
  const Trace& trace = loaded.trace;
  TracedSteps out;
  out.trace = trace.path;
  out.rank = trace.header.rank;
  out.steps = profiler_steps(trace);
  if (out.steps.empty())
    return out;
  out.clock = step_clock(trace);
  const std::int64_t offset = trace.clock().offset_ns;
  for (ProfilerStep& step : out.steps)
    step = {step.number, step.start_ns + offset, step.end_ns + offset};
  std::set<int> devices;
  for (EventId e = 0; e < trace.events.size(); ++e)
    if (trace.gpu(e) && trace.events.device[e] >= 0)
      devices.insert(trace.events.device[e]);
  out.devices.assign(devices.begin(), devices.end());
  return out;
}

std::int64_t unix_time(std::int64_t t_ns, StepClock clock, const ClockAnchor& begin,
                       const ClockAnchor& end) {
  if (clock != StepClock::kMonotonic && clock != StepClock::kBoottime)
    return t_ns;
  const auto anchor_ns = [&](const ClockAnchor& a) {
    return clock == StepClock::kMonotonic ? a.monotonic_ns : a.boottime_ns;
  };
  const std::int64_t first = begin.unix_ns - anchor_ns(begin);
  const std::int64_t last = end.unix_ns - anchor_ns(end);
  const std::int64_t length = anchor_ns(end) - anchor_ns(begin);
  const double part =
      length <= 0
          ? 0
          : std::clamp(static_cast<double>(t_ns - anchor_ns(begin)) / static_cast<double>(length),
                       0.0, 1.0);
  return t_ns + first + static_cast<std::int64_t>(part * static_cast<double>(last - first));
}

std::optional<int> SampledPower::gpu_of(int device) const {
  const auto known = gpu_of_device.find(device);
  const int gpu = known == gpu_of_device.end() ? device : known->second;
  return gpus.contains(gpu) ? std::optional(gpu) : std::nullopt;
}

std::vector<StepEnergy> step_energy(const TracedSteps& traced, const SampledPower& power) {
  std::vector<StepEnergy> out;
  if (traced.clock == StepClock::kUnknown)
    return out;
  std::vector<TimeSpan> spans;
  spans.reserve(traced.steps.size());
  for (const ProfilerStep& s : traced.steps)
    spans.push_back({unix_time(s.start_ns, traced.clock, power.begin, power.end),
                     unix_time(s.end_ns, traced.clock, power.begin, power.end)});
  const std::vector<PowerSample> none;
  for (const int device : traced.devices) {
    const std::optional<int> gpu = power.gpu_of(device);
    const std::vector<PowerSample>& samples = gpu ? power.gpus.at(*gpu) : none;
    const auto joules = span_energy(samples, spans, power.longest_gap_ns);
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const auto length_ns = static_cast<double>(spans[i].end_ns - spans[i].begin_ns);
      StepEnergy row;
      row.trace = traced.trace;
      row.rank = traced.rank;
      row.gpu = gpu;
      row.step = traced.steps[i].number;
      row.start_unix_ns = spans[i].begin_ns;
      row.duration_ms = length_ns / 1e6;
      if (const auto& energy = joules[i]) {
        row.joules_low = energy->low;
        row.joules_high = energy->high;
        const bool counted = energy->ns > 0 && energy->counted_ns == energy->ns;
        row.source = counted ? "counter" : "samples";
        if (is_aliased(energy->joules, energy->low, energy->high))
          row.source = "aliased";
        else
          row.joules = energy->joules;
      }
      if (row.joules && length_ns > 0)
        row.mean_w = *row.joules / (length_ns / 1e9);
      row.samples = samples_within(samples, spans[i]);
      out.push_back(std::move(row));
    }
  }
  return out;
}

std::map<int, int> visible_gpus(const std::string& visible,
                                const std::map<int, std::string>& uuids) {
  std::map<int, int> out;
  int device = 0;
  for (std::size_t begin = 0; !visible.empty() && begin <= visible.size(); ++device) {
    const std::size_t end = std::min(visible.find(',', begin), visible.size());
    const std::string word = visible.substr(begin, end - begin);
    begin = end + 1;
    const auto number = to_number<int>(word);
    out[device] = number.value_or(-1); // -1: not among the sampled GPUs
    if (number)
      continue;
    for (const auto& entry : uuids)
      if (!word.empty() && entry.second.rfind(word, 0) == 0)
        out[device] = entry.first;
  }
  return out;
}

Schema<StepEnergy> step_energy_schema() {
  using Row = StepEnergy;
  return Schema<StepEnergy>(
      "step_energy", "energy of each profiler step, from power samples of the same run",
      {{"rank", &Row::rank, "rank number in the trace or from the launcher"},
       {"gpu", &Row::gpu,
        "number of the GPU in the power samples; blank if this GPU was not sampled"},
       {"step", &Row::step, "number of the step: N of the annotation ProfilerStep#N"},
       {"start_unix_ns", &Row::start_unix_ns, "start of the step in Unix time"},
       {"duration_ms", Unit::kMs, &Row::duration_ms, "duration of the step"},
       {"joules", &Row::joules,
        "energy of the step: from the GPU's energy counter if it has one, otherwise the integral "
        "of the power samples; empty if the samples do not cover the step or are aliased"},
       {"mean_w", Unit::kWatt, &Row::mean_w,
        "mean power of the step: joules divided by the duration"},
       {"samples", Unit::kCount, &Row::samples, "number of power samples within the step"},
       {"joules_low", &Row::joules_low,
        "lower bound of the energy: between two samples, the lower of the two powers is assumed"},
       {"joules_high", &Row::joules_high,
        "upper bound of the energy: between two samples, the higher of the two powers is assumed"},
       {"energy_source", or_blank(&Row::source),
        "source of the energy. counter: the GPU's energy counter; samples: integral of the power "
        "samples; aliased: the power changes as fast as it is sampled, so only the two bounds are "
        "known"},
       {"trace", or_blank(&Row::trace), "path of the trace that contains the step"}});
}

} // namespace rankscope
