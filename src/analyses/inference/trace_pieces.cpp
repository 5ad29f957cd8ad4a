#include "analyses/inference/trace_pieces.h"

#include "base/interval_set.h"
#include "base/json_text.h"
#include "base/number_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace rankscope {
namespace {

constexpr std::size_t kMostOfAName = 120; ///< maximum number of bytes of an annotation in a file's
                                          ///< name

bool idle(const AnnotatedStep& s) {
  return !with_prefill(s.counts) && phase_of(s.counts) != StepPhase::kDecode;
}

std::vector<std::size_t> places_of(StepRange range) {
  std::vector<std::size_t> out;
  for (std::size_t i = range.begin; i < range.end; ++i)
    out.push_back(i);
  return out;
}

/// Returns "prefill_1_prefilldecode_2_decode_29".
std::string phase_text(const PiecePhases& p) {
  return fmt::format("prefill_{}_prefilldecode_{}_decode_{}", p.prefill, p.mixed, p.decode);
}

/// Returns an annotation in a form that is allowed in a file name.
std::string file_part(std::string_view name) {
  std::string out;
  for (const char c : name.substr(0, kMostOfAName)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/' || c == '(' || c == ' ' || byte < 0x20 || byte >= 0x7f)
      out += '_';
    else if (c != ')' && c != ':')
      out += c;
  }
  return out;
}

class Planner {
public:
  Planner(const Trace& trace, const std::vector<AnnotatedStep>& steps, const PieceChoice& choice,
          const std::string& base)
      : trace_(trace), steps_(steps), choice_(choice), base_(base) {}

  Result<std::vector<TracePiece>> plan() {
    RS_TRY(range_, iteration_range(choice_.iterations, steps_.size()));
    const bool chosen = !choice_.iterations.empty() && choice_.iterations != "all";
    if (choice_.single)
      single_steps();
    if (choice_.phases)
      phases(chosen);
    else if (choice_.steady)
      windows(chosen);
    else if (!choice_.single && chosen && !choice_.window.compat)
      add(fmt::format("steps_{}_{}", range_.begin, range_.end), places_of(range_));
    return std::move(out_);
  }

private:
  void add(const std::string& what, std::vector<std::size_t> places) {
    const PiecePhases p = phases_of(steps_, places);
    out_.push_back({fmt::format("{}_{}_bs{}_conc{}_{}.json.gz", what, phase_text(p), p.mean_batch,
                                p.mean_requests, base_),
                    std::move(places)});
  }

  void single_steps() {
    for (std::size_t i = range_.begin; i < range_.end; ++i)
      out_.push_back({fmt::format("{}_annotation_iteration_{}_{}.json.gz", base_, i,
                                  file_part(trace_.name(steps_[i].annotation))),
                      {i}});
  }

  [[nodiscard]] std::vector<StepCounts> counts() const {
    std::vector<StepCounts> out;
    for (std::size_t i = range_.begin; i < range_.end; ++i)
      out.push_back(steps_[i].counts);
    return out;
  }

  /// Returns the positions of the steps in the list. `part`: a range of counts().
  [[nodiscard]] StepRange in_trace(StepRange part) const {
    return {range_.begin + part.begin, range_.begin + part.end};
  }

  void windows(bool chosen) {
    WindowOptions options = choice_.window;
    options.all_steady = options.all_steady || (chosen && options.compat);
    const SteadyWindows found = steady_windows(counts(), options);
    if (found.mixed)
      add("mixed_steady_state", places_of(in_trace(*found.mixed)));
    if (found.decode)
      add("decode_only_steady_state", places_of(in_trace(*found.decode)));
    if (found.prefill_mix)
      add("prefilldecode_steady_state", places_of(in_trace(*found.prefill_mix)));
  }

  void phases(bool chosen) {
    const WindowOptions& w = choice_.window;
    const std::vector<StepCounts> all = counts();
    const std::vector<StepRange> regions = chosen && w.compat
                                               ? std::vector<StepRange>{{0, all.size()}}
                                               : steady_regions(all, w.steps, w.compat);
    std::vector<std::size_t> run;
    std::size_t chunks[2] = {};
    const auto close = [&] {
      if (run.empty())
        return;
      const bool mix = with_prefill(steps_[run.front()].counts);
      const std::string phase = mix ? "prefilldecodemix" : "decode_only";
      const PiecePhases p = phases_of(steps_, run);
      out_.push_back({fmt::format("{0}/{0}_chunk{1}_steps{2}_bs{3}_conc{4}_{5}_{6}.json.gz", phase,
                                  chunks[mix ? 0 : 1]++, run.size(), p.mean_batch, p.mean_requests,
                                  phase_text(p), base_),
                      std::move(run)});
      run.clear();
    };
    for (const StepRange& region : regions)
      for (const std::size_t i : places_of(in_trace(region))) {
        if (idle(steps_[i]))
          continue;
        if (!run.empty() &&
            with_prefill(steps_[run.front()].counts) != with_prefill(steps_[i].counts))
          close();
        run.push_back(i);
      }
    close();
  }

  const Trace& trace_;
  const std::vector<AnnotatedStep>& steps_;
  const PieceChoice& choice_;
  const std::string& base_;
  StepRange range_;
  std::vector<TracePiece> out_;
};

double us(std::int64_t ns) {
  return static_cast<double>(ns) / 1e3;
}

} // namespace

PiecePhases phases_of(const std::vector<AnnotatedStep>& steps,
                      const std::vector<std::size_t>& places) {
  PiecePhases out;
  double batch = 0;
  double requests = 0;
  for (const std::size_t i : places) {
    const StepCounts& s = steps[i].counts;
    const StepPhase phase = phase_of(s);
    out.prefill += phase == StepPhase::kPrefill ? 1 : 0;
    out.mixed += phase == StepPhase::kMixed ? 1 : 0;
    out.decode += phase == StepPhase::kDecode ? 1 : 0;
    batch += static_cast<double>(s.batch_size);
    requests += static_cast<double>(s.requests());
  }
  if (places.empty())
    return out;
  constexpr double kMost = 9e18;
  out.mean_batch =
      static_cast<std::int64_t>(std::min(kMost, batch / static_cast<double>(places.size())));
  out.mean_requests =
      static_cast<std::int64_t>(std::min(kMost, requests / static_cast<double>(places.size())));
  return out;
}

std::string piece_base(const std::string& trace_path) {
  std::string out = trace_path.substr(trace_path.rfind('/') + 1);
  for (const std::string_view ending : {".gz", ".zst", ".json", ".pt.trace"})
    if (out.size() > ending.size() && out.ends_with(ending))
      out.resize(out.size() - ending.size());
  return out;
}

Result<std::vector<TracePiece>> plan_pieces(const Trace& trace,
                                            const std::vector<AnnotatedStep>& steps,
                                            const PieceChoice& choice, const std::string& base) {
  return Planner(trace, steps, choice, base).plan();
}

StepEvents::StepEvents(const LoadedTrace& trace, const std::vector<AnnotatedStep>& steps,
                       bool compat)
    : t_(trace), steps_(steps), compat_(compat), members_(steps.size()) {
  const Events& e = t_.trace.events;
  const std::vector<Track>& tracks = t_.trace.tracks;
  std::map<std::tuple<std::int64_t, StrId, std::uint32_t>, std::uint32_t> groups;
  for (std::uint32_t i = 0; i < tracks.size(); ++i)
    group_of_track_.push_back(
        groups.emplace(std::tuple(tracks[i].pid, tracks[i].pid_text, compat ? i : 0), groups.size())
            .first->second);
  groups_.resize(groups.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::vector<Open>& group = groups_[group_of_track_[e.track[steps[i].annotation]]];
    const std::int64_t before = group.empty() ? INT64_MIN : group.back().latest_end_ns;
    group.push_back({steps[i].start_ns, steps[i].end_ns, std::max(before, steps[i].end_ns), i});
  }
  if (compat_)
    assign_by_correlation();
  else
    assign_by_launch();
  measure();
  if (!compat_)
    add_gpu_annotations();
}

/// Calls visit(step) for each step that is open at `ts`.
template <class Visit>
void StepEvents::open_steps(std::uint32_t track, std::int64_t ts, Visit&& visit) const {
  const std::vector<Open>& group = groups_[group_of_track_[track]];
  auto at = std::ranges::partition_point(group, [ts](const Open& o) { return o.start_ns <= ts; });
  while (at != group.begin() && std::prev(at)->latest_end_ns >= ts) {
    --at;
    if (at->end_ns >= ts)
      visit(at->step);
  }
}

void StepEvents::assign_by_launch() {
  const Events& e = t_.trace.events;
  const auto on_cpu = [&e](EventId i) {
    return !is_gpu(e.category[i]) && e.category[i] != Category::kGpuUserAnnotation;
  };
  const auto visit_steps = [&](EventId i, auto&& visit) {
    open_steps(e.track[i], e.ts_ns[i], [&](std::size_t step) {
      if (e.ts_ns[i] < steps_[step].end_ns || i == steps_[step].annotation)
        visit(step);
    });
  };
  for (EventId i = 0; i < e.size(); ++i)
    if (on_cpu(i))
      visit_steps(i, [&](std::size_t step) { members_[step].cpu.push_back(i); });
    else if (is_gpu(e.category[i]) && t_.tree.linked(i))
      visit_steps(t_.tree.parent(i), [&](std::size_t step) { members_[step].gpu.push_back(i); });
}

void StepEvents::assign_by_correlation() {
  const Events& e = t_.trace.events;
  std::map<std::int64_t, std::vector<std::size_t>> steps_of;
  const auto on_gpu = [&e](EventId i) {
    return is_gpu(e.category[i]) || e.category[i] == Category::kGpuUserAnnotation;
  };
  for (EventId i = 0; i < e.size(); ++i) {
    if (on_gpu(i))
      continue;
    open_steps(e.track[i], e.ts_ns[i], [&](std::size_t step) {
      if (t_.trace.end_ns(i) > steps_[step].end_ns)
        return;
      members_[step].cpu.push_back(i);
      if (e.correlation[i] == kNoId)
        return;
      std::vector<std::size_t>& known = steps_of[e.correlation[i]];
      if (known.empty() || known.back() != step)
        known.push_back(step);
    });
  }
  for (EventId i = 0; i < e.size(); ++i)
    if (on_gpu(i) && e.correlation[i] != kNoId)
      if (const auto at = steps_of.find(e.correlation[i]); at != steps_of.end())
        for (const std::size_t step : at->second)
          members_[step].gpu.push_back(i);
}

void StepEvents::measure() {
  const Trace& trace = t_.trace;
  for (Members& m : members_) {
    std::vector<Interval> work;
    for (const EventId i : m.gpu) {
      m.gpu_start_ns = std::min(m.gpu_start_ns, trace.events.ts_ns[i]);
      m.gpu_end_ns = std::max(m.gpu_end_ns, trace.end_ns(i));
      if (compat_)
        m.busy_ns += trace.events.dur_ns[i];
      else
        work.push_back({trace.events.ts_ns[i], trace.end_ns(i)});
    }
    if (!compat_)
      m.busy_ns = IntervalSet(std::move(work)).length();
  }
}

/// Adds GPU annotations. They have no launch, so a step gets the annotations within the time of its
/// GPU work.
void StepEvents::add_gpu_annotations() {
  const Events& e = t_.trace.events;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (!members_[i].gpu.empty())
      order.push_back(i);
  std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return std::tie(members_[a].gpu_start_ns, a) < std::tie(members_[b].gpu_start_ns, b);
  });
  std::vector<std::int64_t> latest; // latest end of the GPU work up to here
  for (const std::size_t i : order)
    latest.push_back(std::max(latest.empty() ? INT64_MIN : latest.back(), members_[i].gpu_end_ns));
  for (EventId i = 0; i < e.size(); ++i) {
    if (e.category[i] != Category::kGpuUserAnnotation)
      continue;
    auto at = static_cast<std::size_t>(
        std::ranges::partition_point(
            order, [&](std::size_t s) { return members_[s].gpu_start_ns <= e.ts_ns[i]; }) -
        order.begin());
    for (; at > 0 && latest[at - 1] >= t_.trace.end_ns(i); --at)
      if (Members& m = members_[order[at - 1]]; t_.trace.end_ns(i) <= m.gpu_end_ns)
        m.cpu.push_back(i);
  }
}

PieceEvents StepEvents::piece_events(const TracePiece& piece) const {
  const Events& e = t_.trace.events;
  PieceEvents out;
  std::vector<EventId> gpu;
  for (const std::size_t step : piece.steps) {
    const Members& m = members_[step];
    out.windows_ns.emplace_back(steps_[step].start_ns, steps_[step].end_ns);
    for (const EventId i : m.cpu) {
      out.entries.push_back(e.uid[i]);
      if (e.correlation[i] != kNoId && e.category[i] != Category::kGpuUserAnnotation)
        out.flow_ids.push_back(e.correlation[i]);
    }
    gpu.insert(gpu.end(), m.gpu.begin(), m.gpu.end());
    if (!m.gpu.empty())
      out.gpu_duration_ns += m.gpu_end_ns - m.gpu_start_ns;
    out.gpu_busy_ns += m.busy_ns;
  }
  const auto unique = [](auto& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  unique(gpu);
  out.gpu_events = gpu.size();
  for (const EventId i : gpu)
    out.entries.push_back(e.uid[i]);
  unique(out.entries);
  unique(out.flow_ids);
  unique(out.windows_ns);
  return out;
}

Schema<PieceFact> piece_schema() {
  using P = PieceFact;
  Schema<P> s("execution_details", "one row per file that split wrote");
  s.add({"idx", &P::number, "number of the file, from 0"});
  s.add({"output_path", &P::path, "path of the file, relative to the output folder"});
  s.add({"event_count", Unit::kCount, &P::events, "number of events in traceEvents of the file"});
  s.add({"num_gpu_events", Unit::kCount, [](const P& p) { return p.content.gpu_events; },
         "number of kernels, copies and fills in the file"});
  s.add({"gpu_duration", Unit::kUs,
         [](const P& p) { return round_decimals(us(p.content.gpu_duration_ns), 2); },
         "time from the start of a step's first GPU work to the end of its last GPU work, summed "
         "over the steps of the file"});
  s.add({"gpu_busy_duration", Unit::kUs,
         [](const P& p) { return round_decimals(us(p.content.gpu_busy_ns), 2); },
         "time during which GPU work of a step ran (compat: sum of the durations), summed over the "
         "steps of the file"});
  s.add({"num_steps", Unit::kCount, [](const P& p) { return p.steps.size(); },
         "number of steps in the file"});
  s.add({"phase_num_prefill", Unit::kCount, [](const P& p) { return p.phases.prefill; },
         "number of steps that only compute prompts"});
  s.add({"phase_num_prefilldecode", Unit::kCount, [](const P& p) { return p.phases.mixed; },
         "number of steps that compute prompts and generate tokens"});
  s.add({"phase_num_decode", Unit::kCount, [](const P& p) { return p.phases.decode; },
         "number of steps that only generate tokens"});
  s.add({"phase_avg_bs", [](const P& p) { return p.phases.mean_batch; },
         "mean number of tokens per step, rounded down"});
  s.add({"phase_avg_conc", [](const P& p) { return p.phases.mean_requests; },
         "mean number of requests per step, rounded down"});
  return s;
}

std::string pieces_json(const std::vector<PieceFact>& pieces) {
  std::string out = "[";
  for (const PieceFact& p : pieces) {
    out += fmt::format("{}\n  {{\"idx\": {}, \"output_path\": \"{}\", \"event_count\": {}, "
                       "\"num_gpu_events\": {}, \"gpu_duration\": {}, \"gpu_busy_duration\": {},\n"
                       "   \"steps\": [",
                       &p == pieces.data() ? "" : ",", p.number, json_escaped(p.path), p.events,
                       p.content.gpu_events, python_float(us(p.content.gpu_duration_ns)),
                       python_float(us(p.content.gpu_busy_ns)));
    for (const AnnotatedStep& s : p.steps)
      out += fmt::format("{}\n     {{\"batch_size\": {}, \"num_requests\": {}, "
                         "\"context_requests\": {}, \"context_sum\": {:.0f}, "
                         "\"generation_requests\": {}, \"generation_sum\": {:.0f}}}",
                         &s == p.steps.data() ? "" : ",", s.counts.batch_size, s.counts.requests(),
                         s.counts.context_requests, s.counts.sums.c_sq,
                         s.counts.generation_requests, s.counts.sums.g_sq);
    out += fmt::format("],\n   \"phase\": {{\"num_prefill\": {}, \"num_prefilldecode\": {}, "
                       "\"num_decode\": {}, \"avg_bs\": {}, \"avg_conc\": {}}}}}",
                       p.phases.prefill, p.phases.mixed, p.phases.decode, p.phases.mean_batch,
                       p.phases.mean_requests);
  }
  return out + "\n]\n";
}

} // namespace rankscope
