#include "app/profile_energy.h"

#include "collect/samplers/device_choice.h"
#include "collect/samplers/read_samples.h"
#include "os/output_file.h"
#include "writers/writer.h"

#include <cmath>
#include <filesystem>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
constexpr double kGapPeriods = 2.5; ///< the sampler counts gaps with the same factor

Json rows_json(const std::vector<StepEnergy>& rows) {
  Json out = Json::list();
  for (const StepEnergy& row : rows) {
    out.items.push_back(Json::object({{"trace", row.trace},
                                      {"rank", row.rank},
                                      {"gpu", row.gpu},
                                      {"step", row.step},
                                      {"start_unix_ns", row.start_unix_ns},
                                      {"duration_ms", row.duration_ms},
                                      {"joules", row.joules},
                                      {"mean_w", row.mean_w},
                                      {"samples", row.samples},
                                      {"joules_low", row.joules_low},
                                      {"joules_high", row.joules_high},
                                      {"energy_source", row.source}}));
  }
  return out;
}

/// Returns the environment in which the command ran.
std::map<std::string, std::string> environment_of(const PreparedRun& prepared) {
  std::map<std::string, std::string> out;
  if (prepared.keeper.empty())
    for (auto& [name, value] : current_environment())
      out[name] = value;
  for (const EnvChange& e : prepared.run.plan.env) {
    if (e.unset)
      out.erase(e.name);
    else
      out[e.name] = e.value;
  }
  return out;
}

Result<SampledPower> sampled_power(const PreparedRun& prepared, const ProfileOutcome& outcome,
                                   const Json& samplers) {
  SampledPower out;
  RS_TRY(out.gpus, read_power_samples(outcome.out + "/gpu_samples.csv"));
  const Json* period = samplers.find("period_s");
  const double period_s = period == nullptr ? 0 : period->number().value_or(0);
  out.longest_gap_ns = std::llround(kGapPeriods * period_s * 1e9);
  out.begin = outcome.result.begin;
  out.end = outcome.result.end;
  std::map<int, std::string> uuids;
  if (const Json* gpus = samplers.find("gpus"))
    for (const Json& gpu : gpus->items) {
      const Json* index = gpu.find("index");
      const Json* uuid = gpu.find("uuid");
      if (index != nullptr && uuid != nullptr)
        uuids[static_cast<int>(index->number().value_or(-1))] = uuid->text;
    }
  out.gpu_of_device = visible_gpus(visible_devices(environment_of(prepared)), uuids);
  return out;
}

} // namespace

Result<void> join_step_energy(const PreparedRun& prepared, ProfileOutcome& outcome) {
  const Json* samplers = outcome.result.metrics.find("samplers");
  bool steps = false;
  for (const ProfileOutcome::Report& report : outcome.reports)
    steps = steps || !report.steps.steps.empty();
  if (samplers == nullptr || !steps)
    return {};
  const Result<SampledPower> power = sampled_power(prepared, outcome, *samplers);
  if (!power) {
    outcome.identity.notes.push_back("no energy per step: " + power.error().message());
    return {};
  }
  std::vector<StepEnergy> rows;
  for (ProfileOutcome::Report& report : outcome.reports) {
    if (outcome.identity.rank >= 0 && !report.steps.rank)
      report.steps.rank = outcome.identity.rank;
    std::vector<StepEnergy> more = step_energy(report.steps, *power);
    for (StepEnergy& row : more) {
      row.trace = fs::path(row.trace).lexically_relative(outcome.out).string();
      rows.push_back(std::move(row));
    }
  }
  if (rows.empty())
    return {};
  outcome.step_energy = step_energy_schema().table(rows);
  outcome.result.metrics.at("step_energy") = rows_json(rows);
  RS_CHECK(write_file(outcome.out + "/reports/step_energy.csv", csv_text(outcome.step_energy)));
  return write_manifest(outcome.identity, prepared.run, outcome.result, outcome.findings);
}

} // namespace rankscope
