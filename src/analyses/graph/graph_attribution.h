// The operators that the kernels of graph launches belong to, how they were found, how sure that
// is, and which kernels have no operator: docs/graph-attribution.md.
#pragma once

#include "analyses/analysis.h"
#include "analyses/graph/donor_sequences.h"
#include "model/kernel_family.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// How a kernel was attributed to its operator.
enum class Attribution : std::uint8_t {
  kLaunch,    ///< the operator launched it: no graph
  kCapture,   ///< from the trace of the graph's capture
  kGraphNode, ///< by node ids: in their order all names are equal to a donor's
  kAligned,   ///< by the sequence of kernels of a donor
  kNone,
};
inline constexpr std::size_t kAttributions = static_cast<std::size_t>(Attribution::kNone) + 1;
/// "launch", "capture", "graph_node", "aligned", "none".
[[nodiscard]] std::string_view attribution_name(Attribution attribution);

/// One kernel, copy or memset of a graph launch.
struct ReplayedKernel {
  EventId event = kNoEvent;
  std::uint32_t replay = 0;  ///< row of GraphReplays::replays
  std::uint32_t op = kNoRow; ///< of GraphAttribution::operators
  double confidence = 0;
  Attribution attribution = Attribution::kNone;
  KernelFamily family = KernelFamily::kOther; ///< by its own name
  bool same_shape =
      false; ///< the operator's shapes contain: the donor's kernel has its grid and block
};

/// One graph, all its launches together; times are sums of durations.
struct GraphFacts {
  std::int64_t id = kNoId;
  std::size_t replays = 0;
  std::size_t kernels = 0;    ///< of a complete launch
  std::size_t missing = 0;    ///< kernels that its launches lack in all
  std::size_t incomplete = 0; ///< launches that lack some
  std::int64_t total_ns = 0;
  std::array<std::int64_t, kAttributions> ns{}; ///< by attribution
  double confidence = 0; ///< mean over the time that is attributed; 0 without any
  KernelPeriod period;
  std::string donor; ///< of alignment; "" = none was found
};

/// GPU events that the profiler lost, which is not idle time.
struct TracingLoss {
  std::string where;       ///< the step, else the launch
  std::size_t missing = 0; ///< kernels; 0 = all of the launch, however many those are
};

struct GraphAttribution {
  GraphReplays graphs;
  std::vector<GraphFacts> facts;       ///< as GraphReplays::graphs
  std::vector<ReplayedKernel> kernels; ///< by event
  std::vector<KnownOperator> operators;
  std::vector<TracingLoss> losses; ///< in order of the launches
  std::size_t empty_launches = 0;  ///< without any GPU event in the trace
  std::int64_t gpu_ns = 0;         ///< of all GPU events of the trace, sums of durations
  std::int64_t graph_ns = 0;
  std::array<std::int64_t, kAttributions> ns{};        ///< of graph_ns, by attribution
  std::array<std::int64_t, kKernelFamilies> none_ns{}; ///< of kernels without an operator
  double aligned_confidence = 0;                       ///< mean over the aligned time

  /// nullptr for what no graph launched.
  [[nodiscard]] const ReplayedKernel* find(EventId gpu) const;
  /// Returns the share of the graphs' time without an operator, percent; 0 without graph launches.
  [[nodiscard]] double unattributed_percent() const;
};

/// `donor`: another trace to align with, besides the eager steps of this one; may be null. Kernels
/// that a merge with captures put below operators keep them. Linear, except for one alignment per
/// graph and donor that could fit (at most three).
[[nodiscard]] GraphAttribution attribute_graphs(const LoadedTrace& t, const LoadedTrace* donor);

/// That of the trace with a donor. Nothing in compat mode, nor for a trace without graph launches.
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

/// The attribution of the kernels of a row of operators.
struct GraphCell {
  Attribution attribution = Attribution::kLaunch; ///< of most of the row's time
  double confidence = 1;                          ///< mean over the time, 0 without an operator
  std::string_view family; ///< most of the time of its kernels of graphs, by their names; "" = none
  std::string operators;   ///< found for its kernels of graphs, most time first; "" = none
};
[[nodiscard]] GraphCell graph_cell(const LoadedTrace& t, const GraphAttribution& a,
                                   std::span<const std::span<const EventId>> calls);

/// The columns attribution, attribution_confidence, kernel_family and graph_operators of a row's
/// cell.
template <class Row> void add_graph_columns(Schema<Row>& schema, GraphCell Row::*cell) {
  schema.add({"attribution",
              [cell](const Row& r) { return attribution_name((r.*cell).attribution); },
              "how most of the row's kernel time was attributed to an operator: launch, capture, "
              "graph_node, aligned, none"});
  schema.add({"attribution_confidence", Unit::kRatio,
              [cell](const Row& r) { return (r.*cell).confidence; },
              "mean over the kernel time, 0 to 1; time without an operator counts as 0"});
  schema.add({"kernel_family", "kernel_family", Unit::kNone, CellKind::kText,
              [cell](const Row& r) {
                return (r.*cell).family.empty() ? Value() : Value((r.*cell).family);
              },
              "kind of work of the row's kernels of graphs by their own names: GEMM, attention, "
              "norm, ..."});
  schema.add({"graph_operators", "graph_operators", Unit::kNone, CellKind::kText,
              [cell](const Row& r) {
                return (r.*cell).operators.empty() ? Value() : Value((r.*cell).operators);
              },
              "operators found for kernels of graphs, most time first"});
}

/// "graph launches: N (c graphs), X ms = Y % of GPU time; attributed: by capture a %, by ids b %,
/// by alignment c % (mean confidence k), NOT attributed d %", and why where that is most of the
/// time; "" without graph launches.
[[nodiscard]] std::string graph_headline(const GraphAttribution& a);
/// "GEMM 61.2 %, attention 20.1 %, ...": the unattributed time by the kernels' own names.
[[nodiscard]] std::string unattributed_families(const GraphAttribution& a);

/// Above it every table that graph launches take part in repeats the share.
inline constexpr double kNotedPercent = 5;

} // namespace rankscope
