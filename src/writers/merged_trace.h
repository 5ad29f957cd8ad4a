// Writes the traces of several ranks into one Chrome/Perfetto JSON file (docs/merge.md). Each rank
// is written when it is added, so only one rank is in memory.
#pragma once

#include "base/diagnostics.h"
#include "base/result.h"
#include "core/clock_line.h"
#include "core/trace.h"
#include "os/text_sink.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope {

struct MergeOptions {
  bool cpu_ops = false; ///< write cpu_op slices (and the forward-backward flows between them)
  bool gzip = false;
  /// The time window to write, in ms after the first event of the first rank.
  double from_ms = -std::numeric_limits<double>::infinity();
  double to_ms = std::numeric_limits<double>::infinity();
  /// Write only the steps with these ProfilerStep numbers [first, last]. They are found in the
  /// annotations of each rank.
  std::optional<std::pair<std::int64_t, std::int64_t>> steps;
};

struct MergedRank {
  std::int64_t rank = 0;
  std::map<std::string, std::uint64_t> events; ///< number of written slices by category
  std::uint64_t flows = 0;                     ///< number of arrows: pairs of s and f
  std::uint64_t overflow = 0;                  ///< number of slices on overflow tracks (Lanes)
  std::uint64_t outside = 0;                   ///< number of slices outside of the window
};

struct MergeSummary {
  std::vector<MergedRank> ranks;
  std::uint64_t bytes = 0;       ///< size of the JSON before compression
  std::int64_t base_time_ns = 0; ///< unix_ns = base_time_ns + 1000 * ts
};

/// A metric over time, such as the power of a GPU.
struct CounterTrack {
  struct Sample {
    std::int64_t unix_ns = 0;
    double value = 0;
  };
  std::string name;            ///< name with its unit: "GPU 0 power (W)"
  std::vector<Sample> samples; ///< sorted by time
};

/// A part of the critical path of a run.
struct PathSlice {
  std::int64_t rank = 0;
  std::int64_t begin_ns = 0, end_ns = 0; ///< Unix time
  std::string name;
};

/// Writes the traces of ranks as tracks. pid 1000*rank is the GPU (1000*rank+i is its i-th device),
/// and 1000*rank+500 is the first host process. Names begin with "[R<rank>] ", and args.rank is
/// set. Thread ids are never 0. A slice that does not nest on its track is written to a second
/// track, "<track> (2)".
class MergedTraceWriter {
public:
  /// Creates the file. It is compressed if options.gzip is set or if its name ends in .gz. Errors:
  /// kOutput.
  static Result<MergedTraceWriter> create(const std::string& path, const MergeOptions& options);
  MergedTraceWriter(MergedTraceWriter&&) noexcept = default;

  /// Adds a rank. `clock`: the lead of its clock over the common clock, which is subtracted from
  /// starts and ends. A drift changes the length of slices by its rate (microseconds per second);
  /// slices still nest. If no event is in the window, nothing is written, not even empty tracks.
  void add(const Trace& trace, std::int64_t rank, const ClockLine& clock, Diagnostics& diag);
  /// Adds counters as a process with this name, after the ranks. Only samples within the time range
  /// of the written slices are written, and one sample before and one after it. Returns the number
  /// of samples.
  std::size_t add_counters(std::string_view process, const std::vector<CounterTrack>& tracks);
  /// Adds a process with this name and one track, after the ranks. `slices` must be sorted by time;
  /// they are limited to the time range of the slices that are already written. If two slices
  /// overlap because of clock differences between ranks, the earlier one ends where the later one
  /// begins. Returns the number of slices.
  std::size_t add_path(std::string_view process, const std::vector<PathSlice>& slices);
  /// Completes the file and renames it.
  Result<MergeSummary> finish();

private:
  MergedTraceWriter(TextSink sink, const MergeOptions& options)
      : sink_(std::move(sink)), options_(options) {}
  friend class RankMerger;
  /// Returns the pid for the next process that belongs to the complete run, not to a rank.
  [[nodiscard]] std::int64_t run_process() const;
  void name_run_process(std::string_view process);
  void begin_record();
  void record(std::string_view text); ///< begins a record with this text

  TextSink sink_;
  MergeOptions options_;
  MergeSummary summary_;
  bool begun_ = false;
  bool has_base_ = false; ///< the times of the first rank are Unix times
  std::uint64_t records_ = 0;
  std::int64_t next_flow_ = 1;
  std::int64_t zero_ns_ = 0; ///< Unix time of the first event of the first rank
  /// The time range of all written slices, in ns after base_time_ns.
  std::int64_t first_ns_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t run_processes_ = 0; ///< number of processes that belong to the complete run
};

} // namespace rankscope
