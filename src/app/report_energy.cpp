#include "app/report_energy.h"

#include "app/kernel_energy.h"
#include "base/counters.h"
#include "collect/samplers/read_samples.h"

#include <algorithm>

namespace rankscope {
namespace {

/// Returns why no row can have joules; "" if some rows have joules.
const char* why_none(const std::vector<KernelEnergy>& rows, StepClock clock, bool has_monotonic) {
  if (clock == StepClock::kUnknown)
    return "the clock of the trace is unknown, so power samples cannot be matched to its times";
  if (clock != StepClock::kUnix && !has_monotonic)
    return "the trace's clock counts from the start of the machine, but the power samples lack "
           "this clock (gpu_samples.csv of rankscope sample has it)";
  if (std::none_of(rows.begin(), rows.end(), [](const KernelEnergy& r) { return r.gpu; }))
    return "no device of the trace is among the sampled GPUs (set --power-gpus to the GPU of each "
           "device)";
  if (std::none_of(rows.begin(), rows.end(), [](const KernelEnergy& r) { return r.joules_low; }))
    return "the power samples and the trace do not overlap in time";
  return "";
}

} // namespace

Result<void> add_energy(const LoadedTrace& loaded, const TracedSteps& steps,
                        const std::string& path, const std::string& gpus,
                        const std::set<std::string>& sheets, Report& report) {
  RS_TRY(PowerTable table, read_power_table(path));
  SampledPower power;
  power.gpus = std::move(table.gpus);
  power.longest_gap_ns = table.longest_gap_ns;
  if (table.clocks) {
    power.begin = table.clocks->first;
    power.end = table.clocks->second;
  }
  power.gpu_of_device = visible_gpus(gpus, {});
  const StepClock clock = step_clock(loaded.trace);
  const std::vector<KernelEnergy> kinds = kernel_energy(loaded, power);
  const std::string why = why_none(kinds, clock, table.clocks.has_value());
  if (!why.empty()) {
    report.diagnostics.add(counters::power_not_joined(why), path);
    return {};
  }
  if (std::any_of(kinds.begin(), kinds.end(), [](const KernelEnergy& k) {
        return k.kind == WorkKind::kAll && k.joules_low && !k.joules;
      }))
    report.diagnostics.add(counters::power_aliased(), path);
  if (clock == StepClock::kBoottime)
    report.diagnostics.add(counters::power_clock(), path);
  const auto wanted = [&](const char* name) { return sheets.empty() || sheets.contains(name); };
  if (const std::vector<StepEnergy> rows = step_energy(steps, power);
      wanted("step_energy") && !rows.empty())
    report.tables.push_back(step_energy_schema().table(rows));
  if (wanted("kernel_energy"))
    report.tables.push_back(kernel_energy_schema().table(kinds));
  return {};
}

} // namespace rankscope
