#include "analyses/top/overview_sheet.h"

#include "base/display_text.h"
#include "base/number_text.h"
#include "base/units.h"

#include <cmath>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr std::size_t kWhat = 1, kValue = 2, kPercent = 4; ///< columns that charts show

/// Makes the rows of one report.
class Sheet {
public:
  Sheet(const TopFacts& facts, const Report& report) : facts_(facts), report_(report) {}

  void add(OverviewRow row) {
    if (report_.find(row.sheet) == nullptr)
      row.sheet.clear();
    rows.push_back(std::move(row));
  }

  void findings() {
    for (const Problem& p : facts_.problems)
      add({p.severity == Severity::kInfo ? "note" : "missing", p.sentence, std::nullopt, "",
           std::nullopt, p.where, ""});
    for (const Finding& f : facts_.findings)
      add({"finding", f.headline, f.value, unit_name(f.unit), std::nullopt,
           f.evidence + (f.action.empty() ? "" : ". " + f.action), ""});
  }

  /// Adds the rows of GPU time by kind and of idle time by cause. The four kinds that add up to the
  /// total come first and are adjacent, because a chart shows them.
  void times() {
    for (const TimeKind kind :
         {TimeKind::kComputation, TimeKind::kExposedComm, TimeKind::kExposedMemcpy, TimeKind::kIdle,
          TimeKind::kTotal, TimeKind::kTotalComm, TimeKind::kTotalMemcpy})
      add({"time", std::string(time_kind_name(kind)), facts_.ms(kind), "ms", facts_.percent(kind),
           "", "gpu_timeline"});
    for (const TopIdle& i : facts_.idle)
      add({"idle", std::string(idle_cause_name(i.cause)), i.ms, "ms", i.percent_of_idle,
           std::string(idle_cause_help(i.cause)), "gpu_timeline"});
  }

  void kernels() {
    for (const TopKernel& k : facts_.kernels)
      add({"kernel", k.short_name, ns_to_ms(k.sum.sum_ns), "ms", k.percent,
           counted(static_cast<std::size_t>(k.sum.count), "launch", "launches"), "kernel_summary"});
  }

  void operators() {
    for (const TopOperator& o : facts_.operators) {
      std::string note = counted(static_cast<std::size_t>(o.sum.count), "call", "calls");
      if (!std::isnan(o.tflops))
        note += fmt::format(", {:.1f} TFLOPS/s", o.tflops);
      if (!std::isnan(o.percent_of_roofline))
        note +=
            fmt::format(", {:.1f} % of the roofline ({} bound)", o.percent_of_roofline, o.bound);
      add({"operator", o.sum.name + " " + short_shapes(o.sum.dims), ns_to_ms(o.sum.kernel_ns), "ms",
           o.percent, std::move(note), "unified_perf_summary"});
    }
    for (const TopCategory& c : facts_.categories)
      add({"category", c.sum.category, ns_to_ms(c.sum.direct_ns), "ms", c.percent,
           counted(static_cast<std::size_t>(c.sum.count), "call", "calls"),
           "ops_summary_by_category"});
    for (const TopCollective& c : facts_.collectives) {
      std::string note = counted(static_cast<std::size_t>(c.count), "kernel", "kernels");
      if (!std::isnan(c.mib))
        note += c.mib < 1 ? fmt::format(", {:.3g} MiB", c.mib) : fmt::format(", {:.2f} MiB", c.mib);
      add({"collective", fmt::format("{} {}", c.name, c.dtype), c.total_ms, "ms", c.percent,
           std::move(note), "coll_analysis"});
    }
  }

  void sheets() {
    for (const Table& table : report_.tables)
      add({"sheet", table.name(), std::nullopt, "", std::nullopt,
           fmt::format("{} {}", table.rows(), table.rows() == 1 ? "row" : "rows"), table.name()});
  }

  std::vector<OverviewRow> rows;

private:
  const TopFacts& facts_;
  const Report& report_;
};

} // namespace

Schema<OverviewRow> overview_sheet_schema() {
  using R = OverviewRow;
  return {"overview",
          "first sheet in the workbook of report: findings, totals, and the longest kernels, "
          "operators and collectives",
          {{"part", &R::part,
            "kind of row: missing, note, finding, time, idle, kernel, operator, category, "
            "collective or sheet"},
           {"what", &R::what, "text of the finding, or name of the kernel, operator and so on"},
           {"value", Unit::kMs, &R::value, "value of the row, in the unit of the next column"},
           {"unit", or_blank(&R::unit), "unit of the value"},
           {"percent", Unit::kPercent, &R::percent,
            "for a time: share of total_time; for idle time: share of idle_time; for other rows: "
            "share of the time of all kernels, of the GPU time without communication and so on"},
           {"note", or_blank(&R::note),
            "details of the row, for example the number of calls, TFLOPS/s, the file of a problem "
            "or the evidence of a finding"},
           {"sheet", or_blank(&R::sheet), "sheet with more details"}}};
}

Table overview_sheet(const TopFacts& facts, const Report& report) {
  Sheet sheet(facts, report);
  sheet.findings();
  const std::size_t times = sheet.rows.size();
  sheet.times();
  const std::size_t kernels = sheet.rows.size();
  sheet.kernels();
  const std::size_t operators = sheet.rows.size();
  sheet.operators();
  sheet.sheets();
  Table out = overview_sheet_schema().table(sheet.rows);
  out.charts.push_back(
      {Chart::Kind::kBars, "GPU time", "% of total_time", kWhat, {kPercent}, times, times + 4});
  if (operators > kernels)
    out.charts.push_back(
        {Chart::Kind::kBars, "Longest kernels", "ms", kWhat, {kValue}, kernels, operators});
  return out;
}

} // namespace rankscope
