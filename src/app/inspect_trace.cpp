#include "app/inspect_trace.h"

#include "analyses/timeline/stream_overlap.h"
#include "app/graph_note.h"
#include "core/steps.h"
#include "engine/loader.h"

#include <array>
#include <fmt/format.h>
#include <map>

namespace rankscope {
namespace {

class Facts {
public:
  void add(const char* name, std::string value) {
    if (!value.empty())
      rows_.push_back({name, std::move(value)});
  }
  std::vector<TraceFact> take() { return std::move(rows_); }

private:
  std::vector<TraceFact> rows_;
};

/// Adds facts from the readers of AMD's and NVIDIA's tools, under the names that info shows.
void add_recorder(const Trace& trace, Facts& facts) {
  static constexpr std::array<std::pair<std::string_view, const char*>, 4> kFacts = {
      {{"_producer", "producer"},
       {"_clock", "clock"},
       {"_steps_from", "steps from"},
       {"_not_in_file", "not in the file"}}};
  for (const auto& [key, value] : trace.header.other)
    for (const auto& [end, name] : kFacts)
      if ((key.starts_with("rocprof_") || key.starts_with("cuda_")) && key.ends_with(end) &&
          value.size() > 2)
        facts.add(name, value.substr(1, value.size() - 2) +
                            (end == "_not_in_file" ? " (not traced, or did not occur)" : ""));
}

/// Returns "8 ranks" or "1 rank".
std::string ranks_of(std::int64_t size) {
  return fmt::format("{} {}", size, size == 1 ? "rank" : "ranks");
}

/// Adds one fact per process group if there are at most kNamed groups. Otherwise adds one fact with
/// the number of groups per description and size.
void add_process_groups(const TraceHeader& header, Facts& facts) {
  constexpr std::size_t kNamed = 4;
  if (header.process_groups.size() <= kNamed) {
    for (const ProcessGroup& pg : header.process_groups)
      facts.add("process group",
                fmt::format("{} ({}), {}", pg.name, pg.description, ranks_of(pg.size)));
    return;
  }
  std::map<std::pair<std::string, std::int64_t>, std::size_t> kinds;
  for (const ProcessGroup& pg : header.process_groups)
    ++kinds[{pg.description, pg.size}];
  std::string text = fmt::format("{}: ", header.process_groups.size());
  std::size_t named = 0;
  for (const auto& [kind, n] : kinds) {
    if (++named > kNamed) {
      text += fmt::format(", and {} more kinds", kinds.size() - kNamed);
      break;
    }
    text +=
        fmt::format("{}{}{}, {}", named > 1 ? "; " : "", n > 1 ? fmt::format("{} x ", n) : "",
                    kind.first.empty() ? "(no description)" : kind.first, ranks_of(kind.second));
  }
  facts.add("process groups", std::move(text));
}

void add_header(const Trace& trace, Facts& facts) {
  const TraceHeader& header = trace.header;
  facts.add("file", trace.path);
  add_recorder(trace, facts);
  facts.add("vendor", trace.vendor().empty() ? "unknown" : trace.vendor());
  if (!header.devices.empty())
    facts.add("device",
              fmt::format("{} x {}", header.devices.size(),
                          header.devices.front().name.empty() ? "(no name)"
                                                              : header.devices.front().name));
  facts.add("rank", header.rank ? std::to_string(*header.rank) : "not in the file");
  if (header.world_size)
    facts.add("world size", std::to_string(*header.world_size));
  facts.add("backend", header.backend);
  facts.add("NCCL or RCCL version", header.nccl_version);
  add_process_groups(header, facts);
}

/// Returns the time from the first start to the last end of the trace's events.
std::optional<std::int64_t> span_of(const Trace& trace) {
  const Events& e = trace.events;
  std::int64_t first = INT64_MAX;
  std::int64_t last = INT64_MIN;
  for (EventId i = 0; i < e.size(); ++i) {
    if (e.category[i] == Category::kOther)
      continue; // "Trace" rows span the entire recording
    first = std::min(first, e.ts_ns[i]);
    last = std::max(last, trace.end_ns(i));
  }
  return last >= first ? std::optional(last - first) : std::nullopt;
}

void add_times(const Trace& trace, Facts& facts) {
  facts.add("profiler steps", std::to_string(profiler_steps(trace).size()));
  if (const std::optional<std::int64_t> span = span_of(trace))
    facts.add("span", fmt::format("{:.3f} ms", static_cast<double>(*span) / 1e6));
  if (trace.clock().domain == ClockDomain::kUnix)
    facts.add("base time", fmt::format("{} ns since 1970", trace.clock().offset_ns));
}

void add_sizes(const LoadedTrace& t, Facts& facts) {
  const Trace& trace = t.trace;
  const std::size_t kept = trace.events.size();
  facts.add(trace.sources[0].reader.ends_with("json") ? "JSON" : "input",
            fmt::format("{:.1f} MB after unpacking", static_cast<double>(trace.input_bytes) / 1e6));
  facts.add("events", fmt::format("{} in the file, {} loaded, {} python_function skipped",
                                  trace.events_in_file, kept, trace.python_events_skipped));
  if (trace.counters.size() > 0)
    facts.add("counters", fmt::format("{} samples", trace.counters.size()));
  facts.add("memory",
            fmt::format("{:.1f} bytes per loaded event",
                        static_cast<double>(trace.memory_bytes()) / static_cast<double>(kept)));
  const std::size_t gpu = t.tree.gpu_event_count();
  facts.add("linked",
            gpu == 0 ? "no GPU events"
                     : fmt::format("{} of {} GPU events ({:.1f} %)", t.tree.linked_count(), gpu,
                                   100.0 * static_cast<double>(t.tree.linked_count()) /
                                       static_cast<double>(gpu)));
}

} // namespace

std::vector<TraceFact> trace_facts(const LoadedTrace& t) {
  Facts facts;
  constexpr std::string_view kPrefix = "graph launches: ";
  if (std::string line = graph_line(t, {}); !line.empty())
    facts.add("graph launches", line.substr(kPrefix.size()));
  add_header(t.trace, facts);
  add_times(t.trace, facts);
  add_sizes(t, facts);
  const StreamOverlaps overlaps = find_stream_overlaps(t.trace);
  if (overlaps.count > 0)
    facts.add("same-stream overlaps",
              fmt::format("{} ({:.3f} \u00b5s in total, longest {:.3f} \u00b5s)", overlaps.count,
                          static_cast<double>(overlaps.total_ns) / 1e3,
                          static_cast<double>(overlaps.longest_ns) / 1e3));
  return facts.take();
}

std::vector<CategoryCount> category_counts(const Trace& trace) {
  std::array<std::uint64_t, static_cast<std::size_t>(Category::kOther) + 1> counts{};
  for (const Category c : trace.events.category)
    ++counts[static_cast<std::size_t>(c)];
  std::vector<CategoryCount> out;
  for (std::size_t c = 0; c < counts.size(); ++c)
    if (counts[c] > 0)
      out.push_back({static_cast<Category>(c), counts[c]});
  return out;
}

Schema<TraceFact> trace_fact_schema() {
  using R = TraceFact;
  return {"trace",
          "content of the trace",
          {{"fact", &R::name, "name of the property"},
           {"value", &R::value, "value as text, with its unit"}}};
}

Schema<CategoryCount> category_count_schema() {
  using R = CategoryCount;
  return {"events",
          "events of each category",
          {{"category", [](const R& r) { return category_name(r.category); },
            "category of the profiler; `other` for a category that rankscope does not know"},
           {"events", Unit::kCount, &R::events, "number of events loaded into memory"}}};
}

TraceMetrics trace_metrics(const LoadedTrace& t) {
  const Trace& trace = t.trace;
  const auto count = [](auto n) { return static_cast<std::int64_t>(n); };
  TraceMetrics out;
  out.file = trace.path;
  out.vendor = trace.vendor();
  out.devices = count(trace.header.devices.size());
  out.device = trace.header.devices.empty() ? "" : trace.header.devices.front().name;
  out.backend = trace.header.backend;
  out.rank = trace.header.rank;
  out.world_size = trace.header.world_size;
  if (trace.clock().domain == ClockDomain::kUnix)
    out.base_time_ns = trace.clock().offset_ns;
  out.span_ns = span_of(trace);
  out.steps = count(profiler_steps(trace).size());
  out.input_bytes = count(trace.input_bytes);
  out.memory_bytes = count(trace.memory_bytes());
  out.events_in_file = count(trace.events_in_file);
  out.events = count(trace.events.size());
  out.python_events_skipped = count(trace.python_events_skipped);
  out.counters = count(trace.counters.size());
  out.gpu_events = count(t.tree.gpu_event_count());
  out.linked = count(t.tree.linked_count());
  const StreamOverlaps overlaps = find_stream_overlaps(trace);
  out.overlaps = count(overlaps.count);
  out.overlap_ns = overlaps.total_ns;
  return out;
}

Schema<TraceMetrics> trace_metrics_schema() {
  using R = TraceMetrics;
  return {
      "figures",
      "content of the trace as numbers; one row, only in JSON output",
      {{"file", or_blank(&R::file), "path of the trace as given"},
       {"vendor", or_blank(&R::vendor), "vendor of the GPUs: AMD or NVIDIA"},
       {"device", or_blank(&R::device), "name of the first GPU, from the driver"},
       {"backend", or_blank(&R::backend), "communication backend: nccl, gloo"},
       {"devices", Unit::kCount, &R::devices, "number of GPUs described in the file"},
       {"rank", &R::rank, "rank number in the file"},
       {"world_size", Unit::kCount, &R::world_size, "number of ranks of the run, from the file"},
       {"base_time_ns", Unit::kNs, &R::base_time_ns,
        "Unix time in nanoseconds at which the trace's clock reads 0"},
       {"span_ns", Unit::kNs, &R::span_ns, "time from the first start to the last end of an event"},
       {"steps", Unit::kCount, &R::steps, "number of profiler steps"},
       {"input_bytes", Unit::kBytes, &R::input_bytes, "size of the input after decompression"},
       {"memory_bytes", Unit::kBytes, &R::memory_bytes, "memory used by the trace after loading"},
       {"events_in_file", Unit::kCount, &R::events_in_file, "number of all events in the file"},
       {"events", Unit::kCount, &R::events, "number of events loaded into memory"},
       {"python_events_skipped", Unit::kCount, &R::python_events_skipped,
        "number of python_function events that were not loaded"},
       {"counters", Unit::kCount, &R::counters, "number of counter samples"},
       {"gpu_events", Unit::kCount, &R::gpu_events, "number of kernels, copies and fills"},
       {"linked", Unit::kCount, &R::linked,
        "number of GPU events whose launching call is in the trace"},
       {"overlaps", Unit::kCount, &R::overlaps,
        "number of GPU events that overlap the next event of their stream"},
       {"overlap_ns", Unit::kNs, &R::overlap_ns,
        "total time during which successive events of a stream overlap"}}};
}

Result<Report> inspect_trace(Session& session, const std::string& path) {
  LoadOptions load;
  load.threads = session.threads;
  RS_TRY(const LoadedTrace loaded, load_trace(path, load));
  Report report;
  report.title = loaded.trace.path;
  report.tables.push_back(trace_fact_schema().table(trace_facts(loaded)));
  report.tables.push_back(category_count_schema().table(category_counts(loaded.trace)));
  report.tables.push_back(trace_metrics_schema().table(std::vector{trace_metrics(loaded)}));
  report.diagnostics = loaded.trace.diagnostics;
  note_graphs(loaded, {}, 0, report.diagnostics);
  session.diagnostics.merge(report.diagnostics);
  return report;
}

} // namespace rankscope
