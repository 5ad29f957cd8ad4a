// One Chrome/Perfetto JSON out of the traces of several ranks (docs/merge.md). Ranks are
// added one after the other and written at once: memory is one rank, whatever the total.
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
  bool cpu_ops = false; ///< keep cpu_op slices (and the forward-backward flows between them)
  bool gzip = false;
  /// Window in ms from the first event of the first rank that is added.
  double from_ms = -std::numeric_limits<double>::infinity();
  double to_ms = std::numeric_limits<double>::infinity();
  /// ProfilerStep numbers [first, last] to write; each rank by its own annotations.
  std::optional<std::pair<std::int64_t, std::int64_t>> steps;
};

struct MergedRank {
  std::int64_t rank = 0;
  std::map<std::string, std::uint64_t> events; ///< written slices by category
  std::uint64_t flows = 0;                     ///< arrows: pairs of s and f
  std::uint64_t overflow = 0;                  ///< slices on overflow tracks
  std::uint64_t outside = 0;                   ///< slices that the window left out
};

struct MergeSummary {
  std::vector<MergedRank> ranks;
  std::uint64_t bytes = 0;       ///< JSON before compression
  std::int64_t base_time_ns = 0; ///< unix_ns = base_time_ns + 1000 * ts
};

/// A quantity over time: the power of a GPU.
struct CounterTrack {
  struct Sample {
    std::int64_t unix_ns = 0;
    double value = 0;
  };
  std::string name;            ///< with its unit: "GPU 0 power (W)"
  std::vector<Sample> samples; ///< ascending in time
};

/// A piece of the critical path of a run.
struct PathSlice {
  std::int64_t rank = 0;
  std::int64_t begin_ns = 0, end_ns = 0; ///< unix
  std::string name;
};

/// Tracks: pid 1000*rank is the GPU (1000*rank+i its i-th device), 1000*rank+500 the host
/// processes. Names begin with "[R<rank>] ", and args.rank is set. Thread ids are never 0; slices
/// that do not nest on their track go to "<track> (2)".
class MergedTraceWriter {
public:
  /// The name ends in .gz: compressed, as with options.gzip. Errors: kOutput.
  static Result<MergedTraceWriter> create(const std::string& path, const MergeOptions& options);
  MergedTraceWriter(MergedTraceWriter&&) noexcept = default;

  /// `clock`: how far this rank's clock is ahead of the common one. It is subtracted from starts
  /// and ends: a drift stretches slices by its rate (microseconds per second), and they still nest.
  /// A rank without an event in the window writes nothing, also no empty tracks.
  void add(const Trace& trace, std::int64_t rank, const ClockLine& clock, Diagnostics& diag);
  /// Adds counters as a process of that name, after the ranks. Writes the samples in the time of
  /// the written slices, and one on either side. Returns their number.
  std::size_t add_counters(std::string_view process, const std::vector<CounterTrack>& tracks);
  /// Adds a process of that name with one track, after the ranks. Writes the slices, ascending in
  /// time, in the time of the written ones; where the clocks of ranks make two overlap, the earlier
  /// one ends when the later one begins. Returns their number.
  std::size_t add_path(std::string_view process, const std::vector<PathSlice>& slices);
  /// Finishes and renames the file.
  Result<MergeSummary> finish();

private:
  MergedTraceWriter(TextSink sink, const MergeOptions& options)
      : sink_(std::move(sink)), options_(options) {}
  friend class RankMerger;
  /// Of the next process that belongs to no rank.
  [[nodiscard]] std::int64_t run_process() const;
  void name_run_process(std::string_view process);
  void begin_record();
  void record(std::string_view text); ///< begins a record with this text

  TextSink sink_;
  MergeOptions options_;
  MergeSummary summary_;
  bool begun_ = false;
  bool has_base_ = false; ///< of the first rank
  std::uint64_t records_ = 0;
  std::int64_t next_flow_ = 1;
  std::int64_t zero_ns_ = 0; ///< unix time of the first event of the first rank
  /// Of all written slices, ns after base_time_ns.
  std::int64_t first_ns_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t run_processes_ = 0; ///< those that belong to no rank
};

} // namespace rankscope
