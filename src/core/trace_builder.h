// TraceBuilder: the only way to fill a Trace. Readers add single events or chunks of columns;
// finish() checks that the columns have equal lengths and that all ids are valid.
#pragma once

#include "base/result.h"
#include "core/trace.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rankscope {

/// The columns of some events with their texts, tracks and arguments. One thread makes a chunk from
/// a range of a file. All ids and uids begin at 0 in each chunk.
struct TraceChunk {
  StringPool strings;
  std::vector<Track> tracks;
  Events events;
  Flows flows;
  Counters counters;
  std::vector<OpArgs> op_args;
  std::vector<GpuArgs> gpu_args;
  std::vector<PythonArgs> python_args;
  std::vector<LaunchArgs> launch_args;
  std::vector<std::pair<EventId, CollectiveArgs>> collectives; ///< ascending
  std::vector<std::pair<EventId, GraphNode>> graph_nodes;      ///< ascending
};

/// Thrown by a TraceBuilder whose limit is exceeded; read_traces() converts it to an Error.
struct TraceTooLarge {};

class TraceBuilder {
public:
  /// Begins a trace whose first source is the file `path`, read by `reader`.
  explicit TraceBuilder(std::string path, std::string reader = {});
  /// Begins with a copy of `trace` without its events and event data: texts, tracks, argument rows,
  /// flows, counters, sources, header and diagnostics are the same and have the same ids.
  static TraceBuilder like(const Trace& trace);
  /// Continues a complete trace, including its events. Nothing is copied, and no id changes.
  static TraceBuilder extend(Trace&& trace);

  [[nodiscard]] TraceHeader& header() { return trace_.header; }
  [[nodiscard]] Diagnostics& diagnostics() { return trace_.diagnostics; }
  [[nodiscard]] TraceSource& source(std::uint16_t id = 0) { return trace_.sources[id]; }
  std::uint16_t add_source(TraceSource source);
  /// Sets the size of the input: number of bytes after decompression, and number of entries in the
  /// source, including entries that were left out.
  void set_input(std::uint64_t bytes, std::uint64_t events);
  /// Limits the memory of the trace to 64 MiB and 32 times the size of its files on disk; 0: the
  /// size is unknown, there is no limit. A small compressed file can contain any number of texts
  /// and events, but known traces need at most 12 times their compressed size.
  void limit_for(std::uint64_t file_bytes) {
    most_bytes_ = file_bytes == 0 ? UINT64_MAX : (std::uint64_t{64} << 20U) + 32 * file_bytes;
  }
  /// Counts memory of the trace, or of rows that a reader stores for it, towards the limit.
  void spend(std::uint64_t bytes) {
    spent_bytes_ += bytes;
    if (spent_bytes_ > most_bytes_) [[unlikely]]
      throw TraceTooLarge();
  }
  void count_skipped_python(std::uint64_t events) { trace_.python_events_skipped += events; }

  /// Interns a text. view() of its id is valid as long as the trace.
  StrId text(std::string_view text) {
    const std::size_t known = trace_.strings.size();
    const StrId id = trace_.strings.intern(text);
    if (id == known)
      spend(text.size() + 2 * sizeof(text));
    return id;
  }
  [[nodiscard]] std::string_view view(StrId id) const { return trace_.strings.view(id); }
  [[nodiscard]] std::size_t text_count() const { return trace_.strings.size(); }
  /// Interns the JSON text of an argument in its normal form (core/arg_text.h).
  StrId arg_text(std::string_view json);

  /// Returns the track with this pid and tid; the first call creates it. The functions below set
  /// its names.
  std::uint32_t track(const Track& track);
  void set_thread_name(std::uint32_t track, StrId name);
  /// These set a name for all tracks of the process, including tracks that are added later.
  void set_process_name(std::int64_t pid, StrId name) { processes_[pid].name = name; }
  void set_process_label(std::int64_t pid, StrId label) { processes_[pid].label = label; }

  /// These add a row of arguments for a cpu_op, a GPU event, a python_function or a runtime call,
  /// and return the value for EventRow::args.
  std::uint32_t op_args(const OpArgs& args) { return added(args, trace_.op_args); }
  std::uint32_t gpu_args(const GpuArgs& args) { return added(args, trace_.gpu_args); }
  std::uint32_t python_args(const PythonArgs& args) { return added(args, trace_.python_args); }
  std::uint32_t launch_args(const LaunchArgs& args) { return added(args, trace_.launch_args); }

  EventId add(const EventRow& event);
  void rename(EventId event, StrId name) { trace_.events.name[event] = name; }
  /// Adds the collective arguments of `event`, which must have been added before.
  void collective(EventId event, const CollectiveArgs& args);
  /// Adds a counter of a kernel, which must have been added before. Values with the same name are
  /// summed.
  void kernel_counter(EventId event, StrId name, double value);
  void flow(std::int64_t id, std::int64_t ts_ns, std::uint32_t track, FlowKind kind);
  void sample(std::uint32_t track, StrId name, std::int64_t ts_ns, double value,
              StrId unit = kEmptyStr);
  /// Adds the events `rows` of `other`, which is the trace passed to like(), in ascending order. If
  /// an event is repeated, its last copy gets the collective arguments.
  void add_events(const Trace& other, const std::vector<EventId>& rows);
  /// Appends a chunk; `first_uid` is added to its uids. Returns, for each track of the chunk, the
  /// track in the trace.
  std::vector<std::uint32_t> append(const TraceChunk& chunk, std::uint32_t first_uid);
  /// Reserves memory for a total of `events`.
  void reserve(std::size_t events);
  [[nodiscard]] std::size_t events() const { return trace_.events.size(); }
  [[nodiscard]] std::size_t event_capacity() const { return trace_.events.ts_ns.capacity(); }

  /// Returns the trace. Errors: kInternal if columns differ in length or an id is invalid; this is
  /// a bug of the reader, not an error in the file.
  Result<Trace> finish() &&;
  /// Returns the unfinished trace. Its tracks do not have process names yet.
  [[nodiscard]] const Trace& so_far() const { return trace_; }

private:
  template <class Args> std::uint32_t added(const Args& args, std::vector<Args>& to) {
    spend(sizeof args);
    to.push_back(args);
    return static_cast<std::uint32_t>(to.size() - 1);
  }
  struct TrackKey {
    std::int64_t pid, tid;
    StrId pid_text, tid_text;
    bool operator==(const TrackKey&) const = default;
  };
  struct TrackHash {
    std::size_t operator()(const TrackKey& k) const;
  };
  struct ProcessNames {
    StrId name = kEmptyStr, label = kEmptyStr;
  };

  void index_tracks();
  void name_processes();
  void sum_kernel_counters();

  Trace trace_;
  std::uint64_t spent_bytes_ = 0, most_bytes_ = UINT64_MAX;
  std::unordered_map<TrackKey, std::uint32_t, TrackHash> tracks_;
  std::unordered_map<std::int64_t, ProcessNames> processes_;
};

/// Returns a description of the first invalid column or id of the trace, or "". Linear in the
/// number of events.
[[nodiscard]] std::string broken_invariant(const Trace& trace);

} // namespace rankscope
