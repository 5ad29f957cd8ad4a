#include "analyses/top/roofline_sheet.h"

#include "analyses/operators/roofline.h"
#include "analyses/operators/unified_perf.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <vector>

namespace rankscope {
namespace {

constexpr std::size_t kMostOperators = 50;
constexpr std::size_t kIntensity = 2, kRate = 3; ///< columns of the schema

/// Returns whether the row can be a point on logarithmic axes.
bool drawable(const UnifiedRow& row) {
  return row.flops > 0 && row.bytes > 0 && row.tflops.mean > 0 && row.compute_spec.has_value();
}

std::vector<RooflinePoint> operators_of(const UnifiedPerf& perf, const GpuArch& arch) {
  std::vector<RooflinePoint> out;
  for (const UnifiedRow& row : perf.rows) {
    if (out.size() == kMostOperators)
      break;
    if (drawable(row) && !peak_spec(arch, *row.compute_spec).empty())
      out.push_back({"operator", std::string(row.op.name), row.flops / row.bytes, row.tflops.mean,
                     row.percent, *row.compute_spec});
  }
  return out;
}

/// Returns the rate that the memory bandwidth allows: 10^9 bytes per second times FLOPs per byte is
/// 10^9 FLOPs per second.
double bandwidth_tflops(const GpuArch& arch, double flops_per_byte) {
  return arch.mem_bw_gbps * flops_per_byte / 1e3;
}

void add_peaks(const GpuArch& arch, const std::string& spec, double least, double most,
               std::vector<RooflinePoint>& out) {
  const double peak = arch.tflops.find(spec)->second;
  const double ridge = peak * 1e3 / arch.mem_bw_gbps;
  const double left = std::min(least, ridge / 4);
  const double right = std::max(most, ridge * 4);
  const std::string memory = fmt::format("{}: {:g} GB/s", arch.name, arch.mem_bw_gbps);
  const std::string compute = fmt::format("{}: {:g} TFLOPS/s", arch.name, peak);
  out.push_back({"peak", memory, left, bandwidth_tflops(arch, left), std::nullopt, spec});
  out.push_back({"peak", compute, ridge, peak, std::nullopt, spec});
  out.push_back({"peak", compute, right, peak, std::nullopt, spec});
}

} // namespace

Schema<RooflinePoint> roofline_sheet_schema() {
  using R = RooflinePoint;
  return {
      "roofline",
      "points of the roofline chart in the workbook of report: operators by FLOPs per byte and "
      "TFLOPS/s, and the GPU's peaks",
      {{"part", &R::part, "kind of point: 'operator', or 'peak' for a point of the GPU's roofline"},
       {"what", &R::what, "name of the operator, or the peak of the GPU"},
       {"flops_per_byte", "FLOPS/Byte", Unit::kRatio, &R::flops_per_byte,
        "FLOPs per byte of the first call of the row"},
       {"tflops", "TFLOPS/s", Unit::kTflops, &R::tflops,
        "TFLOPS/s of a call, mean over the calls; for a peak: maximum TFLOPS/s of the GPU"},
       {"percent", Unit::kPercent, &R::percent, "share of the kernel time of all operators"},
       {"compute_spec", "Compute Spec", Unit::kNone, &R::spec,
        "compute unit and data type whose peak the roofline uses"}}};
}

Result<std::optional<Table>> roofline_sheet(const LoadedTrace& trace,
                                            const ReportOptions& options) {
  const Result<FamilyFacts>& families = trace.shared(FamiliesKey{options});
  if (!families)
    return families.error();
  const auto& perf = trace.shared(UnifiedPerfKey{options});
  if (!perf)
    return perf.error();
  const std::vector<FamilySheet>& sheets = families->sheets;
  const auto rated = std::find_if(sheets.begin(), sheets.end(),
                                  [](const FamilySheet& f) { return f.arch.has_value(); });
  if (rated == sheets.end() || !(rated->arch->mem_bw_gbps > 0))
    return std::optional<Table>();
  const GpuArch& arch = *rated->arch;
  std::vector<RooflinePoint> points = operators_of(*perf, arch);
  if (points.empty())
    return std::optional<Table>();
  const auto [least, most] = std::ranges::minmax_element(
      points, [](const auto& a, const auto& b) { return a.flops_per_byte < b.flops_per_byte; });
  const double left = least->flops_per_byte;
  const double right = most->flops_per_byte;
  std::set<std::string> specs;
  for (const RooflinePoint& point : points)
    specs.emplace(peak_spec(arch, point.spec));
  Chart chart;
  chart.kind = Chart::Kind::kPoints;
  chart.title = "Roofline of " + arch.name;
  chart.label_title = "FLOPS/Byte";
  chart.value_title = "TFLOPS/s";
  chart.label_column = kIntensity;
  chart.value_columns = {kRate};
  chart.parts.push_back({"operators", points.size(), false});
  for (const std::string& spec : specs) {
    if (!(arch.tflops.find(spec)->second > 0))
      continue;
    const std::size_t before = points.size();
    add_peaks(arch, spec, left, right, points);
    chart.parts.push_back({spec, points.size() - before, true});
  }
  chart.last_row = points.size();
  Table out = roofline_sheet_schema().table(points);
  out.charts.push_back(std::move(chart));
  return std::optional<Table>(std::move(out));
}

} // namespace rankscope
