#include "app/sweep_tuner.h"

#include "app/repeated_settings.h"
#include "base/to_number.h"
#include "os/output_file.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {
namespace {

std::string variable(const PlannedRun& run, const std::string& name) {
  for (const auto& change : run.environment)
    if (change.first == name)
      return change.second;
  return "";
}

} // namespace

Result<std::vector<TunerSetting>> tuner_settings(const SweepRequest& request,
                                                 const SweepPlan& plan) {
  std::vector<TunerSetting> out;
  for (std::size_t i = 0; i < request.settings.size(); ++i) {
    const auto run = std::ranges::find(plan.runs, i, &PlannedRun::setting);
    const std::string& label = request.settings[i].configuration.label;
    auto choice = tuner_choice(variable(*run, "NCCL_ALGO"), variable(*run, "NCCL_PROTO"),
                               to_number(variable(*run, "NCCL_MAX_NCHANNELS")).value_or(0));
    if (!choice)
      return Error{
          ErrorCode::kUsage, "--write-tuner",
          fmt::format(
              "the setting {} does not set one NCCL_ALGO, one NCCL_PROTO and NCCL_MAX_NCHANNELS",
              label),
          "vary these variables with -c and --matrix, or set them with --env"};
    out.push_back({label, std::move(*choice)});
  }
  return out;
}

Result<void> write_tuner(const std::string& path, const SweepRequest& request,
                         const SweepPlan& plan,
                         const std::vector<ConfigurationCollectives>& collectives) {
  RS_TRY(const std::vector<TunerSetting> settings, tuner_settings(request, plan));
  std::vector<TunerSource> sources;
  for (const ConfigurationCollectives& group : collectives)
    if (const auto setting = setting_of(group.configuration, request.settings))
      sources.push_back({*setting, &group});
  RS_TRY(const std::string text, tuner_file(settings, request.default_setting, sources));
  return write_file(path, text);
}

} // namespace rankscope
