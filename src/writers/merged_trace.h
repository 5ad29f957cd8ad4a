// Writes one Chrome/Perfetto JSON from the traces of several ranks (docs/merge.md). Ranks are added
// one by one and written at once, so that only one rank is in memory.
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
  /// The window to write, in ms from the first event of the first rank.
  double from_ms = -std::numeric_limits<double>::infinity();
  double to_ms = std::numeric_limits<double>::infinity();
  /// ProfilerStep numbers [first, last] to write. Each rank uses its own annotations.
  std::optional<std::pair<std::int64_t, std::int64_t>> steps;
};

struct MergedRank {
  std::int64_t rank = 0;
  std::map<std::string, std::uint64_t> events; ///< written slices by category
  std::uint64_t flows = 0;                     ///< number of arrows: pairs of s and f
  std::uint64_t overflow = 0;                  ///< slices on overflow tracks
  std::uint64_t outside = 0;                   ///< slices outside the window
};

struct MergeSummary {
  std::vector<MergedRank> ranks;
  std::uint64_t bytes = 0;       ///< JSON before compression
  std::int64_t base_time_ns = 0; ///< unix_ns = base_time_ns + 1000 * ts
};

/// A quantity over time, such as the power of a GPU.
struct CounterTrack {
  struct Sample {
    std::int64_t unix_ns = 0;
    double value = 0;
  };
  std::string name;            ///< name with unit: "GPU 0 power (W)"
  std::vector<Sample> samples; ///< sorted by time
};

/// A part of the critical path of a run.
struct PathSlice {
  std::int64_t rank = 0;
  std::int64_t begin_ns = 0, end_ns = 0; ///< unix time
  std::string name;
};

/// Writes the traces of ranks as tracks. pid 1000*rank is the GPU (1000*rank+i is its i-th device),
/// and 1000*rank+500 is the first host process. Names begin with "[R<rank>] ", and args.rank is
/// set. Thread ids are never 0. Slices that do not nest on their track go to "<track> (2)".
class MergedTraceWriter {
public:
  /// Creates the file. It is compressed if options.gzip is set or its name ends in .gz. Errors:
  /// kOutput.
  static Result<MergedTraceWriter> create(const std::string& path, const MergeOptions& options);
  MergedTraceWriter(MergedTraceWriter&&) noexcept = default;

  /// Adds a rank. `clock`: how far its clock is ahead of the common clock; this is subtracted from
  /// starts and ends. A drift stretches slices by its rate (microseconds per second), and they
  /// still nest. Without an event in the window, nothing is written, not even empty tracks.
  void add(const Trace& trace, std::int64_t rank, const ClockLine& clock, Diagnostics& diag);
  /// Adds counters as a process with this name, after the ranks. Writes the samples within the time
  /// of the written slices, and one sample on either side. Returns the number of samples.
  std::size_t add_counters(std::string_view process, const std::vector<CounterTrack>& tracks);
  /// Adds a process with this name and one track, after the ranks. Writes the slices (sorted by
  /// time) within the time of the slices already written. If two overlap because of the ranks'
  /// clocks, the earlier one ends when the later one begins. Returns the number of slices.
  std::size_t add_path(std::string_view process, const std::vector<PathSlice>& slices);
  /// Finishes and renames the file.
  Result<MergeSummary> finish();

private:
  MergedTraceWriter(TextSink sink, const MergeOptions& options)
      : sink_(std::move(sink)), options_(options) {}
  friend class RankMerger;
  /// Returns the pid for the next process that belongs to the run, not to a rank.
  [[nodiscard]] std::int64_t run_process() const;
  void name_run_process(std::string_view process);
  void begin_record();
  void record(std::string_view text); ///< begins a record with this text

  TextSink sink_;
  MergeOptions options_;
  MergeSummary summary_;
  bool begun_ = false;
  bool has_base_ = false; ///< the first rank's times are unix times
  std::uint64_t records_ = 0;
  std::int64_t next_flow_ = 1;
  std::int64_t zero_ns_ = 0; ///< unix time of the first event of the first rank
  /// The time span of all written slices, in ns after base_time_ns.
  std::int64_t first_ns_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t run_processes_ = 0; ///< number of processes that do not belong to a rank
};

} // namespace rankscope
