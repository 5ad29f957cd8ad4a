// graph_launches and graph_kernels: how the kernels of graphs came to their operators, and which
// did not (docs/graph-attribution.md).
#include "analyses/graph/graph_attribution.h"
#include "base/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace rankscope {
namespace {

struct GraphRow {
  std::size_t number = 0; ///< from 1, by first launch
  const GraphFacts* facts = nullptr;
  std::int64_t gpu_ns = 0; ///< of the trace
};

double percent_of_graph_launches(std::int64_t part, std::int64_t of) {
  return of > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(of) : 0;
}

Schema<GraphRow> graph_schema() {
  using R = GraphRow;
  const auto count = [](const char* id, std::size_t GraphFacts::*field, const char* help) {
    return Field<R>{id,
                    id,
                    Unit::kCount,
                    CellKind::kInt,
                    [field](const R& r) { return Value(r.facts->*field); },
                    help};
  };
  const auto share = [](const char* id, Attribution how, const char* help) {
    return Field<R>{id,
                    id,
                    Unit::kPercent,
                    CellKind::kDouble,
                    [how](const R& r) {
                      return Value(percent_of_graph_launches(
                          r.facts->ns[static_cast<std::size_t>(how)], r.facts->total_ns));
                    },
                    help};
  };
  return {
      "graph_launches",
      "graphs that were replayed, and how their kernels came to operators",
      {{"graph", "graph", Unit::kNone, CellKind::kInt, [](const R& r) { return Value(r.number); },
        "number of the graph, by first launch"},
       {"graph_id", "graph id", Unit::kNone, CellKind::kInt,
        [](const R& r) { return r.facts->id == kNoId ? Value() : Value(r.facts->id); },
        "CUPTI's id, where the trace has it"},
       count("launches", &GraphFacts::replays, "launches that ran its kernels"),
       count("kernels", &GraphFacts::kernels, "kernels, copies and memsets of a whole launch"),
       count("incomplete_launches", &GraphFacts::incomplete,
             "launches that lack some of them: lost by the profiler"),
       count("missing_kernels", &GraphFacts::missing, "that these lack in all"),
       {"time_ms", "time (ms)", Unit::kMs, CellKind::kDouble,
        [](const R& r) { return Value(ns_to_ms(r.facts->total_ns)); },
        "sum of the durations of its kernels"},
       {"percent_of_gpu_time", "of GPU time (%)", Unit::kPercent, CellKind::kDouble,
        [](const R& r) { return Value(percent_of_graph_launches(r.facts->total_ns, r.gpu_ns)); },
        "of the durations of all GPU events of the trace"},
       share("by_capture_percent", Attribution::kCapture,
             "of its time, by the trace of its capture"),
       share("by_ids_percent", Attribution::kGraphNode, "of its time, by ids of nodes"),
       share("by_alignment_percent", Attribution::kAligned,
             "of its time, by the kernels of a donor"),
       share("not_attributed_percent", Attribution::kNone, "of its time, without an operator"),
       {"confidence", "confidence", Unit::kRatio, CellKind::kDouble,
        [](const R& r) { return Value(r.facts->confidence); },
        "mean over the attributed time, 0 to 1"},
       {"period", "period", Unit::kCount, CellKind::kInt,
        [](const R& r) { return Value(r.facts->period.length); },
        "kernels until the names repeat: a layer, or the layers of a pattern; 0 = none"},
       {"period_agreement", "period agreement", Unit::kRatio, CellKind::kDouble,
        [](const R& r) { return Value(r.facts->period.agreement); },
        "share of the kernels with the same name a period later"},
       {"donor", "donor", Unit::kNone, CellKind::kText,
        [](const R& r) { return r.facts->donor.empty() ? Value() : Value(r.facts->donor); },
        "step or graph whose kernels were aligned with these"}}};
}

/// Kernels of one name that one operator of one graph has.
struct GraphKernelRow {
  std::size_t graph = 0;
  Attribution attribution = Attribution::kNone;
  std::string_view op, frames, dims; ///< "" = none
  KernelFamily family = KernelFamily::kOther;
  std::string_view kernel;
  std::size_t count = 0;
  std::int64_t ns = 0;
  double sure_ns = 0;
  double percent = 0; ///< of the time of all graphs
};

std::vector<GraphKernelRow> kernel_rows(const LoadedTrace& t, const GraphAttribution& a) {
  using Key = std::tuple<std::uint32_t, Attribution, std::string_view, StrId>;
  std::map<Key, GraphKernelRow> rows;
  for (const ReplayedKernel& k : a.kernels) {
    const KnownOperator* op = k.op == kNoRow ? nullptr : &a.operators[k.op];
    const std::uint32_t graph = a.graphs.replays[k.replay].graph;
    const std::string_view name = op != nullptr ? std::string_view(op->name) : std::string_view();
    const std::string_view dims = op != nullptr && k.same_shape ? op->dims : std::string_view();
    GraphKernelRow& row = rows[{graph, k.attribution, name, t.trace.events.name[k.event]}];
    if (row.count++ == 0) {
      row.graph = graph + 1;
      row.attribution = k.attribution;
      row.family = k.family;
      row.kernel = t.trace.name(k.event);
      row.dims = dims;
      if (op != nullptr) {
        row.op = op->name;
        row.frames = op->frames;
      }
    } else if (row.dims != dims) {
      row.dims = {};
    }
    row.ns += t.trace.events.dur_ns[k.event];
    row.sure_ns += k.confidence * static_cast<double>(t.trace.events.dur_ns[k.event]);
  }
  std::vector<GraphKernelRow> out;
  for (auto& [key, row] : rows) {
    row.percent = percent_of_graph_launches(row.ns, a.graph_ns);
    out.push_back(row);
  }
  std::stable_sort(out.begin(), out.end(), [](const GraphKernelRow& x, const GraphKernelRow& y) {
    return x.ns != y.ns ? x.ns > y.ns : x.graph < y.graph;
  });
  return out;
}

Schema<GraphKernelRow> kernel_schema() {
  using R = GraphKernelRow;
  const auto text = [](const char* id, const char* label, std::string_view R::*field,
                       const char* help) {
    return Field<R>{id,
                    label,
                    Unit::kNone,
                    CellKind::kText,
                    [field](const R& r) { return (r.*field).empty() ? Value() : Value(r.*field); },
                    help};
  };
  return {
      "graph_kernels",
      "kernels of graph launches with the operators found for them",
      {{"graph", "graph", Unit::kNone, CellKind::kInt, [](const R& r) { return Value(r.graph); },
        "as in graph_launches"},
       {"attribution", "attribution", Unit::kNone, CellKind::kText,
        [](const R& r) { return Value(attribution_name(r.attribution)); },
        "how the operator was found: capture, graph_node, aligned or none"},
       {"attribution_confidence", "attribution_confidence", Unit::kRatio, CellKind::kDouble,
        [](const R& r) { return Value(r.ns > 0 ? r.sure_ns / static_cast<double>(r.ns) : 0.0); },
        "mean over the time, 0 to 1"},
       text("operator", "operator", &R::op, "that the kernels belong to"),
       text("frames", "frames", &R::frames,
            "modules (else the nearest Python frame) of the donor's first such call"),
       text("input_dims", "Input Dims", &R::dims,
            "of the donor's call, only where name, grid and block are equal"),
       {"family", "family", Unit::kNone, CellKind::kText,
        [](const R& r) { return Value(kernel_family_name(r.family)); },
        "kind of work by the kernel's own name"},
       text("kernel", "kernel", &R::kernel, "name of the kernel"),
       {"count", "count", Unit::kCount, CellKind::kInt, [](const R& r) { return Value(r.count); },
        "kernels of the row"},
       {"time_us", "time (\u00b5s)", Unit::kUs, CellKind::kDouble,
        [](const R& r) { return Value(ns_to_us(r.ns)); }, "sum of their durations"},
       {"percent_of_graph_time", "of graph time (%)", Unit::kPercent, CellKind::kDouble,
        [](const R& r) { return Value(r.percent); }, "of the time of all graph launches"}}};
}

std::vector<SheetInfo> describe_graph_launches(const ReportOptions&) {
  return {graph_schema().info(), kernel_schema().info()};
}

Result<std::vector<Table>> run_graph_launches(const LoadedTrace& t, const ReportOptions& options) {
  std::vector<Table> out;
  const GraphAttribution& a = t.shared(GraphsKey{options});
  if (a.facts.empty())
    return out;
  std::vector<GraphRow> rows;
  for (std::size_t g = 0; g < a.facts.size(); ++g)
    rows.push_back({g + 1, &a.facts[g], a.gpu_ns});
  out.push_back(graph_schema().table(rows));
  out.back().notes.push_back(graph_headline(a));
  out.push_back(kernel_schema().table(kernel_rows(t, a)));
  return out;
}

} // namespace

const Analysis graph_launches_analysis{"graph_launches",
                                       "what graph launches ran, and for which operators",
                                       {"graph_launches", "graph_kernels"},
                                       run_graph_launches,
                                       describe_graph_launches};

} // namespace rankscope
