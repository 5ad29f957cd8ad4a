#include "analyses/records/records.h"

#include "analyses/operators/launchers.h"
#include "analyses/timeline/gpu_timeline.h"
#include "base/not_negative.h"
#include "model/kernel_family.h"
#include "model/kernels.h"

#include <algorithm>
#include <utility>

namespace rankscope {
namespace {

constexpr ColumnStyle kNested{.nested = true};

const Trace& trace_of(const EventRecord& r) {
  return r.data->trace->trace;
}

std::optional<std::string_view> text_of(const EventRecord& r, StrId id) {
  return text_or_blank(trace_of(r).strings.view(id));
}

std::int64_t ts_of(const EventRecord& r) {
  return trace_of(r).events.ts_ns[r.event];
}

/// Returns a function that applies `get` to a trace and the event that `find` returns for a record;
/// nullopt if `find` returns no event.
template <class Find, class Get> auto of_event(Find find, Get get) {
  return [find, get](const EventRecord& r) {
    const EventId e = find(r);
    return e == kNoEvent ? std::nullopt : std::optional(get(trace_of(r), e));
  };
}

auto uid_of(const Trace& trace, EventId e) {
  return trace.events.uid[e];
}

std::string_view name_of_event(const Trace& trace, EventId e) {
  return trace.name(e);
}

const Track& track_of(const EventRecord& r) {
  return trace_of(r).tracks[trace_of(r).events.track[r.event]];
}

/// Returns the call that launched a GPU event, or kNoEvent.
EventId launch_of(const EventRecord& r) {
  const CallTree& tree = r.data->trace->tree;
  return tree.linked(r.event) ? tree.parent(r.event) : kNoEvent;
}

EventId parent_of(const EventRecord& r) {
  return r.data->trace->tree.cpu_op_above(trace_of(r), r.event);
}

EventId operator_of(const EventRecord& r) {
  return launch_of(r) == kNoEvent ? kNoEvent : parent_of(r);
}

std::optional<std::int64_t> step_of_kernel(const EventRecord& r) {
  return not_negative(r.data->steps.of(trace_of(r), r.data->trace->tree, r.event));
}

std::optional<std::int64_t> clock_time(const EventRecord& r) {
  const Clock& clock = trace_of(r).clock();
  if (clock.domain != ClockDomain::kUnix)
    return std::nullopt;
  return clock.offset_ns + ts_of(r);
}

std::string_view work_of(const EventRecord& r) {
  const Events& events = trace_of(r).events;
  switch (events.category[r.event]) {
  case Category::kGpuMemcpy:
    return "memcpy";
  case Category::kGpuMemset:
    return "memset";
  default:
    return r.data->copies[events.name[r.event]]          ? "memcpy"
           : r.data->communication[events.name[r.event]] ? "communication"
                                                         : "computation";
  }
}

void add_place(Schema<EventRecord>& schema) {
  using R = EventRecord;
  schema.add({"run", [](const R& r) { return std::string_view(r.data->place.run); },
              "name of the run: its configuration or folder"});
  schema.add(
      {"node", [](const R& r) { return r.data->place.node; },
       "number of the node: rank divided by the number of GPUs per node; 0 if it is unknown"});
  schema.add({"rank", [](const R& r) { return r.data->place.rank; }, "rank number of the trace"});
  schema.add({"event", [](const R& r) { return trace_of(r).events.uid[r.event]; },
              "id of the event in its file (Kineto: index in traceEvents)"});
  schema.add({"name", [](const R& r) { return trace_of(r).name(r.event); },
              "name of the event in the file"});
}

void add_times(Schema<EventRecord>& schema) {
  using R = EventRecord;
  schema.add(
      {"start_ns", "start (ns)", Unit::kNs, ts_of, "start of the event, on the clock of the file"});
  schema.add({"dur_ns", "duration (ns)", Unit::kNs,
              [](const R& r) { return trace_of(r).events.dur_ns[r.event]; },
              "duration of the event"});
  schema.add({"end_ns", "end (ns)", Unit::kNs,
              [](const R& r) { return trace_of(r).end_ns(r.event); },
              "end of the event: start + duration"});
}

void add_ids(Schema<EventRecord>& schema) {
  using R = EventRecord;
  schema.add({"correlation",
              [](const R& r) { return known(trace_of(r).events.correlation[r.event]); },
              "id that a GPU event shares with the call that launched it"});
  schema.add({"external_id", "External id", Unit::kNone,
              [](const R& r) { return known(trace_of(r).events.external_id[r.event]); },
              "id that an operator shares with its launches"});
}

void add_where(Schema<EventRecord>& schema) {
  using R = EventRecord;
  schema.add({"device", [](const R& r) { return not_negative(trace_of(r).events.device[r.event]); },
              "number of the GPU; NULL if this is not a GPU event"});
  schema.add({"stream", [](const R& r) { return not_negative(trace_of(r).events.stream[r.event]); },
              "number of the stream, for GPU events and synchronisation events"});
}

std::optional<std::int64_t> plain_number(std::int64_t n, StrId text) {
  return text == kEmptyStr ? std::optional(n) : std::nullopt;
}

void add_threads(Schema<EventRecord>& schema) {
  using R = EventRecord;
  schema.add({"pid", [](const R& r) { return plain_number(track_of(r).pid, track_of(r).pid_text); },
              "process id; NULL if the file contains a text instead of a number"});
  schema.add(
      {"tid", [](const R& r) { return plain_number(track_of(r).tid, track_of(r).tid_text); },
       "thread id, or stream of a GPU; NULL if the file contains a text instead of a number"});
  schema.add({"thread", [](const R& r) { return text_of(r, track_of(r).thread_name); },
              "name of the thread"});
}

Schema<EventRecord> make_events() {
  using R = EventRecord;
  Schema<R> schema(
      "events",
      "events of the traces with their own times; without Python frames, instants and counters");
  add_place(schema);
  schema.add({"category",
              [](const R& r) { return category_name(trace_of(r).events.category[r.event]); },
              "category of the profiler; `other` for a category that rankscope does not know"});
  add_times(schema);
  schema.add({"unix_ns", "unix time (ns)", Unit::kNs, clock_time,
              "start of the event in Unix time; NULL if the file contains no Unix time"});
  add_threads(schema);
  add_where(schema);
  add_ids(schema);
  return schema;
}

void add_launch(Schema<EventRecord>& schema) {
  schema.add(
      {"step", step_of_kernel,
       "number of the profiler step in which the work was launched: N of ProfilerStep#N. If the "
       "trace does not contain the launch: the step of the launched work before it on its stream"});
  schema.add({"launch_event", "launch event", Unit::kNone, of_event(launch_of, uid_of),
              "id of the call that launched the work; NULL if the call is not in the trace"});
  schema.add({"launch_ns", "launch (ns)", Unit::kNs,
              of_event(launch_of, [](const Trace& t, EventId e) { return t.events.ts_ns[e]; }),
              "start of the launching call"});
  schema.add({"launch_dur_ns", "launch duration (ns)", Unit::kNs,
              of_event(launch_of, [](const Trace& t, EventId e) { return t.events.dur_ns[e]; }),
              "duration of the launching call"});
  schema.add({"launch", of_event(launch_of, name_of_event), "name of the launching call"});
  schema.add({"operator_event", "operator event", Unit::kNone, of_event(operator_of, uid_of),
              "id of the innermost operator around the launching call"});
  schema.add({"operator", of_event(operator_of, name_of_event),
              "name of the innermost operator around the launching call"});
}

Schema<EventRecord> make_kernels() {
  using R = EventRecord;
  Schema<R> schema("kernels",
                   "GPU work (kernels, copies, fills) with its launching call and operator");
  add_place(schema);
  schema.add({"work", work_of, "kind of GPU work: computation, communication, memcpy or memset"});
  schema.add(
      {"family",
       [](const R& r) { return kernel_family_name(kernel_family(trace_of(r).name(r.event))); },
       "kind of kernel, derived from its name: GEMM, attention, norm, elementwise, reduce, copy, "
       "communication or other"});
  add_times(schema);
  add_where(schema);
  add_launch(schema);
  add_ids(schema);
  const auto geometry = [](StrId GpuArgs::*text) {
    return [text](const R& r) {
      const GpuArgs* args = trace_of(r).gpu_arg(r.event);
      return args == nullptr ? std::nullopt : text_of(r, args->*text);
    };
  };
  schema.add({"grid", geometry(&GpuArgs::grid),
              "number of blocks in each dimension, as a JSON list", kNested});
  schema.add({"block", geometry(&GpuArgs::block),
              "number of threads per block in each dimension, as a JSON list", kNested});
  schema.add({"size_bytes", "bytes", Unit::kBytes,
              [](const R& r) {
                const GpuArgs* args = trace_of(r).gpu_arg(r.event);
                return args == nullptr ? std::nullopt : known(args->bytes);
              },
              "size of a copy or fill"});
  return schema;
}

std::int64_t kernel_ns(const EventRecord& r) {
  std::int64_t sum = 0;
  for (const EventId k : r.data->trace->tree.gpu_events(r.event))
    sum += trace_of(r).events.dur_ns[k];
  return sum;
}

void add_arguments(Schema<EventRecord>& schema) {
  using R = EventRecord;
  const auto argument = [](StrId OpArgs::*text) {
    return [text](const R& r) {
      const OpArgs* args = trace_of(r).op(r.event);
      return args == nullptr ? std::nullopt : text_of(r, args->*text);
    };
  };
  schema.add({"input_dims", "Input Dims", Unit::kNone, argument(&OpArgs::input_dims),
              "shapes of the arguments, as a JSON list", kNested});
  schema.add({"input_types", "Input type", Unit::kNone, argument(&OpArgs::input_types),
              "types of the arguments, as a JSON list", kNested});
  schema.add({"input_strides", "Input Strides", Unit::kNone, argument(&OpArgs::input_strides),
              "strides of the arguments, as a JSON list", kNested});
  schema.add({"concrete_inputs", "Concrete Inputs", Unit::kNone, argument(&OpArgs::concrete_inputs),
              "scalar arguments, as a JSON list", kNested});
  schema.add({"sequence_number", "Sequence number", Unit::kNone,
              [](const R& r) {
                const OpArgs* args = trace_of(r).op(r.event);
                return args == nullptr ? std::nullopt : known(args->sequence_number);
              },
              "sequence number that a forward operator shares with its backward operator"});
}

Schema<EventRecord> make_operators() {
  using R = EventRecord;
  Schema<R> schema("operators",
                   "operators (cpu_op) with their arguments and the GPU work that they launched");
  add_place(schema);
  add_times(schema);
  add_threads(schema);
  schema.add({"step",
              [](const R& r) { return not_negative(step_at(r.data->steps.steps(), ts_of(r))); },
              "number of the profiler step in which the operator starts: N of ProfilerStep#N"});
  schema.add({"parent_event", "parent event", Unit::kNone, of_event(parent_of, uid_of),
              "id of the operator that called this one; NULL if no operator called it"});
  schema.add({"outermost", [](const R& r) { return parent_of(r) == kNoEvent; },
              "whether no other operator called this one"});
  schema.add({"kernels", Unit::kCount,
              [](const R& r) { return r.data->trace->tree.gpu_events(r.event).size(); },
              "number of GPU events that the operator and the operators inside it launched"});
  schema.add({"kernel_ns", "kernel time (ns)", Unit::kNs, kernel_ns,
              "sum of the durations of the GPU events counted in kernels. The operators inside "
              "this one count the same events again, so add up only outermost operators"});
  add_arguments(schema);
  schema.add({"external_id", "External id", Unit::kNone,
              [](const R& r) { return known(trace_of(r).events.external_id[r.event]); },
              "id that the operator shares with its launches"});
  return schema;
}

} // namespace

RecordTrace record_trace(RecordPlace place, std::shared_ptr<const LoadedTrace> loaded,
                         bool linked) {
  RecordTrace out;
  out.place = std::move(place);
  const Trace& trace = loaded->trace;
  if (std::ranges::find(trace.events.category, Category::kPythonFunction) !=
      trace.events.category.end())
    for (EventId e = 0; e < trace.events.size(); ++e)
      if (trace.events.category[e] != Category::kPythonFunction)
        out.without_frames.push_back(e);
  if (linked) {
    for (EventId e = 0; e < trace.events.size(); ++e)
      if (is_gpu(trace.events.category[e]))
        out.gpu.push_back(e);
      else if (trace.events.category[e] == Category::kCpuOp)
        out.operators.push_back(e);
    out.steps = StepsOfGpuWork(trace, loaded->tree);
    out.communication = communication_names(trace.strings);
    for (StrId id = 0; id < trace.strings.size(); ++id)
      out.copies.push_back(is_legacy_copy(trace.strings.view(id)));
  }
  out.trace = std::move(loaded);
  return out;
}

const Schema<EventRecord>& event_record_schema() {
  static const Schema<EventRecord> schema = make_events();
  return schema;
}

const Schema<EventRecord>& kernel_record_schema() {
  static const Schema<EventRecord> schema = make_kernels();
  return schema;
}

const Schema<EventRecord>& operator_record_schema() {
  static const Schema<EventRecord> schema = make_operators();
  return schema;
}

std::vector<SheetInfo> record_sheets() {
  return {event_record_schema().info(),    kernel_record_schema().info(),
          operator_record_schema().info(), collective_record_schema().info(),
          step_record_schema().info(),     rank_record_schema().info(),
          idle_record_schema().info(),     finding_record_schema().info()};
}

} // namespace rankscope
