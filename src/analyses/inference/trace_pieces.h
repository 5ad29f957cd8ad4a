// Pieces of a server trace: the steps in each file, and the events of the trace that belong to
// them. This module writes no files.
#pragma once

#include "analyses/inference/step_windows.h"
#include "core/schema.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// The requested kinds of pieces. Several kinds may be requested at once; `phases` replaces
/// `steady`.
struct PieceChoice {
  std::string iterations; ///< "", "all", "N" or "A:B", as in StepChoice
  bool single = false;    ///< one piece for every step
  bool steady = false;    ///< the three windows of the steady state
  bool phases = false;    ///< the steady state, cut at each change of phase
  WindowOptions window{};
};

struct TracePiece {
  std::string path;               ///< relative to the folder of the pieces
  std::vector<std::size_t> steps; ///< positions in the list of steps, ascending
};

/// The number of steps of a piece in each phase. Means are truncated to integers.
struct PiecePhases {
  std::size_t prefill = 0, mixed = 0, decode = 0; ///< steps
  std::int64_t mean_batch = 0;                    ///< mean number of tokens that a step computes
  std::int64_t mean_requests = 0;
};
[[nodiscard]] PiecePhases phases_of(const std::vector<AnnotatedStep>& steps,
                                    const std::vector<std::size_t>& places);

/// Returns the name of a trace without folder, .pt.trace, .gz, .zst and .json.
[[nodiscard]] std::string piece_base(const std::string& trace_path);

/// Returns the pieces: single steps, then windows or phases. Their names are in docs/split.md. The
/// steady state is searched within the iterations (compat: the iterations are the steady state). If
/// only iterations are requested, they are one piece (compat: no piece). Errors: kUsage for invalid
/// iterations.
Result<std::vector<TracePiece>> plan_pieces(const Trace& trace,
                                            const std::vector<AnnotatedStep>& steps,
                                            const PieceChoice& choice, const std::string& base);

/// The events of a trace that belong to a piece.
struct PieceEvents {
  std::vector<std::uint32_t> entries; ///< uids, ascending
  std::vector<std::int64_t> flow_ids; ///< correlations of the piece's calls, ascending
  std::vector<std::pair<std::int64_t, std::int64_t>> windows_ns; ///< start and end of the piece's
                                                                 ///< steps
  std::size_t gpu_events = 0;
  std::int64_t gpu_duration_ns = 0; ///< sum over the steps: last end minus first start
  std::int64_t gpu_busy_ns = 0;     ///< sum over the steps: union of the GPU work
};

/// Assigns events to steps. A step gets the CPU events of its process that start in it, on any
/// thread. It also gets the GPU work that these events launched, however late it runs, and the GPU
/// annotations of that work. `compat`: CPU events on the step's own thread that begin and end in
/// it, GPU events with their correlations, and busy time as a sum. O(n log steps).
class StepEvents {
public:
  StepEvents(const LoadedTrace& trace, const std::vector<AnnotatedStep>& steps, bool compat);
  [[nodiscard]] PieceEvents piece_events(const TracePiece& piece) const;

private:
  struct Members {
    std::vector<EventId> cpu, gpu;
    std::int64_t gpu_start_ns = INT64_MAX, gpu_end_ns = INT64_MIN;
    std::int64_t busy_ns = 0;
  };
  void assign_by_launch();
  void assign_by_correlation();
  void add_gpu_annotations();
  void measure();
  template <class Visit> void open_steps(std::uint32_t track, std::int64_t ts, Visit&& visit) const;

  const LoadedTrace& t_;
  const std::vector<AnnotatedStep>& steps_;
  bool compat_;
  /// A step in the list of its process (compat: its thread), ordered by start.
  struct Open {
    std::int64_t start_ns, end_ns;
    std::int64_t latest_end_ns; ///< latest end of this step and all earlier steps
    std::size_t step;
  };
  std::vector<std::uint32_t> group_of_track_;
  std::vector<std::vector<Open>> groups_;
  std::vector<Members> members_; ///< members of each step
};

/// A written file.
struct PieceFact {
  std::size_t number = 0;
  std::string path;
  std::uint64_t events = 0; ///< entries of traceEvents
  PieceEvents content;
  PiecePhases phases;
  std::vector<AnnotatedStep> steps;
};
/// Returns the columns of execution_details.csv.
[[nodiscard]] Schema<PieceFact> piece_schema();
/// Returns execution_details.json: a list of the same files, with the counts of every step.
[[nodiscard]] std::string pieces_json(const std::vector<PieceFact>& pieces);

} // namespace rankscope
