#include "analyses/inference/step_windows.h"

#include "analyses/inference/step_repeats.h"
#include "base/to_number.h"
#include "core/steps.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <utility>

namespace rankscope {
namespace {

constexpr std::int64_t kToOpen = 6; ///< number of steps near the maximum that open a region

std::size_t prefills(const std::vector<StepCounts>& steps, StepRange range) {
  std::size_t out = 0;
  for (std::size_t i = range.begin; i < range.end; ++i)
    out += with_prefill(steps[i]) ? 1 : 0;
  return out;
}

double mean_requests(const std::vector<StepCounts>& steps, StepRange range) {
  double sum = 0;
  for (std::size_t i = range.begin; i < range.end; ++i)
    sum += static_cast<double>(steps[i].requests());
  return sum / static_cast<double>(range.size());
}

/// Returns the longest run of steps that satisfy `wanted`, cut to `most` steps. Among equal runs,
/// returns the first.
template <class Wanted>
std::optional<StepRange> longest_run(const std::vector<StepCounts>& steps, StepRange in,
                                     std::size_t most, Wanted&& wanted) {
  StepRange best;
  for (std::size_t i = in.begin; i < in.end;) {
    std::size_t end = i;
    while (end < in.end && wanted(steps[end]))
      ++end;
    if (end - i > best.size())
      best = {i, end};
    i = std::max(end, i + 1);
  }
  if (best.size() == 0)
    return std::nullopt;
  return StepRange{best.begin, std::min(best.end, best.begin + most)};
}

std::optional<StepRange> mixed_window(const std::vector<StepCounts>& steps, StepRange region,
                                      std::size_t length, double reference) {
  if (region.size() <= length)
    return region;
  const std::size_t tries = std::max<std::size_t>(1, std::min<std::size_t>(length / 2, 10));
  const std::size_t stride = std::max<std::size_t>(1, length / tries);
  std::optional<StepRange> best;
  bool best_has_prefill = false;
  double best_distance = 0;
  double best_requests = 0;
  for (std::size_t begin = region.begin; begin + length <= region.end; begin += stride) {
    const StepRange window{begin, begin + length};
    const std::size_t count = prefills(steps, window);
    const double distance =
        std::fabs(static_cast<double>(count) / static_cast<double>(length) - reference);
    const double requests = mean_requests(steps, window);
    const bool better = (count > 0) != best_has_prefill ? count > 0
                        : distance != best_distance     ? distance < best_distance
                                                        : requests > best_requests;
    if (!best || better) {
      best = window;
      best_has_prefill = count > 0;
      best_distance = distance;
      best_requests = requests;
    }
  }
  return best;
}

/// Parses "3" or "3:9" for a list of `size` steps. An end beyond the list means the end of the
/// list.
std::optional<StepRange> parse_range(const std::string& text, std::size_t size) {
  const std::string_view view = text;
  const std::size_t colon = view.find(':');
  const auto begin = to_number<std::size_t>(view.substr(0, colon));
  const auto end = colon != std::string_view::npos ? to_number<std::size_t>(view.substr(colon + 1))
                   : begin                         ? std::optional(*begin + 1)
                                                   : std::nullopt;
  if (!begin || !end || *begin >= std::min(*end, size))
    return std::nullopt;
  return StepRange{*begin, std::min(*end, size)};
}

std::optional<StepRange> steady_range(const std::vector<StepCounts>& steps,
                                      const StepChoice& choice) {
  const SteadyWindows windows = steady_windows(steps, choice.window);
  switch (*choice.steady) {
  case SteadyPart::kMixed:
    return windows.mixed;
  case SteadyPart::kDecode:
    return windows.decode;
  case SteadyPart::kPrefill:
    return windows.prefill_mix;
  case SteadyPart::kRegion:
    break;
  }
  return windows.region;
}

std::string what_there_is(const std::vector<AnnotatedStep>& steps) {
  std::size_t count[kStepPhases] = {};
  for (const AnnotatedStep& s : steps)
    ++count[static_cast<std::size_t>(phase_of(s.counts))];
  return fmt::format(
      "the trace has {} annotated steps: {} prefill, {} mixed, {} decode, {} diffusion, "
      "{} idle, {} of an unknown phase",
      steps.size(), count[1], count[2], count[3], count[4], count[0], count[5]);
}

} // namespace

std::vector<StepRange> steady_regions(const std::vector<StepCounts>& steps, std::size_t window,
                                      bool compat) {
  const std::size_t n = steps.size();
  std::vector<StepRange> out;
  if (n == 0)
    return out;
  std::int64_t most = 0;
  for (const StepCounts& s : steps)
    most = std::max(most, s.requests());
  const double allowed = std::max(1.0, (n >= window ? 0.1 : 0.2) * static_cast<double>(most));
  std::int64_t k = 0;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < n; ++i) {
    const bool near = static_cast<double>(most - steps[i].requests()) <= allowed;
    if (!open && near && ++k >= kToOpen)
      open = i + 1 - static_cast<std::size_t>(k);
    else if (open && !near && --k <= 0) {
      out.push_back({*open, i});
      open.reset();
      k = 0;
    }
  }
  if (open)
    out.push_back({*open, compat ? n - 1 : n});
  if (out.empty()) {
    const std::size_t cut = std::min(n, std::max<std::size_t>(8, window > n ? window - n : 0));
    out.push_back({cut / 2, std::min(n, std::max(cut / 2 + 1, n - cut / 2))});
    if (out.back().begin >= out.back().end)
      out.back() = {0, n};
  }
  return out;
}

SteadyWindows steady_windows(const std::vector<StepCounts>& steps, const WindowOptions& options) {
  SteadyWindows out;
  const std::vector<StepRange> regions = options.all_steady && !steps.empty()
                                             ? std::vector<StepRange>{{0, steps.size()}}
                                             : steady_regions(steps, options.steps, options.compat);
  if (regions.empty())
    return out;
  std::size_t all = 0;
  std::size_t with = 0;
  for (const StepRange& region : regions) {
    all += region.size();
    with += prefills(steps, region);
    if (region.size() > out.region.size())
      out.region = region;
  }
  out.reference = all > 0 ? static_cast<double>(with) / static_cast<double>(all) : 0;
  std::size_t length = std::max<std::size_t>(1, options.steps);
  if (options.concurrency && options.output_tokens && options.length_ratio &&
      *options.output_tokens > 0) {
    const double ratio = std::clamp(*options.length_ratio, 0.0, 1.0);
    out.reference =
        2 * static_cast<double>(*options.concurrency) / (*options.output_tokens * (1 + ratio));
    if (out.reference > 0 && std::ceil(1 / out.reference) < 1e9)
      length = std::max(length, static_cast<std::size_t>(std::ceil(1 / out.reference)));
  }
  out.mixed = mixed_window(steps, out.region, length, out.reference);
  out.decode = longest_run(steps, out.region, options.steps,
                           [](const StepCounts& s) { return phase_of(s) == StepPhase::kDecode; });
  out.prefill_mix = longest_run(steps, out.region, options.steps, with_prefill);
  return out;
}

Result<StepRange> iteration_range(const std::string& iterations, std::size_t steps) {
  if (iterations.empty() || iterations == "all")
    return StepRange{0, steps};
  if (const auto asked = parse_range(iterations, steps))
    return *asked;
  return Error{ErrorCode::kUsage, "--iterations",
               fmt::format("expected N or A:B within 0:{}, not '{}'", steps, iterations), ""};
}

Result<std::vector<std::size_t>> choose_steps(const std::vector<AnnotatedStep>& steps,
                                              const StepChoice& choice) {
  if (steps.empty())
    return Error{ErrorCode::kUsage, "",
                 "the trace has no annotated serving steps, and no repeated CPU work from which "
                 "steps could be found",
                 "vLLM, SGLang, ATOM and xDiT can write these annotations"};
  RS_TRY(StepRange range, iteration_range(choice.iterations, steps.size()));
  if (choice.steady) {
    std::vector<StepCounts> counts;
    for (std::size_t i = range.begin; i < range.end; ++i)
      counts.push_back(steps[i].counts);
    const auto window = steady_range(counts, choice);
    if (!window)
      return Error{ErrorCode::kUsage, "--find-steady-state",
                   "the steady state has no step of this kind", what_there_is(steps)};
    range = {range.begin + window->begin, range.begin + window->end};
  }
  std::vector<std::size_t> out;
  for (std::size_t i = range.begin; i < range.end; ++i)
    if (!choice.phase || phase_of(steps[i].counts) == *choice.phase)
      out.push_back(i);
  if (out.empty())
    return Error{ErrorCode::kUsage, "--phase",
                 fmt::format("no {} step", phase_name(choice.phase.value_or(StepPhase::kIdle))),
                 what_there_is(steps)};
  return out;
}

Result<LoadedTrace> part_of_choice(LoadedTrace trace, const StepChoice& choice, bool include_python,
                                   std::string& chosen) {
  const auto complete = std::make_shared<const LoadedTrace>(std::move(trace));
  const LoadedTrace& t = *complete;
  const std::vector<AnnotatedStep> steps = steps_to_choose(t, choice.window.compat);
  RS_TRY(const std::vector<std::size_t> places, choose_steps(steps, choice));
  std::vector<TimeWindow> windows;
  for (const std::size_t place : places) {
    const AnnotatedStep& s = steps[place];
    windows.push_back(
        {s.start_ns, s.end_ns, t.trace.tracks[t.trace.events.track[s.annotation]].pid});
  }
  const bool repeated = steps.front().counts.kind == StepKind::kRepeated;
  chosen = fmt::format("{} of {} {}, {} to {}{}", places.size(), steps.size(),
                       repeated ? "steps without annotation (what repeats)" : "annotated steps",
                       places.front() + 1, places.back() + 1,
                       choice.iterations.empty() ? "" : " (--iterations counts from 0)");
  LoadedTrace out = part_of_windows(t, windows, include_python);
  out.complete = complete;
  return out;
}

} // namespace rankscope
