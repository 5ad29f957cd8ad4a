// The events that a graph launch gets from its capture. A template is made once for each graph and
// order of kernels, and its events are added for each launch.
#pragma once

#include "analyses/inference/capture_roots.h"
#include "analyses/inference/graph_align.h"
#include "core/trace_builder.h"
#include "core/tree_changes.h"

#include <vector>

namespace rankscope {

/// The events of a recorded graph above the calls that have a kernel, parents before children. The
/// first event, "CaptureRoot", represents the graph. Ids are those of the trace that is filled.
struct GraphTemplate {
  struct Node {
    StrId name = kEmptyStr;
    std::uint32_t args = kNoRow;
    Category category = Category::kRuntime;
    std::int64_t dur_ns = 0;
    std::uint32_t track = 0;
    std::uint32_t parent = 0;      ///< index of the parent node
    std::uint32_t place = 0;       ///< position among all recorded events, ordered by start
    std::uint32_t kernel = kNoRow; ///< index among the launch's kernels, ordered by start
  };
  std::vector<Node> nodes;
  std::vector<std::uint32_t> child_begin;  ///< where the children of each node begin in `children`,
                                           ///< and the end
  std::vector<std::uint32_t> children;     ///< indices of nodes
  std::vector<std::uint32_t> without_call; ///< kernels of the launch that match no call
  std::uint32_t recorded = 0; ///< number of all events of the graph, including the root
  std::uint16_t source = 0;   ///< row of Trace::sources for the capture
};

/// Copies texts and arguments of a capture to the trace that is filled. Each is copied once.
class CaptureTexts {
public:
  CaptureTexts(TraceBuilder& to, const Trace& capture) : to_(to), capture_(capture) {}
  /// Returns the row of op_args; kNoRow for events without arguments.
  [[nodiscard]] std::uint32_t args_of(EventId e);
  [[nodiscard]] StrId text(StrId id);
  [[nodiscard]] std::uint32_t track_of(EventId e);

private:
  TraceBuilder& to_;
  const Trace& capture_;
  std::vector<StrId> texts_;
  std::vector<std::uint32_t> args_;
};

struct GraftOptions {
  /// True (compat): process and thread of the capture, duration of the launch, uids for recorded
  /// events. False: process and thread of the launch, duration of the event, uids for the added
  /// events.
  bool as_reference = false;
};

[[nodiscard]] GraphTemplate make_graph_template(const LoadedTrace& capture, const CaptureRoot& root,
                                                const GraphAlignment& alignment,
                                                const GraftOptions& options, CaptureTexts& texts,
                                                TraceBuilder& to);

/// Adds the events for one launch and records their parents and children in `changes`. `kernels`:
/// ordered by start. `below`: other children of the launch, which stay. Uids count from `uid`;
/// returns the next free uid.
std::uint64_t put_graph(const GraphTemplate& graph, EventId launch,
                        std::span<const EventId> kernels, std::span<const EventId> below,
                        std::uint64_t uid, const GraftOptions& options, TraceBuilder& to,
                        TreeChanges& changes);

} // namespace rankscope
