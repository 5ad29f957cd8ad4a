// The operators that the kernels of graph launches belong to, how they were found, and with which
// confidence. Kernels without an operator are included (docs/graph-attribution.md).
#pragma once

#include "analyses/analysis.h"
#include "analyses/graph/donor_sequences.h"
#include "model/kernel_family.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// The method that attributed a kernel to its operator.
enum class Attribution : std::uint8_t {
  kLaunch,    ///< launched by the operator without a graph
  kCapture,   ///< from the trace of the graph's capture
  kGraphNode, ///< by node ids: in this order, the names of all kernels are those of a donor
  kAligned,   ///< by alignment with the kernel sequence of a donor
  kNone,
};
inline constexpr std::size_t kAttributions = static_cast<std::size_t>(Attribution::kNone) + 1;
/// Returns "launch", "capture", "graph_node", "aligned" or "none".
[[nodiscard]] std::string_view attribution_name(Attribution attribution);

/// One kernel, copy or memset of a graph launch.
struct ReplayedKernel {
  EventId event = kNoEvent;
  std::uint32_t replay = 0;  ///< row of GraphReplays::replays
  std::uint32_t op = kNoRow; ///< row of GraphAttribution::operators
  double confidence = 0;
  Attribution attribution = Attribution::kNone;
  KernelFamily family = KernelFamily::kOther; ///< family by the kernel's own name
  /// The donor's kernel has the same grid and block, so the operator's shapes are valid.
  bool same_shape = false;
};

/// One graph with all its launches. Times are sums of durations.
struct GraphFacts {
  std::int64_t id = kNoId;
  std::size_t replays = 0;
  std::size_t kernels = 0;    ///< kernels of a complete launch
  std::size_t missing = 0;    ///< missing kernels, summed over the launches
  std::size_t incomplete = 0; ///< launches with missing kernels
  std::int64_t total_ns = 0;
  std::array<std::int64_t, kAttributions> ns{}; ///< time by attribution
  double confidence = 0; ///< mean over the attributed time; 0 if there is no attributed time
  KernelPeriod period;
  std::string donor; ///< donor of the alignment; "" if no donor was found
};

/// GPU events that the profiler lost. Their time is not idle time.
struct TracingLoss {
  std::string where; ///< the step, or the launch if it is outside all steps
  /// Number of missing kernels; 0: all kernels of the launch are missing, their number is unknown.
  std::size_t missing = 0;
};

struct GraphAttribution {
  GraphReplays graphs;
  std::vector<GraphFacts> facts;       ///< in the order of GraphReplays::graphs
  std::vector<ReplayedKernel> kernels; ///< ordered by event
  std::vector<KnownOperator> operators;
  std::vector<TracingLoss> losses; ///< in order of the launches
  std::int64_t gpu_ns = 0;         ///< sum of the durations of all GPU events of the trace
  std::int64_t graph_ns = 0;
  std::array<std::int64_t, kAttributions> ns{}; ///< graph_ns by attribution
  /// Time of kernels without an operator, by family.
  std::array<std::int64_t, kKernelFamilies> none_ns{};
  double aligned_confidence = 0; ///< mean over the aligned time

  /// Returns the attribution of a GPU event, or nullptr if no graph launched it.
  [[nodiscard]] const ReplayedKernel* find(EventId gpu) const;
  /// Returns the share of graph time without an operator, in percent; 0 without graph launches.
  [[nodiscard]] double unattributed_percent() const;
};

/// Returns the attribution of all graph kernels. `donor`: another trace to align with, in addition
/// to the eager steps of this one; may be null. Kernels that a merge with captures attached to
/// operators keep these operators. Linear, except for one alignment per graph and suitable donor
/// (at most three).
[[nodiscard]] GraphAttribution attribute_graphs(const LoadedTrace& t, const LoadedTrace* donor);

/// The key of the attribution with a donor. The result is empty in compat mode and without graph
/// launches.
struct GraphsKey {
  using Value = GraphAttribution;
  bool compat = false;
  std::shared_ptr<const LoadedTrace> donor; ///< may be null
  GraphsKey() = default;
  GraphsKey(const ReportOptions& o) : compat(o.compat_tracelens), donor(o.donor) {}
  auto operator<=>(const GraphsKey&) const = default;
};
[[nodiscard]] GraphAttribution compute(const LoadedTrace& trace, const GraphsKey& key);
/// Returns the key for tables with graph columns; empty if the options do not request them.
[[nodiscard]] inline std::optional<GraphsKey> graph_columns_key(const ReportOptions& o) {
  return o.graph_columns ? std::optional<GraphsKey>(o) : std::nullopt;
}

/// The attribution of the kernels in a row of a table of operators.
struct GraphCell {
  Attribution attribution = Attribution::kLaunch; ///< attribution of most of the row's time
  double confidence = 1; ///< mean over the time; time without an operator counts as 0
  /// Family with the most time among the row's graph kernels, by name; "" if there are no such
  /// kernels.
  std::string_view family;
  /// Operators found for the row's graph kernels, most time first; "" if no operator was found.
  std::string operators;
};
[[nodiscard]] GraphCell graph_cell(const LoadedTrace& t, const GraphAttribution& a,
                                   std::span<const std::span<const EventId>> calls);

/// Adds the columns attribution, attribution_confidence, kernel_family and graph_operators for a
/// row's cell.
template <class Row> void add_graph_columns(Schema<Row>& schema, GraphCell Row::*cell) {
  schema.add({"attribution",
              [cell](const Row& r) { return attribution_name((r.*cell).attribution); },
              "method that attributed most of the row's kernel time to operators: launch, capture, "
              "graph_node, aligned, none"});
  schema.add({"attribution_confidence", Unit::kRatio,
              [cell](const Row& r) { return (r.*cell).confidence; },
              "confidence of the attribution (0 to 1), mean weighted by kernel time; kernels "
              "without an operator count as 0"});
  schema.add({"kernel_family", "kernel_family", Unit::kNone, CellKind::kText,
              [cell](const Row& r) {
                return (r.*cell).family.empty() ? Value() : Value((r.*cell).family);
              },
              "kind of work with the most time among the row's kernels in graph launches, derived "
              "from the kernel names: GEMM, attention, norm, ..."});
  schema.add({"graph_operators", "graph_operators", Unit::kNone, CellKind::kText,
              [cell](const Row& r) {
                return (r.*cell).operators.empty() ? Value() : Value((r.*cell).operators);
              },
              "operators to which the row's kernels in graph launches were attributed, the one "
              "with the most time first"});
}

/// Returns "graph launches: N (c graphs), X ms = Y % of GPU time; attributed: by capture a %, by
/// ids b %, by alignment c % (mean confidence k), NOT attributed d %". Adds the reason if most of
/// the time is not attributed. Returns "" without graph launches.
[[nodiscard]] std::string graph_headline(const GraphAttribution& a);
/// Returns "GEMM 61.2 %, attention 20.1 %, ...": the unattributed time by kernel name.
[[nodiscard]] std::string unattributed_families(const GraphAttribution& a);

/// Percentage of unattributed graph time above which a note with that share is added to every table
/// that includes graph launches.
inline constexpr double kNotedPercent = 5;

} // namespace rankscope
