// Trace: the events of one rank's trace, in columns. All readers fill it and all analyses read it.
// Times are integer nanoseconds on the clock of the event's source. Use core/trace_builder.h to
// fill it.
#pragma once

#include "base/diagnostics.h"
#include "base/string_pool.h"
#include "core/arg_text.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope {

/// Index of an event in the event columns. Outputs do not use it; they name an event by its source
/// and uid.
using EventId = std::uint32_t;
inline constexpr EventId kNoEvent = 0xffffffffU;
inline constexpr std::uint32_t kNoRow = 0xffffffffU;
inline constexpr std::int64_t kNoId = INT64_MIN; ///< id that is not available
[[nodiscard]] inline std::optional<std::int64_t> known(std::int64_t id) {
  return id == kNoId ? std::nullopt : std::optional(id);
}

enum class Category : std::uint8_t {
  kCpuOp,
  kUserAnnotation,
  kGpuUserAnnotation,
  kKernel,
  kGpuMemcpy,
  kGpuMemset,
  kRuntime, ///< cuda_runtime (HIP calls have this category too)
  kDriver,  ///< cuda_driver
  kPythonFunction,
  kOverhead,
  kCudaSync,
  kCudaEvent,
  kCpuInstant,
  kOther, ///< all other categories, including "Trace"
};
[[nodiscard]] std::string_view category_name(Category c);
[[nodiscard]] constexpr bool is_gpu(Category c) {
  return c == Category::kKernel || c == Category::kGpuMemcpy || c == Category::kGpuMemset;
}
[[nodiscard]] constexpr bool is_runtime(Category c) {
  return c == Category::kRuntime || c == Category::kDriver;
}

/// A (pid, tid) pair. The text ids are set if pid or tid is a string in the file ("Spans",
/// "Traces").
struct Track {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  StrId pid_text = kEmptyStr;
  StrId tid_text = kEmptyStr;
  StrId process_name = kEmptyStr; ///< from metadata[pid]; empty = unknown ("Unknown" in reports)
  StrId process_label = kEmptyStr;
  StrId thread_name = kEmptyStr;
};

/// The clock of the times of a source.
enum class ClockDomain : std::uint8_t {
  kUnknown,   ///< times can only be compared within the source
  kUnix,      ///< offset_ns + ts_ns is the Unix time
  kMonotonic, ///< clock of the machine since boot; offset_ns + ts_ns is the time on this clock
};
struct Clock {
  ClockDomain domain = ClockDomain::kUnknown;
  std::int64_t offset_ns = 0; ///< clock time = offset_ns + ts_ns
};

/// Which of the GPU events with the correlation id of a runtime call belong to the call; depends on
/// the program that wrote the source.
enum class CallWork : std::uint8_t {
  kOne, ///< Kineto: one event per call (the last one, as in the reference), but all events of a
        ///< graph launch
  kAll, ///< databases and tables of AMD tools: all kernels, copies and fills with the id
};

/// A file or another producer of events.
struct TraceSource {
  std::string path;
  std::string reader; ///< name of the reader; "" = the events are made by rankscope
  Clock clock;
  CallWork call_work = CallWork::kOne;
};

/// The limit of valid times: 73 years before or after the origin. So the end of an event, the
/// difference between two events and the time of an event on another clock all fit in 64 bits.
inline constexpr std::int64_t kMaxTimeNs = INT64_MAX / 4;
[[nodiscard]] constexpr bool usable_time(std::int64_t ts_ns, std::int64_t dur_ns) {
  return ts_ns >= -kMaxTimeNs && ts_ns <= kMaxTimeNs && dur_ns >= 0 && dur_ns <= kMaxTimeNs - ts_ns;
}

/// Arguments of a cpu_op that record_shapes adds: JSON texts in their normal form. They are
/// interned, so equal arguments have equal ids. kEmptyStr = the key is missing. Trace::arg()
/// returns the values.
struct OpArgs {
  StrId input_dims = kEmptyStr;  ///< e.g. [[8944, 1024], [1024, 2816]]
  StrId input_types = kEmptyStr; ///< e.g. ["c10::BFloat16", "Scalar"]
  StrId input_strides = kEmptyStr;
  StrId concrete_inputs = kEmptyStr; ///< e.g. ["", "[0]", "1"]
  std::int64_t sequence_number = kNoId;
  StrId kernel_file = kEmptyStr; ///< path of the source file of a compiled kernel
};

/// Arguments of record_param_comms (CPU) and of the collective kernel that it launched. kNoId = the
/// key is missing.
struct CollectiveArgs {
  StrId collective_name = kEmptyStr;
  StrId dtype = kEmptyStr;
  StrId pg_name = kEmptyStr;
  StrId pg_description = kEmptyStr;
  StrId pg_ranks = kEmptyStr; ///< the text of the JSON string, e.g. "[0, 1, 2]"
  StrId in_split = kEmptyStr;
  StrId out_split = kEmptyStr;
  std::int64_t in_nelems = kNoId;
  std::int64_t out_nelems = kNoId;
  std::int64_t group_size = kNoId;
  std::int64_t seq = kNoId;
  std::int64_t rank = kNoId;
  std::int64_t src_rank = kNoId;
  std::int64_t dst_rank = kNoId;
};

/// Extra arguments of GPU events.
struct GpuArgs {
  StrId grid = kEmptyStr; ///< JSON text, e.g. [304,1,1]
  StrId block = kEmptyStr;
  std::int64_t bytes = kNoId; ///< size of a copy or fill
};

/// The kernel that a runtime call launches, as recorded in the arguments of the call (ROCm). Read
/// only if the options of the reader request it.
struct LaunchArgs {
  StrId kernel = kEmptyStr; ///< name of the kernel
  StrId grid = kEmptyStr;   ///< as in GpuArgs
  StrId block = kEmptyStr;
};

/// The node of a captured graph that made a GPU event, as CUPTI records it.
struct GraphNode {
  std::int64_t graph = kNoId; ///< the same in all launches of one instantiated graph
  std::int64_t node = kNoId;  ///< node id, unique within its graph
};

/// Ids of a python_function (only if Python events are read).
struct PythonArgs {
  std::int64_t python_id = kNoId;
  std::int64_t parent_id = kNoId;
  std::int64_t module_id = kNoId;
};

enum class FlowKind : std::uint8_t { kAc2gStart, kAc2gEnd, kFwdBwdStart, kFwdBwdEnd, kOther };

/// Flow events (ph s/f), in file order.
struct Flows {
  std::vector<std::int64_t> id;
  std::vector<std::int64_t> ts_ns;
  std::vector<std::uint32_t> track;
  std::vector<FlowKind> kind;
  [[nodiscard]] std::size_t size() const { return id.size(); }
};

/// Samples of counters (power, memory in use, utilisation), in columns of equal length and in file
/// order.
struct Counters {
  std::vector<std::uint32_t> track;
  std::vector<StrId> name;
  std::vector<std::int64_t> ts_ns;
  std::vector<double> value;
  std::vector<StrId> unit; ///< kEmptyStr = unknown
  [[nodiscard]] std::size_t size() const { return ts_ns.size(); }
};

/// A hardware counter of a kernel, summed over all instances of the hardware block.
struct KernelCounter {
  EventId event = kNoEvent;
  StrId name = kEmptyStr;
  double value = 0;
};

/// One event as a row.
struct EventRow {
  std::int64_t ts_ns = 0;
  std::int64_t dur_ns = 0;
  std::int64_t correlation = kNoId;
  std::int64_t external_id = kNoId;
  StrId name = kEmptyStr;
  std::uint32_t uid = 0;
  std::uint32_t track = 0;
  std::uint32_t args = kNoRow;
  std::int32_t stream = -1;
  std::int16_t device = -1;
  Category category = Category::kOther;
  std::uint16_t source = 0;
};

/// The events in columns, all of equal length, in file order.
struct Events {
  std::vector<std::int64_t> ts_ns;
  std::vector<std::int64_t> dur_ns;
  std::vector<std::int64_t> correlation; ///< args.correlation or kNoId
  std::vector<std::int64_t> external_id; ///< args."External id" or kNoId
  std::vector<StrId> name;
  std::vector<std::uint32_t> uid;   ///< id within its source (Kineto: index in traceEvents)
  std::vector<std::uint32_t> track; ///< index into Trace::tracks
  std::vector<std::uint32_t> args;  ///< index into op_args, gpu_args, ..., depending on the
                                    ///< category; kNoRow = no arguments
  std::vector<std::int32_t> stream; ///< args.stream of GPU and sync events; -1 = absent
  std::vector<std::int16_t> device; ///< args.device; -1 = absent
  std::vector<Category> category;
  std::vector<std::uint16_t> source; ///< index into Trace::sources; an empty column = all events
                                     ///< are from the first source
  [[nodiscard]] std::size_t size() const { return ts_ns.size(); }
  [[nodiscard]] EventRow row(EventId e) const;
  /// Calls body(&Events::x, &EventRow::x) for each column except `source`.
  template <class Body> static void each_column(const Body& body) {
    body(&Events::ts_ns, &EventRow::ts_ns);
    body(&Events::dur_ns, &EventRow::dur_ns);
    body(&Events::correlation, &EventRow::correlation);
    body(&Events::external_id, &EventRow::external_id);
    body(&Events::name, &EventRow::name);
    body(&Events::uid, &EventRow::uid);
    body(&Events::track, &EventRow::track);
    body(&Events::args, &EventRow::args);
    body(&Events::stream, &EventRow::stream);
    body(&Events::device, &EventRow::device);
    body(&Events::category, &EventRow::category);
  }
};

/// Sorts events by their start; those with the same start keep their order.
void sort_by_start(const Events& events, std::vector<EventId>& ids);

struct DeviceInfo {
  std::int64_t id = 0;
  std::string name;
  std::int64_t warp_size = 0;       ///< 64 = AMD CDNA, 32 = NVIDIA
  std::int64_t multiprocessors = 0; ///< SMs or compute units; 0 = unknown
};

struct ProcessGroup {
  std::string name;
  std::string description;
  std::int64_t size = 0;
  std::vector<std::int64_t> ranks;
};

/// Key in a trace of several ranks that `merge` wrote; its value is the number of ranks.
inline constexpr std::string_view kMergedTraceKey = "mergedRanks";

struct TraceHeader {
  std::optional<std::int64_t> rank; ///< distributedInfo.rank
  std::optional<std::int64_t> world_size;
  std::string backend;
  std::string nccl_version;
  std::vector<ProcessGroup> process_groups;
  std::vector<DeviceInfo> devices;
  bool record_shapes = false;
  /// All other keys of the root object, each with its JSON text, in file order.
  std::vector<std::pair<std::string, std::string>> other;
};

struct Trace {
  std::string path; ///< path as the user gave it; "-" for standard input
  TraceHeader header;
  StringPool strings;
  std::vector<TraceSource> sources; ///< the first one is the file; at least one
  std::vector<Track> tracks;
  Events events;
  Flows flows;
  Counters counters;
  std::vector<OpArgs> op_args;
  std::vector<GpuArgs> gpu_args;
  std::vector<PythonArgs> python_args;
  std::vector<LaunchArgs> launch_args;
  /// Arguments of collectives, sorted by event. collective_of() searches in them.
  std::vector<std::pair<EventId, CollectiveArgs>> collectives;
  std::vector<KernelCounter> kernel_counters; ///< sorted by event; for each event, a name occurs
                                              ///< once
  /// Graph nodes, if the producer writes them, sorted by event. graph_node_of() searches in them.
  std::vector<std::pair<EventId, GraphNode>> graph_nodes;
  std::uint64_t input_bytes = 0;    ///< uncompressed JSON bytes read
  std::uint64_t events_in_file = 0; ///< number of entries in traceEvents
  std::uint64_t python_events_skipped = 0;
  Diagnostics diagnostics;
  ArgValues arg_values; ///< values of argument texts, for arg()

  [[nodiscard]] std::string_view name(EventId e) const { return strings.view(events.name[e]); }
  [[nodiscard]] std::int64_t end_ns(EventId e) const { return events.ts_ns[e] + events.dur_ns[e]; }
  [[nodiscard]] bool gpu(EventId e) const { return is_gpu(events.category[e]); }
  /// Returns the clock of the file.
  [[nodiscard]] const Clock& clock() const;
  /// Returns the value of an argument text of op_args or gpu_args. The first call parses the text.
  [[nodiscard]] std::shared_ptr<const ArgValue> arg(StrId text) const {
    return arg_values.value(text, strings);
  }
  /// Return the arguments of an event, or nullptr.
  [[nodiscard]] const OpArgs* op(EventId e) const;
  [[nodiscard]] const GpuArgs* gpu_arg(EventId e) const;
  /// Returns the arguments of a runtime or driver call, or nullptr.
  [[nodiscard]] const LaunchArgs* launch_arg(EventId e) const;
  [[nodiscard]] const CollectiveArgs* collective_of(EventId e) const;
  [[nodiscard]] const GraphNode* graph_node_of(EventId e) const;
  /// Returns the memory of the columns and texts in bytes.
  [[nodiscard]] std::uint64_t memory_bytes() const;
  /// Returns "AMD" if devices have warp size 64 or the header has HIP keys; else "NVIDIA"; "" =
  /// unknown.
  [[nodiscard]] std::string vendor() const;
};

} // namespace rankscope
