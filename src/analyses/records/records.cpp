#include "analyses/records/records.h"

#include "analyses/operators/launchers.h"
#include "analyses/timeline/gpu_timeline.h"
#include "model/kernel_family.h"
#include "model/kernels.h"

#include <algorithm>
#include <utility>

namespace rankscope {
namespace {

using enum CellKind;
constexpr ColumnStyle kNested{.nested = true};

Value id_or_null(std::int64_t id) {
  return id == kNoId ? Value() : Value(id);
}

Value not_negative(std::int64_t n) {
  return n < 0 ? Value() : Value(n);
}

const Trace& trace_of(const EventRecord& r) {
  return r.of->trace->trace;
}

Value text_of(const EventRecord& r, StrId id) {
  return id == kEmptyStr ? Value() : Value(trace_of(r).strings.view(id));
}

std::int64_t ts_of(const EventRecord& r) {
  return trace_of(r).events.ts_ns[r.event];
}

Value uid_of(const EventRecord& r, EventId e) {
  return e == kNoEvent ? Value() : Value(trace_of(r).events.uid[e]);
}

const Track& track_of(const EventRecord& r) {
  return trace_of(r).tracks[trace_of(r).events.track[r.event]];
}

/// The call that launched a GPU event, or kNoEvent.
EventId launch_of(const EventRecord& r) {
  const CallTree& tree = r.of->trace->tree;
  return tree.linked(r.event) ? tree.parent(r.event) : kNoEvent;
}

EventId operator_of(const EventRecord& r) {
  return launch_of(r) == kNoEvent ? kNoEvent : r.of->trace->tree.cpu_op_above(trace_of(r), r.event);
}

/// As gpu_timeline assigns GPU work to steps: by its launch, without one by its own start.
Value step_of_kernel(const EventRecord& r) {
  const EventId launch = launch_of(r);
  return not_negative(
      step_at(r.of->steps, launch == kNoEvent ? ts_of(r) : trace_of(r).events.ts_ns[launch]));
}

Value clock_time(const EventRecord& r) {
  const Clock& clock = trace_of(r).clock();
  return clock.domain == ClockDomain::kUnix ? Value(clock.offset_ns + ts_of(r)) : Value();
}

std::string_view work_of(const EventRecord& r) {
  const Events& events = trace_of(r).events;
  switch (events.category[r.event]) {
  case Category::kGpuMemcpy:
    return "memcpy";
  case Category::kGpuMemset:
    return "memset";
  default:
    return r.of->copies[events.name[r.event]]          ? "memcpy"
           : r.of->communication[events.name[r.event]] ? "communication"
                                                       : "computation";
  }
}

void add_place(Schema<EventRecord>& schema) {
  using R = EventRecord;
  schema.add({"run", "run", Unit::kNone, kText,
              [](const R& r) { return Value(std::string_view(r.of->place.run)); },
              "configuration or folder of the run"});
  schema.add({"node", "node", Unit::kNone, kInt, [](const R& r) { return Value(r.of->place.node); },
              "rank / GPUs per node"});
  schema.add({"rank", "rank", Unit::kNone, kInt, [](const R& r) { return Value(r.of->place.rank); },
              "of the trace"});
  schema.add({"event", "event", Unit::kNone, kInt,
              [](const R& r) { return Value(trace_of(r).events.uid[r.event]); },
              "id in its file (Kineto: place in traceEvents)"});
  schema.add({"name", "name", Unit::kNone, kText,
              [](const R& r) { return Value(trace_of(r).name(r.event)); }, "as in the file"});
}

void add_times(Schema<EventRecord>& schema) {
  using R = EventRecord;
  schema.add({"start_ns", "start (ns)", Unit::kNs, kInt, [](const R& r) { return Value(ts_of(r)); },
              "on the clock of the file"});
  schema.add({"dur_ns", "duration (ns)", Unit::kNs, kInt,
              [](const R& r) { return Value(trace_of(r).events.dur_ns[r.event]); },
              "of the event"});
  schema.add({"end_ns", "end (ns)", Unit::kNs, kInt,
              [](const R& r) { return Value(trace_of(r).end_ns(r.event)); }, "start + duration"});
}

void add_ids(Schema<EventRecord>& schema) {
  using R = EventRecord;
  schema.add({"correlation", "correlation", Unit::kNone, kInt,
              [](const R& r) { return id_or_null(trace_of(r).events.correlation[r.event]); },
              "id that a GPU event shares with the call that launched it"});
  schema.add({"external_id", "External id", Unit::kNone, kInt,
              [](const R& r) { return id_or_null(trace_of(r).events.external_id[r.event]); },
              "id that an operator shares with what it launches"});
}

void add_where(Schema<EventRecord>& schema) {
  using R = EventRecord;
  schema.add({"device", "device", Unit::kNone, kInt,
              [](const R& r) { return not_negative(trace_of(r).events.device[r.event]); },
              "number of the GPU, of GPU events"});
  schema.add({"stream", "stream", Unit::kNone, kInt,
              [](const R& r) { return not_negative(trace_of(r).events.stream[r.event]); },
              "of GPU and synchronisation events"});
}

void add_threads(Schema<EventRecord>& schema) {
  using R = EventRecord;
  schema.add({"pid", "pid", Unit::kNone, kInt,
              [](const R& r) {
                return track_of(r).pid_text == kEmptyStr ? Value(track_of(r).pid) : Value();
              },
              "process; NULL where the file has a text there"});
  schema.add({"tid", "tid", Unit::kNone, kInt,
              [](const R& r) {
                return track_of(r).tid_text == kEmptyStr ? Value(track_of(r).tid) : Value();
              },
              "thread, or stream of a GPU; NULL where the file has a text there"});
  schema.add({"thread", "thread", Unit::kNone, kText,
              [](const R& r) { return text_of(r, track_of(r).thread_name); },
              "name of the thread"});
}

Schema<EventRecord> make_events() {
  using R = EventRecord;
  Schema<R> schema("events", "every event of the traces, as it is in the file");
  add_place(schema);
  schema.add({"category", "category", Unit::kNone, kText,
              [](const R& r) { return Value(category_name(trace_of(r).events.category[r.event])); },
              "as the profiler has it"});
  add_times(schema);
  schema.add({"unix_ns", "unix time (ns)", Unit::kNs, kInt, clock_time,
              "start since 1970; NULL where the file does not tell"});
  add_threads(schema);
  add_where(schema);
  add_ids(schema);
  return schema;
}

void add_launch(Schema<EventRecord>& schema) {
  using R = EventRecord;
  schema.add({"step", "step", Unit::kNone, kInt, step_of_kernel,
              "N of ProfilerStep#N in which it was launched"});
  schema.add({"launch_event", "launch event", Unit::kNone, kInt,
              [](const R& r) { return uid_of(r, launch_of(r)); },
              "the call that launched it; NULL: none in the trace"});
  schema.add({"launch_ns", "launch (ns)", Unit::kNs, kInt,
              [](const R& r) {
                const EventId e = launch_of(r);
                return e == kNoEvent ? Value() : Value(trace_of(r).events.ts_ns[e]);
              },
              "start of that call"});
  schema.add({"launch_dur_ns", "launch duration (ns)", Unit::kNs, kInt,
              [](const R& r) {
                const EventId e = launch_of(r);
                return e == kNoEvent ? Value() : Value(trace_of(r).events.dur_ns[e]);
              },
              "duration of that call"});
  schema.add({"launch", "launch", Unit::kNone, kText,
              [](const R& r) {
                const EventId e = launch_of(r);
                return e == kNoEvent ? Value() : Value(trace_of(r).name(e));
              },
              "name of that call"});
  schema.add({"operator_event", "operator event", Unit::kNone, kInt,
              [](const R& r) { return uid_of(r, operator_of(r)); },
              "the innermost operator around that call"});
  schema.add({"operator", "operator", Unit::kNone, kText,
              [](const R& r) {
                const EventId e = operator_of(r);
                return e == kNoEvent ? Value() : Value(trace_of(r).name(e));
              },
              "its name"});
}

Schema<EventRecord> make_kernels() {
  using R = EventRecord;
  Schema<R> schema("kernels", "GPU work (kernels, copies, fills) with what launched it");
  add_place(schema);
  schema.add({"work", "work", Unit::kNone, kText, [](const R& r) { return Value(work_of(r)); },
              "computation, communication, memcpy or memset"});
  schema.add(
      {"family", "family", Unit::kNone, kText,
       [](const R& r) {
         return Value(kernel_family_name(kernel_family(trace_of(r).name(r.event))));
       },
       "GEMM, attention, norm, elementwise, reduce, copy, communication, other: by the name"});
  add_times(schema);
  add_where(schema);
  add_launch(schema);
  add_ids(schema);
  const auto geometry = [](StrId GpuArgs::*text) {
    return [text](const R& r) {
      const GpuArgs* args = trace_of(r).gpu_arg(r.event);
      return args == nullptr ? Value() : text_of(r, args->*text);
    };
  };
  schema.add({"grid", "grid", Unit::kNone, kText, geometry(&GpuArgs::grid),
              "blocks, as a list in JSON", kNested});
  schema.add({"block", "block", Unit::kNone, kText, geometry(&GpuArgs::block),
              "threads, as a list in JSON", kNested});
  schema.add({"size_bytes", "bytes", Unit::kBytes, kInt,
              [](const R& r) {
                const GpuArgs* args = trace_of(r).gpu_arg(r.event);
                return args == nullptr ? Value() : id_or_null(args->bytes);
              },
              "of copies and fills"});
  return schema;
}

std::int64_t kernel_ns(const EventRecord& r) {
  std::int64_t sum = 0;
  for (const EventId k : r.of->trace->tree.gpu_events(r.event))
    sum += trace_of(r).events.dur_ns[k];
  return sum;
}

void add_arguments(Schema<EventRecord>& schema) {
  using R = EventRecord;
  const auto argument = [](StrId OpArgs::*text) {
    return [text](const R& r) {
      const OpArgs* args = trace_of(r).op(r.event);
      return args == nullptr ? Value() : text_of(r, args->*text);
    };
  };
  schema.add({"input_dims", "Input Dims", Unit::kNone, kText, argument(&OpArgs::input_dims),
              "shapes of the arguments, as a list in JSON", kNested});
  schema.add({"input_types", "Input type", Unit::kNone, kText, argument(&OpArgs::input_types),
              "types of the arguments, as a list in JSON", kNested});
  schema.add({"input_strides", "Input Strides", Unit::kNone, kText,
              argument(&OpArgs::input_strides), "as a list in JSON", kNested});
  schema.add({"concrete_inputs", "Concrete Inputs", Unit::kNone, kText,
              argument(&OpArgs::concrete_inputs), "scalar arguments, as a list in JSON", kNested});
  schema.add({"sequence_number", "Sequence number", Unit::kNone, kInt,
              [](const R& r) {
                const OpArgs* args = trace_of(r).op(r.event);
                return args == nullptr ? Value() : id_or_null(args->sequence_number);
              },
              "that a forward operator shares with its backward one"});
}

Schema<EventRecord> make_operators() {
  using R = EventRecord;
  Schema<R> schema("operators", "operators (cpu_op) with arguments and the GPU work below them");
  add_place(schema);
  add_times(schema);
  add_threads(schema);
  schema.add({"step", "step", Unit::kNone, kInt,
              [](const R& r) { return not_negative(step_at(r.of->steps, ts_of(r))); },
              "N of ProfilerStep#N in which it starts"});
  schema.add(
      {"parent_event", "parent event", Unit::kNone, kInt,
       [](const R& r) { return uid_of(r, r.of->trace->tree.cpu_op_above(trace_of(r), r.event)); },
       "the operator that called it; NULL: none"});
  schema.add({"outermost", "outermost", Unit::kNone, kBool,
              [](const R& r) {
                return Value(r.of->trace->tree.cpu_op_above(trace_of(r), r.event) == kNoEvent);
              },
              "no operator called it"});
  schema.add({"kernels", "kernels", Unit::kCount, kInt,
              [](const R& r) { return Value(r.of->trace->tree.gpu_events(r.event).size()); },
              "GPU events that it and what it calls launched"});
  schema.add({"kernel_ns", "kernel time (ns)", Unit::kNs, kInt,
              [](const R& r) { return Value(kernel_ns(r)); },
              "sum of their durations; add up those of outermost operators alone"});
  add_arguments(schema);
  schema.add({"external_id", "External id", Unit::kNone, kInt,
              [](const R& r) { return id_or_null(trace_of(r).events.external_id[r.event]); },
              "id that it shares with what it launches"});
  return schema;
}

} // namespace

RecordTrace record_trace(RecordPlace place, std::shared_ptr<const LoadedTrace> trace, bool linked) {
  RecordTrace out;
  out.place = std::move(place);
  const Trace& of = trace->trace;
  if (linked) {
    for (EventId e = 0; e < of.events.size(); ++e)
      if (is_gpu(of.events.category[e]))
        out.gpu.push_back(e);
      else if (of.events.category[e] == Category::kCpuOp)
        out.operators.push_back(e);
    out.steps = profiler_steps(of);
    out.communication = communication_names(of.strings);
    for (StrId id = 0; id < of.strings.size(); ++id)
      out.copies.push_back(is_legacy_copy(of.strings.view(id)));
  }
  out.trace = std::move(trace);
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
