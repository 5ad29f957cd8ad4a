#include "analyses/operators/report_notes.h"

#include "analyses/operators/launchers.h"
#include "analyses/operators/roofline.h"
#include "analyses/operators/unified_perf.h"
#include "base/counters.h"
#include "base/units.h"
#include "core/gpu_work.h"
#include "core/graph_launch.h"
#include "model/kernel_names.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr double kMost = 50; ///< percentage of the GPU time above which one row causes a note

/// Returns the highest peak of the built-in GPUs for each compute spec, and the highest bandwidth.
GpuArch highest_built_in() {
  GpuArch out;
  out.name = "any built-in GPU";
  for (const std::string& name : builtin_gpu_archs())
    if (const Result<GpuArch> arch = load_gpu_arch(name)) {
      out.mem_bw_gbps = std::max(out.mem_bw_gbps, arch->mem_bw_gbps);
      for (const auto& [spec, tflops] : arch->tflops)
        out.tflops[spec] = std::max(out.tflops[spec], tflops);
    }
  return out;
}

struct TooFast {
  std::size_t rows = 0;
  double worst = 0; ///< largest value, as a multiple of the limit
  std::string example;

  void add(double rate, double limit, std::string_view name, const char* unit) {
    if (!(limit > 0) || !(rate > limit))
      return;
    ++rows;
    if (rate / limit > worst) {
      worst = rate / limit;
      example = fmt::format("{}: {:.1f} {} of {:.1f}", name.substr(0, 60), rate, unit, limit);
    }
  }
};

/// Adds notes for rates above the peak. All `sheets` have the same GPU, or no GPU.
void note_impossible_rates(const std::vector<FamilySheet>& sheets, const std::string& where,
                           Diagnostics& diagnostics) {
  if (sheets.empty())
    return;
  const GpuArch limits = sheets.front().arch ? *sheets.front().arch : highest_built_in();
  TooFast flops;
  TooFast bytes;
  for (const FamilySheet& sheet : sheets)
    for (const FamilyRow& row : sheet.rows) {
      const auto peak = limits.tflops.find(row.compute_spec);
      flops.add(row.tflops.mean, peak == limits.tflops.end() ? 0 : peak->second, row.name,
                "TFLOPS");
      bytes.add(row.tbps.mean, limits.mem_bw_gbps / 1e3, row.name, "TB/s");
    }
  if (flops.rows > 0)
    diagnostics.add(counters::rate_above_peak(limits.name, flops.example), where, flops.rows);
  if (bytes.rows > 0)
    diagnostics.add(counters::bandwidth_above_peak(limits.name, bytes.example), where, bytes.rows);
}

void note_what_rates_leave_out(const ModelCoverage& coverage, const std::string& where,
                               Diagnostics& diagnostics) {
  const double no_operator = percent_of(coverage.no_operator_ns, coverage.total_ns);
  const double largest = percent_of(coverage.largest_ns, coverage.total_ns);
  if (no_operator > kMost)
    diagnostics.add(counters::most_time_without_operator(
                        no_operator, percent_of(coverage.graph_ns, coverage.total_ns)),
                    where);
  else if (largest > kMost)
    diagnostics.add(counters::one_row_holds_most(largest, coverage.largest_name.substr(0, 80)),
                    where);
}

std::size_t short_kernels_without_operator(const LoadedTrace& trace, const ReportOptions& options) {
  const LauncherIndex& index = trace.shared(LaunchersKey{options});
  const Events& e = trace.trace.events;
  std::size_t out = 0;
  for (std::size_t g = 0; g < index.gpu.size(); ++g) {
    const EventId kernel = index.gpu[g];
    const EventId parent = index.parent_op[g];
    const bool known = parent != kNoEvent && e.category[parent] == Category::kCpuOp;
    if (!known && e.category[kernel] == Category::kKernel && trace.tree.linked(kernel) &&
        ns_to_us(e.dur_ns[kernel]) < options.short_kernel_threshold_us)
      ++out;
  }
  return out;
}

} // namespace

Result<ModelCoverage> model_coverage(const LoadedTrace& trace, const ReportOptions& options) {
  const Result<UnifiedPerf>& unified = trace.shared(UnifiedPerfKey{options});
  if (!unified)
    return unified.error();
  ModelCoverage out;
  out.no_operator_ns = static_cast<double>(unified->unlinked_ns);
  out.total_ns = out.no_operator_ns;
  for (const UnifiedRow& row : unified->rows) {
    out.total_ns += row.kernel_ns;
    if (row.has_model) {
      out.modelled_ns += row.kernel_ns;
      continue;
    }
    const bool synthetic = kernel_row_of(row.op.name).has_value();
    (synthetic ? out.no_operator_ns : out.no_model_ns) += row.kernel_ns;
    if (synthetic && launches_graph(row.op.name))
      out.graph_ns += row.kernel_ns;
    if (row.kernel_ns > out.largest_ns) {
      out.largest_ns = row.kernel_ns;
      out.largest_name = row.op.name;
    }
  }
  return out;
}

std::string coverage_line(const ModelCoverage& c) {
  if (c.total_ns <= 0)
    return "";
  std::string out = fmt::format(
      "GPU time without communication {:.3f} ms: {:.1f} % in operators with a model, {:.1f} % in "
      "operators without one, {:.1f} % without an operator",
      ns_to_ms(c.total_ns), percent_of(c.modelled_ns, c.total_ns),
      percent_of(c.no_model_ns, c.total_ns), percent_of(c.no_operator_ns, c.total_ns));
  if (c.graph_ns > 0)
    out += fmt::format(" ({:.1f} % launched by graphs)", percent_of(c.graph_ns, c.total_ns));
  return out;
}

Result<ModelCoverage> add_report_notes(const LoadedTrace& trace, const ReportOptions& options,
                                       const Report& report, Diagnostics& diagnostics) {
  ModelCoverage coverage;
  const std::string& where = trace.trace.path;
  if (trace.tree.gpu_event_count() == 0)
    return coverage; // the loader has printed a warning
  if (!has_events(trace.trace, Category::kCpuOp))
    diagnostics.add(counters::no_cpu_operators(), where);
  if (report.find("short_kernels_summary") != nullptr) {
    const std::size_t left_out = short_kernels_without_operator(trace, options);
    if (left_out > 0)
      diagnostics.add(counters::short_kernels_without_operator(), where, left_out);
  }
  if (report.find("unified_perf_summary") != nullptr) {
    RS_TRY(coverage, model_coverage(trace, options));
    note_what_rates_leave_out(coverage, where, diagnostics);
  }
  if (std::any_of(report.tables.begin(), report.tables.end(),
                  [](const Table& table) { return is_family_sheet(table.name()); })) {
    const Result<FamilyFacts>& families = trace.shared(FamiliesKey{options});
    if (!families)
      return families.error();
    if (std::all_of(
            families->sheets.begin(), families->sheets.end(),
            [&report](const FamilySheet& sheet) { return report.find(sheet.name) != nullptr; }))
      note_impossible_rates(families->sheets, where, diagnostics);
  }
  return coverage;
}

} // namespace rankscope
