// Pieces of a server's trace: which steps go into which file, and which events of the trace belong
// to them. Nothing is written here.
#pragma once

#include "analyses/inference/step_windows.h"
#include "core/schema.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// Several kinds may be asked for at once; `phases` in place of `steady`.
struct PieceChoice {
  std::string iterations; ///< "", "all", "N" or "A:B", as in StepChoice
  bool single = false;    ///< a piece for every step
  bool steady = false;    ///< the three windows of the steady state
  bool phases = false;    ///< the steady state, cut where the phase changes
  WindowOptions window{};
};

struct TracePiece {
  std::string path;               ///< in the folder of the pieces
  std::vector<std::size_t> steps; ///< places in the list of steps, ascending
};

/// How many steps of a piece do what; means are cut to whole numbers.
struct PiecePhases {
  std::size_t prefill = 0, mixed = 0, decode = 0; ///< steps
  std::int64_t mean_batch = 0;                    ///< tokens that a step computes
  std::int64_t mean_requests = 0;
};
[[nodiscard]] PiecePhases phases_of(const std::vector<AnnotatedStep>& steps,
                                    const std::vector<std::size_t>& places);

/// The name of a trace without folder, .pt.trace, .gz, .zst and .json.
[[nodiscard]] std::string piece_base(const std::string& trace_path);

/// Returns the pieces: single steps, then windows or phases; names in docs/split.md. Searches the
/// steady state within the iterations (compat: they are the steady state). Iterations alone are one
/// piece (compat: no piece). Errors: kUsage for invalid iterations.
Result<std::vector<TracePiece>> plan_pieces(const Trace& trace,
                                            const std::vector<AnnotatedStep>& steps,
                                            const PieceChoice& choice, const std::string& base);

/// What of a trace belongs to a piece.
struct PieceEvents {
  std::vector<std::uint32_t> entries; ///< uids, ascending
  std::vector<std::int64_t> flow_ids; ///< correlations of its calls, ascending
  std::vector<std::pair<std::int64_t, std::int64_t>> windows_ns; ///< of its steps
  std::size_t gpu_events = 0;
  std::int64_t gpu_duration_ns = 0; ///< over its steps: last end less first start
  std::int64_t gpu_busy_ns = 0;     ///< over its steps: union of its GPU work
};

/// Events by step: CPU events of the step's process that start in it, on any thread, the GPU work
/// that they launched, however late it runs, and the annotations of that on the GPU's tracks.
/// `compat`: CPU events of the step's own thread that begin and end in it, GPU events with one of
/// their correlations, busy time as a sum. O(n log steps).
class StepEvents {
public:
  StepEvents(const LoadedTrace& trace, const std::vector<AnnotatedStep>& steps, bool compat);
  [[nodiscard]] PieceEvents of(const TracePiece& piece) const;

private:
  struct Members {
    std::vector<EventId> cpu, gpu;
    std::int64_t gpu_start_ns = INT64_MAX, gpu_end_ns = INT64_MIN;
    std::int64_t busy_ns = 0;
  };
  void by_launch();
  void by_correlation();
  void add_gpu_annotations();
  void measure();
  template <class Visit> void open_steps(std::uint32_t track, std::int64_t ts, Visit&& visit) const;

  const LoadedTrace& t_;
  const std::vector<AnnotatedStep>& steps_;
  bool compat_;
  /// Of a process (compat: a thread), steps by start.
  struct Open {
    std::int64_t start_ns, end_ns;
    std::int64_t latest_end_ns; ///< of this and all before it
    std::size_t step;
  };
  std::vector<std::uint32_t> group_of_track_;
  std::vector<std::vector<Open>> groups_;
  std::vector<Members> members_; ///< of each step
};

/// A file that was written.
struct PieceFact {
  std::size_t number = 0;
  std::string path;
  std::uint64_t events = 0; ///< entries of traceEvents
  PieceEvents content;
  PiecePhases phases;
  std::vector<AnnotatedStep> steps;
};
/// execution_details.csv.
[[nodiscard]] Schema<PieceFact> piece_schema();
/// execution_details.json: a list of the same, with the counts of every step.
[[nodiscard]] std::string pieces_json(const std::vector<PieceFact>& pieces);

} // namespace rankscope
