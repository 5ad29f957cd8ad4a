#include "app/graph_note.h"

#include "analyses/graph/graph_attribution.h"
#include "base/counters.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr std::size_t kNamedSteps = 5;

void note_losses(const LoadedTrace& trace, const GraphAttribution& a, Diagnostics& diagnostics) {
  if (a.losses.empty())
    return;
  std::string named;
  for (std::size_t i = 0; i < a.losses.size() && i < kNamedSteps; ++i)
    named += fmt::format("{}{}: {}", named.empty() ? "" : "; ", a.losses[i].where,
                         a.losses[i].missing == 0 ? std::string("all kernels")
                                                  : fmt::format("{} kernels", a.losses[i].missing));
  diagnostics.add(counters::graph_tracing_loss(named, a.losses.size() > kNamedSteps ? "; ..." : ""),
                  trace.trace.path, a.losses.size());
}

} // namespace

std::string graph_line(const LoadedTrace& trace, const ReportOptions& options) {
  return graph_headline(trace.shared(GraphsKey{options}));
}

void note_graphs(const LoadedTrace& trace, const ReportOptions& options, double least_percent,
                 Diagnostics& diagnostics) {
  const GraphAttribution& a = trace.shared(GraphsKey{options});
  const auto share = [&a](std::int64_t ns) { return percent_of(ns, a.gpu_ns); };
  if (a.graphs.replays.empty() || share(a.graph_ns) < least_percent)
    return;
  std::string sentence = graph_headline(a);
  if (const std::string families = unattributed_families(a); !families.empty())
    sentence += "; not attributed by kind: " + families;
  const std::int64_t none = a.ns[static_cast<std::size_t>(Attribution::kNone)];
  constexpr double kMost = 50;
  Problem problem = counters::graph_launches(sentence);
  if (share(none) > kMost)
    problem.severity = Severity::kWarning;
  diagnostics.add(problem, trace.trace.path);
  note_losses(trace, a, diagnostics);
}

} // namespace rankscope
