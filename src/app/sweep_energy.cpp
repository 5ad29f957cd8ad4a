#include "app/sweep_energy.h"

#include "app/step_energy.h"
#include "app/sweep_metrics.h"
#include "collect/samplers/device_choice.h"
#include "collect/samplers/rapl_reader.h"
#include "collect/samplers/read_samples.h"
#include "engine/loader.h"
#include "readers/discovery.h"

#include <filesystem>
#include <utility>

namespace rankscope {
namespace {

/// Returns the energy of all GPUs in each span; nullopt if the samples of a GPU do not cover the
/// span.
std::vector<std::optional<double>> energy_of_spans(const PowerTable& table,
                                                   const std::vector<TimeSpan>& spans) {
  std::vector<std::optional<double>> out(spans.size(), 0.0);
  for (const auto& [gpu, samples] : table.gpus) {
    const auto energies = span_energy(samples, spans, table.longest_gap_ns);
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const std::optional<SpanEnergy>& e = energies[i];
      if (!e || is_aliased(e->joules, e->low, e->high))
        out[i].reset();
      else if (out[i])
        *out[i] += e->joules;
    }
  }
  return out;
}

} // namespace

Result<SamplerOptions> sampling_of_runs(SamplerOptions asked, std::vector<std::string>& notes) {
  const RaplReader host(asked.backend.sysfs_root);
  if (!host.problem().empty())
    notes.push_back("no energy of the processors: " + host.problem());
  if (asked.devices == "none")
    return asked;
  const Result<std::unique_ptr<GpuBackend>> gpus = open_gpu_backend(asked.backend);
  if (gpus) {
    if (asked.devices != "visible") // the visible GPUs may differ between settings
      RS_CHECK(choose_gpus((*gpus)->gpus(), asked.devices, ""));
    return asked;
  }
  if (!host.any())
    return gpus.error();
  notes.push_back("--sample: processors and memory only; " + gpus.error().message());
  asked.devices = "none";
  return asked;
}

std::optional<double> joules_per_step(const std::string& folder) {
  const std::string samples = folder + "/gpu_samples.csv";
  std::error_code ec;
  if (!std::filesystem::exists(samples, ec))
    return std::nullopt;
  const Result<PowerTable> table = read_power_table(samples);
  Diagnostics unused;
  const Result<RunPlan> plan = discover_run({folder}, {}, unused);
  if (!table || table->gpus.empty() || !plan || plan->ranks.empty())
    return std::nullopt;
  const Result<LoadedTrace> trace = load_trace(plan->ranks.front().path, {});
  if (!trace)
    return std::nullopt;
  const TracedSteps traced = traced_steps(*trace);
  if (traced.clock == StepClock::kUnknown || (traced.clock != StepClock::kUnix && !table->clocks))
    return std::nullopt;
  const auto [begin, end] = table->clocks.value_or(std::pair<ClockAnchor, ClockAnchor>());
  std::vector<TimeSpan> spans;
  for (const ProfilerStep& step : traced.steps)
    spans.push_back({unix_time(step.start_ns, traced.clock, begin, end),
                     unix_time(step.end_ns, traced.clock, begin, end)});
  double sum = 0;
  std::size_t n = 0;
  for (const std::optional<double>& joules : energy_of_spans(*table, spans))
    if (joules) {
      sum += *joules;
      ++n;
    }
  return n == 0 ? std::nullopt : std::optional(sum / static_cast<double>(n));
}

void add_run_energy(SummaryRow& row) {
  const std::string& folder = row.run->folder;
  row.joules = row.outcome->energy.joules;
  row.host_joules = row.outcome->energy.host_joules;
  if (!row.joules)
    row.joules = joules_of_run(folder);
  row.joules_per_step = joules_per_step(folder);
}

} // namespace rankscope
