// The tables graph_launches and graph_kernels: how graph kernels were attributed to operators, and
// which kernels were not attributed (docs/graph-attribution.md).
#include "analyses/graph/graph_attribution.h"
#include "base/sort.h"
#include "base/units.h"

#include <map>
#include <tuple>

namespace rankscope {
namespace {

struct GraphRow {
  std::size_t number = 0; ///< from 1, in the order of the first launch
  const GraphFacts* facts = nullptr;
  std::int64_t gpu_ns = 0; ///< GPU time of the trace
};

Schema<GraphRow> graph_schema() {
  using R = GraphRow;
  const auto count = [](const char* id, std::size_t GraphFacts::*field, const char* help) {
    return Field<R>{id, Unit::kCount, [field](const R& r) { return r.facts->*field; }, help};
  };
  const auto share = [](const char* id, Attribution how, const char* help) {
    return Field<R>{id, Unit::kPercent,
                    [how](const R& r) {
                      return percent_of(r.facts->ns[static_cast<std::size_t>(how)],
                                        r.facts->total_ns);
                    },
                    help};
  };
  return {
      "graph_launches",
      "GPU graphs that were launched, and how their kernels were attributed to operators",
      {{"graph", &R::number,
        "number of the graph, from 1, in the order of the graphs' first launches"},
       {"graph_id", "graph id", Unit::kNone, [](const R& r) { return known(r.facts->id); },
        "graph id from CUPTI, if the trace contains it"},
       count("launches", &GraphFacts::replays,
             "number of launches of the graph with kernels in the trace"),
       count("kernels", &GraphFacts::kernels,
             "number of kernels, copies and memsets in a complete launch of the graph"),
       count("incomplete_launches", &GraphFacts::incomplete,
             "number of launches in which kernels are missing because the profiler lost them"),
       count("missing_kernels", &GraphFacts::missing,
             "number of missing kernels, summed over the incomplete launches"),
       {"time_ms", "time (ms)", Unit::kMs, [](const R& r) { return ns_to_ms(r.facts->total_ns); },
        "sum of the durations of the graph's kernels over all launches"},
       {"percent_of_gpu_time", "of GPU time (%)", Unit::kPercent,
        [](const R& r) { return percent_of(r.facts->total_ns, r.gpu_ns); },
        "time (ms) in percent of the summed durations of all GPU events in the trace"},
       share("by_capture_percent", Attribution::kCapture,
             "share of the graph's time that was attributed to operators through the recorded "
             "capture of the graph"),
       share("by_ids_percent", Attribution::kGraphNode,
             "share of the graph's time that was attributed to operators by graph node ids"),
       share("by_alignment_percent", Attribution::kAligned,
             "share of the graph's time that was attributed by aligning its kernels with those of "
             "a donor (a sequence of kernels with known operators)"),
       share("not_attributed_percent", Attribution::kNone,
             "share of the graph's time that was not attributed to an operator"),
       {"confidence", Unit::kRatio, [](const R& r) { return r.facts->confidence; },
        "confidence of the attribution (0 to 1), mean weighted by the attributed time"},
       {"period", Unit::kCount, [](const R& r) { return r.facts->period.length; },
        "number of kernels after which the kernel names repeat (one layer, or a repeated pattern "
        "of layers); 0: no period"},
       {"period_agreement", "period agreement", Unit::kRatio,
        [](const R& r) { return r.facts->period.agreement; },
        "share of the kernels that have the same name as the kernel one period later"},
       {"donor", [](const R& r) { return text_or_blank(r.facts->donor); },
        "step or graph whose kernels were aligned with the kernels of this graph"}}};
}

/// Kernels with the same name, graph and operator.
struct GraphKernelRow {
  std::size_t graph = 0;
  Attribution attribution = Attribution::kNone;
  std::string_view op, frames, dims; ///< "": not available
  KernelFamily family = KernelFamily::kOther;
  std::string_view kernel;
  std::size_t count = 0;
  std::int64_t ns = 0;
  double sure_ns = 0;
  double percent = 0; ///< share of the time of all graphs
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
    row.percent = percent_of(row.ns, a.graph_ns);
    out.push_back(row);
  }
  sort_stably(out, [](const GraphKernelRow& x, const GraphKernelRow& y) {
    return x.ns != y.ns ? x.ns > y.ns : x.graph < y.graph;
  });
  return out;
}

Schema<GraphKernelRow> kernel_schema() {
  using R = GraphKernelRow;
  return {"graph_kernels",
          "kernels of graph launches, and the operators to which they were attributed",
          {{"graph", &R::graph, "number of the graph, as in graph_launches"},
           {"attribution", [](const R& r) { return attribution_name(r.attribution); },
            "method that found the operator: capture, graph_node, aligned, none"},
           {"attribution_confidence", Unit::kRatio,
            [](const R& r) { return r.ns > 0 ? r.sure_ns / static_cast<double>(r.ns) : 0.0; },
            "confidence of the attribution (0 to 1), mean weighted by kernel time"},
           {"operator", or_blank(&R::op), "operator that the kernels belong to"},
           {"frames", or_blank(&R::frames),
            "nn.Modules around the operator's call that the row's first kernel was matched with; "
            "without modules: the innermost Python frame around this call"},
           {"input_dims", "Input Dims", Unit::kNone, or_blank(&R::dims),
            "input shapes of the operator's call that the kernels were matched with; blank if the "
            "matched kernels have another name, grid or block"},
           {"family", [](const R& r) { return kernel_family_name(r.family); },
            "kind of work, derived from the kernel name"},
           {"kernel", or_blank(&R::kernel), "name of the kernel"},
           {"count", Unit::kCount, &R::count, "number of kernels in the row"},
           {"time_us", "time (\u00b5s)", Unit::kUs, in_us(&R::ns), "sum of the kernel durations"},
           {"percent_of_graph_time", "of graph time (%)", Unit::kPercent, &R::percent,
            "share of the summed kernel durations of all graph launches"}}};
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
                                       "kernels of graph launches, and their operators",
                                       {"graph_launches", "graph_kernels"},
                                       run_graph_launches,
                                       describe_graph_launches};

} // namespace rankscope
