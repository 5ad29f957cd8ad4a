#include "core/trace_builder.h"

#include "core/arg_text.h"

#include <algorithm>

namespace rankscope {
namespace {

template <class T> void append_to(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

template <class T>
void append_mapped(std::vector<T>& to, const std::vector<T>& from, const std::vector<T>& ids) {
  for (const T id : from)
    to.push_back(ids[id]);
}

template <class T>
void take_rows(const std::vector<T>& from, const std::vector<EventId>& rows, std::vector<T>& to) {
  to.reserve(to.size() + rows.size());
  for (const EventId row : rows)
    to.push_back(from[row]);
}

std::uint32_t row_of(std::size_t rows) {
  return static_cast<std::uint32_t>(rows);
}

bool columns_differ(const Events& e) {
  bool differ = !e.source.empty() && e.source.size() != e.size();
  Events::each_column(
      [&](auto column, auto) { differ = differ || (e.*column).size() != e.size(); });
  return differ;
}

template <class T> bool beyond(const std::vector<T>& ids, std::size_t limit) {
  return std::any_of(ids.begin(), ids.end(), [limit](T id) { return id >= limit; });
}

std::uint64_t bytes_of_rows(const TraceChunk& c) {
  const auto bytes = [](const auto& rows) { return rows.size() * sizeof rows[0]; };
  constexpr std::uint64_t kFlowBytes = 24, kSampleBytes = 32;
  return c.events.size() * sizeof(EventRow) + c.flows.size() * kFlowBytes +
         c.counters.size() * kSampleBytes + bytes(c.op_args) + bytes(c.gpu_args) +
         bytes(c.python_args) + bytes(c.launch_args) + bytes(c.collectives) + bytes(c.graph_nodes);
}

/// Returns whether the `args` of an event is not a valid index into op_args, gpu_args, python_args
/// or launch_args.
bool args_beyond(const Trace& t) {
  const Events& e = t.events;
  for (EventId i = 0; i < e.size(); ++i) {
    if (e.args[i] == kNoRow)
      continue;
    const Category c = e.category[i];
    const std::size_t rows = is_gpu(c)                        ? t.gpu_args.size()
                             : c == Category::kPythonFunction ? t.python_args.size()
                             : c == Category::kCpuOp          ? t.op_args.size()
                             : is_runtime(c)                  ? t.launch_args.size()
                                                              : 0;
    if (e.args[i] >= rows)
      return true;
  }
  return false;
}

bool times_beyond(const Events& e) {
  for (EventId i = 0; i < e.size(); ++i)
    if (!usable_time(e.ts_ns[i], e.dur_ns[i]))
      return true;
  return false;
}

bool kernel_counters_broken(const Trace& t) {
  return std::ranges::any_of(t.kernel_counters, [&t](const KernelCounter& c) {
    return c.event >= t.events.size() || c.name >= t.strings.size();
  });
}

/// Returns whether a list of event data is not sorted by event.
template <class T>
bool out_of_order(const std::vector<std::pair<EventId, T>>& list, std::size_t events) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].first >= events || (i > 0 && list[i].first <= list[i - 1].first))
      return true;
  return false;
}

} // namespace

std::string broken_invariant(const Trace& t) {
  const Events& e = t.events;
  const Flows& f = t.flows;
  const Counters& c = t.counters;
  const std::size_t texts = t.strings.size();
  if (columns_differ(e))
    return "event columns differ in length";
  if (beyond(e.name, texts))
    return "the name of an event is not a text";
  if (beyond(e.track, t.tracks.size()) || beyond(f.track, t.tracks.size()) ||
      beyond(c.track, t.tracks.size()))
    return "an event, flow or sample has no track";
  if (beyond(e.source, t.sources.size()))
    return "an event has no source";
  if (args_beyond(t))
    return "an event has arguments that are not there";
  if (times_beyond(e))
    return "the times of an event do not fit";
  if (f.ts_ns.size() != f.size() || f.track.size() != f.size() || f.kind.size() != f.size())
    return "flow columns differ in length";
  if (c.name.size() != c.size() || c.ts_ns.size() != c.size() || c.value.size() != c.size() ||
      c.unit.size() != c.size())
    return "counter columns differ in length";
  if (beyond(c.name, texts) || beyond(c.unit, texts))
    return "the name of a counter is not a text";
  for (const OpArgs& a : t.op_args)
    for (const StrId id :
         {a.input_dims, a.input_types, a.input_strides, a.concrete_inputs, a.kernel_file})
      if (id >= texts)
        return "an argument is not a text";
  for (const LaunchArgs& a : t.launch_args)
    for (const StrId id : {a.kernel, a.grid, a.block})
      if (id >= texts)
        return "the kernel of a launch is not a text";
  if (out_of_order(t.collectives, t.events.size()))
    return "collectives are not in the order of their events";
  if (kernel_counters_broken(t))
    return "a counter has no kernel or no name";
  if (out_of_order(t.graph_nodes, t.events.size()))
    return "graph nodes are not in the order of their events";
  return "";
}

std::size_t TraceBuilder::TrackHash::operator()(const TrackKey& k) const {
  return static_cast<std::size_t>(static_cast<std::uint64_t>(k.pid) * 0x9e3779b97f4a7c15ULL ^
                                  static_cast<std::uint64_t>(k.tid) * 0xd6e8feb86659fd93ULL ^
                                  (k.pid_text * 31ULL + k.tid_text * 131ULL));
}

TraceBuilder::TraceBuilder(std::string path, std::string reader) {
  trace_.path = path;
  trace_.sources.push_back({std::move(path), std::move(reader), {}, CallWork::kOne});
}

TraceBuilder TraceBuilder::like(const Trace& trace) {
  TraceBuilder out(trace.path);
  Trace& to = out.trace_;
  to.header = trace.header;
  to.sources = trace.sources;
  for (StrId id = 0; id < trace.strings.size(); ++id)
    (void)to.strings.intern(trace.strings.view(id)); // the order is the same, so the ids are the
                                                     // same
  to.tracks = trace.tracks;
  out.index_tracks();
  to.flows = trace.flows;
  to.counters = trace.counters;
  to.op_args = trace.op_args;
  to.gpu_args = trace.gpu_args;
  to.python_args = trace.python_args;
  to.launch_args = trace.launch_args;
  to.input_bytes = trace.input_bytes;
  to.events_in_file = trace.events_in_file;
  to.python_events_skipped = trace.python_events_skipped;
  to.diagnostics = trace.diagnostics;
  return out;
}

TraceBuilder TraceBuilder::extend(Trace&& trace) {
  TraceBuilder out("");
  out.trace_ = std::move(trace);
  out.index_tracks();
  return out;
}

void TraceBuilder::index_tracks() {
  for (std::uint32_t row = 0; row < trace_.tracks.size(); ++row) {
    const Track& t = trace_.tracks[row];
    tracks_.emplace(TrackKey{t.pid, t.tid, t.pid_text, t.tid_text}, row);
  }
}

std::uint16_t TraceBuilder::add_source(TraceSource source) {
  trace_.sources.push_back(std::move(source));
  return static_cast<std::uint16_t>(trace_.sources.size() - 1);
}

void TraceBuilder::set_input(std::uint64_t bytes, std::uint64_t events) {
  trace_.input_bytes = bytes;
  trace_.events_in_file = events;
}

StrId TraceBuilder::arg_text(std::string_view json) {
  return text(normal_arg_text(json));
}

std::uint32_t TraceBuilder::track(const Track& track) {
  const auto [it, fresh] = tracks_.emplace(
      TrackKey{track.pid, track.tid, track.pid_text, track.tid_text}, row_of(trace_.tracks.size()));
  if (fresh)
    trace_.tracks.push_back(track);
  return it->second;
}

void TraceBuilder::set_thread_name(std::uint32_t track, StrId name) {
  trace_.tracks[track].thread_name = name;
}

EventId TraceBuilder::add(const EventRow& row) {
  spend(sizeof row);
  Events& e = trace_.events;
  const auto id = static_cast<EventId>(e.size());
  if (row.source != 0 && e.source.empty())
    e.source.assign(e.size(), 0);
  if (row.source != 0 || !e.source.empty())
    e.source.push_back(row.source);
  Events::each_column([&](auto column, auto field) { (e.*column).push_back(row.*field); });
  return id;
}

void TraceBuilder::collective(EventId event, const CollectiveArgs& args) {
  trace_.collectives.emplace_back(event, args);
}

void TraceBuilder::kernel_counter(EventId event, StrId name, double value) {
  spend(sizeof(KernelCounter));
  trace_.kernel_counters.push_back({event, name, value});
}

void TraceBuilder::flow(std::int64_t id, std::int64_t ts_ns, std::uint32_t track, FlowKind kind) {
  Flows& f = trace_.flows;
  f.id.push_back(id);
  f.ts_ns.push_back(ts_ns);
  f.track.push_back(track);
  f.kind.push_back(kind);
}

void TraceBuilder::sample(std::uint32_t track, StrId name, std::int64_t ts_ns, double value,
                          StrId unit) {
  Counters& c = trace_.counters;
  c.track.push_back(track);
  c.name.push_back(name);
  c.ts_ns.push_back(ts_ns);
  c.value.push_back(value);
  c.unit.push_back(unit);
}

void TraceBuilder::add_events(const Trace& other, const std::vector<EventId>& rows) {
  const Events& from = other.events;
  Events& to = trace_.events;
  const auto first = static_cast<EventId>(to.size());
  Events::each_column([&](auto column, auto) { take_rows(from.*column, rows, to.*column); });
  if (!from.source.empty()) {
    to.source.resize(first, 0);
    take_rows(from.source, rows, to.source);
  }
  std::vector<EventId> moved(from.size(), kNoEvent);
  for (EventId i = 0; i < rows.size(); ++i)
    moved[rows[i]] = first + i;
  for (const auto& [event, args] : other.collectives)
    if (moved[event] != kNoEvent)
      trace_.collectives.emplace_back(moved[event], args);
  for (const KernelCounter& c : other.kernel_counters)
    if (moved[c.event] != kNoEvent)
      trace_.kernel_counters.push_back({moved[c.event], c.name, c.value});
  for (const auto& [event, node] : other.graph_nodes)
    if (moved[event] != kNoEvent)
      trace_.graph_nodes.emplace_back(moved[event], node);
}

std::vector<std::uint32_t> TraceBuilder::append(const TraceChunk& c, std::uint32_t first_uid) {
  spend(bytes_of_rows(c));
  std::vector<StrId> texts(c.strings.size());
  for (StrId i = 0; i < c.strings.size(); ++i)
    texts[i] = text(c.strings.view(i));
  std::vector<std::uint32_t> tracks(c.tracks.size());
  for (std::size_t i = 0; i < c.tracks.size(); ++i) {
    Track t = c.tracks[i];
    t.pid_text = texts[t.pid_text];
    t.tid_text = texts[t.tid_text];
    tracks[i] = track(t);
  }
  Events& to = trace_.events;
  const auto first = static_cast<EventId>(to.size());
  append_to(to.ts_ns, c.events.ts_ns);
  append_to(to.dur_ns, c.events.dur_ns);
  append_to(to.correlation, c.events.correlation);
  append_to(to.external_id, c.events.external_id);
  append_to(to.stream, c.events.stream);
  append_to(to.device, c.events.device);
  append_to(to.category, c.events.category);
  append_mapped(to.name, c.events.name, texts);
  append_mapped(to.track, c.events.track, tracks);
  for (const std::uint32_t uid : c.events.uid)
    to.uid.push_back(first_uid + uid);
  if (!to.source.empty()) // if it is empty, the only source is the file, as in the chunk
    to.source.resize(to.ts_ns.size(), 0);
  const std::uint32_t ops = row_of(trace_.op_args.size());
  const std::uint32_t gpus = row_of(trace_.gpu_args.size());
  const std::uint32_t pys = row_of(trace_.python_args.size());
  const std::uint32_t launches = row_of(trace_.launch_args.size());
  for (std::size_t i = 0; i < c.events.args.size(); ++i) {
    std::uint32_t row = c.events.args[i];
    if (row != kNoRow)
      row += is_gpu(c.events.category[i])                        ? gpus
             : c.events.category[i] == Category::kPythonFunction ? pys
             : is_runtime(c.events.category[i])                  ? launches
                                                                 : ops;
    to.args.push_back(row);
  }
  for (OpArgs a : c.op_args) {
    for (StrId* id :
         {&a.input_dims, &a.input_types, &a.input_strides, &a.concrete_inputs, &a.kernel_file})
      *id = texts[*id];
    trace_.op_args.push_back(a);
  }
  for (GpuArgs a : c.gpu_args) {
    a.grid = texts[a.grid];
    a.block = texts[a.block];
    trace_.gpu_args.push_back(a);
  }
  append_to(trace_.python_args, c.python_args);
  for (LaunchArgs a : c.launch_args) {
    for (StrId* id : {&a.kernel, &a.grid, &a.block})
      *id = texts[*id];
    trace_.launch_args.push_back(a);
  }
  for (auto [event, a] : c.collectives) {
    for (StrId* id : {&a.collective_name, &a.dtype, &a.pg_name, &a.pg_description, &a.pg_ranks,
                      &a.in_split, &a.out_split})
      *id = texts[*id];
    trace_.collectives.emplace_back(first + event, a);
  }
  for (const auto& [event, node] : c.graph_nodes)
    trace_.graph_nodes.emplace_back(first + event, node);
  append_to(trace_.flows.id, c.flows.id);
  append_to(trace_.flows.ts_ns, c.flows.ts_ns);
  append_to(trace_.flows.kind, c.flows.kind);
  append_mapped(trace_.flows.track, c.flows.track, tracks);
  append_to(trace_.counters.ts_ns, c.counters.ts_ns);
  append_to(trace_.counters.value, c.counters.value);
  append_mapped(trace_.counters.track, c.counters.track, tracks);
  append_mapped(trace_.counters.name, c.counters.name, texts);
  append_mapped(trace_.counters.unit, c.counters.unit, texts);
  return tracks;
}

void TraceBuilder::reserve(std::size_t events) {
  Events::each_column([&](auto column, auto) { (trace_.events.*column).reserve(events); });
}

void TraceBuilder::name_processes() {
  for (Track& t : trace_.tracks)
    if (const auto it = processes_.find(t.pid); it != processes_.end() && t.pid_text == kEmptyStr) {
      t.process_name = it->second.name;
      t.process_label = it->second.label;
    }
}

void TraceBuilder::sum_kernel_counters() {
  std::vector<KernelCounter>& all = trace_.kernel_counters;
  std::stable_sort(all.begin(), all.end(), [](const KernelCounter& a, const KernelCounter& b) {
    return a.event != b.event ? a.event < b.event : a.name < b.name;
  });
  std::size_t kept = 0;
  for (const KernelCounter& c : all)
    if (kept > 0 && all[kept - 1].event == c.event && all[kept - 1].name == c.name)
      all[kept - 1].value += c.value;
    else
      all[kept++] = c;
  all.resize(kept);
}

Result<Trace> TraceBuilder::finish() && {
  name_processes();
  sum_kernel_counters();
  const std::string broken = broken_invariant(trace_);
  if (!broken.empty())
    return Error{ErrorCode::kInternal, trace_.path, "internal error, please report: " + broken, ""};
  return std::move(trace_);
}

} // namespace rankscope
