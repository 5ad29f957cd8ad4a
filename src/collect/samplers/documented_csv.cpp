#include "collect/samplers/documented_csv.h"

#include "collect/samplers/sample_file.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {
namespace {

/// Returns a column of the dies in the package of `primary`, with `primary` first.
DocumentedColumn package_column(std::span<const GpuIdentity> gpus, std::size_t primary) {
  DocumentedColumn c{{primary}, fmt::format("GPU{}", gpus[primary].index)};
  for (std::size_t i = 0; i < gpus.size(); ++i)
    if (i != primary && gpus[i].package == gpus[primary].index) {
      c.gpus.push_back(i);
      c.name += fmt::format("+{}", gpus[i].index);
    }
  return c;
}

std::optional<double> vram_percent(const DocumentedColumn& column,
                                   std::span<const GpuReading> readings) {
  double used = 0, total = 0;
  for (const std::size_t i : column.gpus) {
    if (!readings[i].vram_used_b || !readings[i].vram_total_b)
      return std::nullopt;
    used += static_cast<double>(*readings[i].vram_used_b);
    total += static_cast<double>(*readings[i].vram_total_b);
  }
  return total > 0 ? std::optional(100 * used / total) : std::nullopt;
}

} // namespace

std::vector<DocumentedColumn> documented_columns(DocumentedKind kind, bool dual_gcd,
                                                 std::span<const GpuIdentity> gpus,
                                                 const GpuChoice& choice,
                                                 std::vector<std::string>& notes) {
  std::vector<DocumentedColumn> out;
  const std::vector<std::size_t> sensors = power_columns(gpus, choice, notes);
  for (const std::size_t i : kind == DocumentedKind::kPower ? sensors : choice.gpus)
    out.push_back({{i}, fmt::format("GPU{}", gpus[i].index)});
  if (!dual_gcd)
    return out;
  bool any = false;
  for (const std::size_t i : sensors)
    if (DocumentedColumn package = package_column(gpus, i); package.gpus.size() > 1) {
      out.push_back(std::move(package));
      any = true;
    }
  if (!any)
    notes.emplace_back("dual-gcd: no sampled GPU is in a package with two dies");
  return out;
}

std::string documented_header(DocumentedKind kind, std::span<const DocumentedColumn> columns) {
  std::string out = "time";
  for (const DocumentedColumn& c : columns)
    out += (kind == DocumentedKind::kPower ? ",Power(Watt) " : ",vram(%) ") + c.name;
  return out + "\n";
}

std::string documented_row(DocumentedKind kind, std::span<const DocumentedColumn> columns,
                           std::int64_t unix_ns, std::span<const GpuReading> readings) {
  std::string row = local_time(unix_ns);
  for (const DocumentedColumn& c : columns) {
    row += ',';
    if (kind == DocumentedKind::kPower)
      add_cell(row, readings[c.gpus[0]].power_w, 3);
    else
      add_cell(row, vram_percent(c, readings), 4);
  }
  return row + "\n";
}

} // namespace rankscope
