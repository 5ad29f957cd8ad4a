// Reads the environment of the documented profilers, and texts of periods.
#include "base/ascii.h"
#include "collect/samplers/sampler.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace rankscope {
namespace {

using SamplerEnvironmentEnvironment = std::map<std::string, std::string>;

struct Setting {
  std::string name, value;
};

/// Returns PREFIX_NAME if it is set, else NAME, in any of the spellings of NAME.
std::optional<Setting> setting(const SamplerEnvironmentEnvironment& environment,
                               const std::string& prefix, const std::vector<std::string>& names) {
  for (const std::string& front : {prefix + "_", std::string()})
    for (const std::string& name : names)
      if (const auto it = environment.find(front + name); it != environment.end())
        return Setting{it->first, it->second};
  return std::nullopt;
}

Error bad(const Setting& s, const std::string& wanted) {
  return {ErrorCode::kUsage, s.name, fmt::format("\"{}\" is not {}", s.value, wanted), ""};
}

} // namespace

Result<std::chrono::nanoseconds> parse_period(const std::string& text) {
  constexpr double kShortest = 1e-4, kLongest = 3600;
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, ec] = std::from_chars(text.data(), last, value);
  const std::string unit(end, last);
  const double factor = unit.empty() || unit == "s" ? 1.0
                        : unit == "ms"              ? 1e-3
                        : unit == "us"              ? 1e-6
                                                    : 0.0;
  const double seconds = value * factor;
  if (ec != std::errc() || !(seconds >= kShortest * (1 - 1e-9) && seconds <= kLongest))
    return Error{ErrorCode::kUsage, "period",
                 fmt::format("\"{}\" is not a time from 100us to 3600s", text),
                 "seconds, or with a unit: 0.1, 100ms, 500us"};
  return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

Result<void> apply_sampler_environment(const SamplerEnvironmentEnvironment& environment,
                                       DocumentedCsv& csv) {
  const std::string prefix = csv.kind == DocumentedKind::kPower ? "POWER" : "VRAM";
  if (const auto s = setting(environment, prefix, {"DEVICE"}); s && !s->value.empty())
    csv.devices = s->value;
  if (const auto s = setting(environment, prefix, {"SAMPLING_RATE"})) {
    const auto period = parse_period(s->value);
    if (!period)
      return bad(*s, "a sampling interval in seconds from 0.0001 to 3600");
    csv.period = *period;
  }
  if (const auto s = setting(environment, prefix, {"MODE"});
      s && lowercase(s->value) != lowercase(prefix))
    return bad(*s, "the mode of this profiler: " + lowercase(prefix));
  if (const auto s = setting(environment, prefix, {"DUAL_GCD", "DUAL-GCD"})) {
    const std::string word = lowercase(s->value);
    if (word != "true" && word != "false")
      return bad(*s, "true or false");
    csv.dual_gcd = word == "true";
  }
  if (const auto s = setting(environment, prefix, {"OUTPUT_FILE"}); s && !s->value.empty())
    csv.path = s->value;
  return {};
}

} // namespace rankscope
