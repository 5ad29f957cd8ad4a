// TraceBuilder: the only way to fill a Trace. Readers add single events or chunks of columns;
// finish() checks that columns and ids fit together.
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

/// Columns of some events with their texts, tracks and argument rows. One thread parses a chunk
/// from a part of a file. Ids and uids count within the chunk.
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

class TraceBuilder {
public:
  /// Begins a trace whose first source is the file `path`, read by `reader`.
  explicit TraceBuilder(std::string path, std::string reader = {});
  /// Begins as a copy of `trace` without its events and their data: the same texts, tracks,
  /// argument rows, flows, counters, sources, header and diagnostics, each under the same id.
  static TraceBuilder like(const Trace& trace);
  /// Continues a complete trace, including its events. Nothing is copied, and ids do not change.
  static TraceBuilder extend(Trace&& trace);

  [[nodiscard]] TraceHeader& header() { return trace_.header; }
  [[nodiscard]] Diagnostics& diagnostics() { return trace_.diagnostics; }
  [[nodiscard]] TraceSource& source(std::uint16_t id = 0) { return trace_.sources[id]; }
  std::uint16_t add_source(TraceSource source);
  /// Sets the input size: bytes after unpacking, and entries of the source including those left
  /// out.
  void set_input(std::uint64_t bytes, std::uint64_t events);
  void count_skipped_python(std::uint64_t events) { trace_.python_events_skipped += events; }

  /// Interns a text; the view lives as long as the trace.
  StrId text(std::string_view text) { return trace_.strings.intern(text); }
  [[nodiscard]] std::string_view view(StrId id) const { return trace_.strings.view(id); }
  [[nodiscard]] std::size_t text_count() const { return trace_.strings.size(); }
  /// Interns the JSON text of an argument in its normal form (core/arg_text.h).
  StrId arg_text(std::string_view json);

  /// Returns the track with that pid and tid; makes it at the first call. The calls below set its
  /// names.
  std::uint32_t track(const Track& track);
  void set_thread_name(std::uint32_t track, StrId name);
  /// Set a name for all tracks of the process, including tracks that are added later.
  void set_process_name(std::int64_t pid, StrId name) { processes_[pid].name = name; }
  void set_process_label(std::int64_t pid, StrId label) { processes_[pid].label = label; }

  /// Add rows for EventRow::args of a cpu_op, a GPU event, a python_function or a runtime call.
  std::uint32_t op_args(const OpArgs& args) { return added(args, trace_.op_args); }
  std::uint32_t gpu_args(const GpuArgs& args) { return added(args, trace_.gpu_args); }
  std::uint32_t python_args(const PythonArgs& args) { return added(args, trace_.python_args); }
  std::uint32_t launch_args(const LaunchArgs& args) { return added(args, trace_.launch_args); }

  EventId add(const EventRow& event);
  void rename(EventId event, StrId name) { trace_.events.name[event] = name; }
  /// Adds the arguments of `event`, which has been added already.
  void collective(EventId event, const CollectiveArgs& args);
  /// Adds a counter of a kernel that has been added already; values with the same name are summed.
  void kernel_counter(EventId event, StrId name, double value);
  void flow(std::int64_t id, std::int64_t ts_ns, std::uint32_t track, FlowKind kind);
  void sample(std::uint32_t track, StrId name, std::int64_t ts_ns, double value,
              StrId unit = kEmptyStr);
  /// Adds these rows of `other`, the trace passed to like(), in ascending order. When a row is
  /// repeated, the last copy has the collective.
  void take(const Trace& other, const std::vector<EventId>& rows);
  /// Appends a chunk; its uids count from `first_uid`. Returns the new track of each of the chunk's
  /// tracks.
  std::vector<std::uint32_t> append(const TraceChunk& chunk, std::uint32_t first_uid);
  /// Returns the new id of one of the chunk's texts, after append().
  [[nodiscard]] StrId appended_text(const TraceChunk& chunk, StrId id) {
    return text(chunk.strings.view(id));
  }
  /// Reserves memory for a total of `events`.
  void reserve(std::size_t events);
  [[nodiscard]] std::size_t events() const { return trace_.events.size(); }
  [[nodiscard]] std::size_t event_capacity() const { return trace_.events.ts_ns.capacity(); }

  /// Returns the trace. Errors: kInternal when columns differ in length or an id is invalid. This
  /// is a bug of the reader, not of the file.
  Result<Trace> finish() &&;
  /// Returns the unfinished trace; its processes have no names yet.
  [[nodiscard]] const Trace& so_far() const { return trace_; }

private:
  template <class Args> static std::uint32_t added(const Args& args, std::vector<Args>& to) {
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
  std::unordered_map<TrackKey, std::uint32_t, TrackHash> tracks_;
  std::unordered_map<std::int64_t, ProcessNames> processes_;
};

/// Returns the first problem of the trace's columns and ids, or "". Linear in the number of events.
[[nodiscard]] std::string broken_invariant(const Trace& trace);

} // namespace rankscope
