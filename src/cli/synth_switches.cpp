#include "cli/synth_switches.h"

#include "base/to_number.h"
#include "cli/synth_inject.h"

#include <cstdint>
#include <fmt/format.h>
#include <utility>

namespace rankscope {
namespace {

/// Parses "WHAT:FACTOR"; the factor follows the last colon.
Result<std::pair<std::string, double>> with_factor(const char* flag, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::string number = colon == std::string::npos ? "" : text.substr(colon + 1);
  const auto factor = to_number<double>(number);
  if (colon == 0 || !factor || !(*factor > 0))
    return Error{ErrorCode::kUsage, flag, fmt::format("'{}' has no positive factor", text),
                 "as in WHAT:1.05"};
  return std::pair(text.substr(0, colon), *factor);
}

Result<std::int64_t> rank_of(const char* flag, const std::string& text) {
  if (text.empty() || text.size() > 6 || text.find_first_not_of("0123456789") != std::string::npos)
    return Error{ErrorCode::kUsage, flag, fmt::format("'{}' is not a rank", text), ""};
  return std::stoll(text);
}

/// Parses "A-B" or "A".
Result<std::pair<std::int64_t, std::int64_t>> range_of(const char* flag, const std::string& text) {
  const std::size_t dash = text.find('-');
  RS_TRY(const std::int64_t first, rank_of(flag, text.substr(0, dash)));
  if (dash == std::string::npos)
    return std::pair(first, first);
  RS_TRY(const std::int64_t last, rank_of(flag, text.substr(dash + 1)));
  return std::pair(first, last);
}

} // namespace

void add_synth_switches(FlagSet& app, SynthSwitches& switches, synth::Options& options) {
  app.add_option("--straggler", switches.straggler,
                 "slow rank, or 'none' (default: chosen by the seed)");
  app.add_option("--straggler-us", options.straggler_us,
                 "extra compute per step of the slow rank, \u00b5s")
      .capture_default_str();
  app.add_option(
         "--only-ranks", switches.only_ranks,
         "A-B or A: write only the traces of these ranks; the option does not change their content")
      .delimiter(',');
  app.add_option("--slow-config", switches.slow_configs,
                 "LABEL:FACTOR: slow down all GPU work of a configuration")
      .delimiter(',');
  app.add_option("--throttle", switches.throttle,
                 "A:FACTOR or A-B:FACTOR: slow down the compute of these ranks");
  app.add_option("--slow-link", switches.slow_links,
                 "RANK-RANK:FACTOR: slow down collectives of groups that contain both ranks")
      .delimiter(',');
  app.add_option("--step-noise", switches.step_noise,
                 "KIND[:SD]: vary the compute of complete steps; KIND is iid, common, ar1, ar1c, "
                 "heavy, heavyc, outlier, bimodal, hetero, throttle or runs (SD: 0.02 of a step)");
  app.add_option("--inject", switches.injected,
                 "CAUSE:KEY=VALUE,...: put a cause into the run (repeatable); " +
                     injected_causes());
}

Result<void> read_synth_switches(const SynthSwitches& f, synth::Options& o) {
  if (f.straggler == "none") {
    o.straggler = -1;
  } else if (!f.straggler.empty()) {
    const auto digits = f.straggler.find_first_not_of("0123456789");
    if (digits != std::string::npos || f.straggler.size() > 6)
      return Error{ErrorCode::kUsage, "--straggler", "needs a rank or 'none'", ""};
    o.straggler = std::stoll(f.straggler);
  }
  if (!f.throttle.empty()) {
    RS_TRY(const auto slow, with_factor("--throttle", f.throttle));
    RS_TRY(const auto ranks, range_of("--throttle", slow.first));
    o.throttled = ranks.first;
    o.throttled_last = ranks.second;
    o.throttle_factor = slow.second;
  }
  for (const std::string& text : f.only_ranks) {
    RS_TRY(const auto range, range_of("--only-ranks", text));
    o.only_ranks.push_back(range);
  }
  for (const std::string& text : f.slow_configs) {
    RS_TRY(const auto slow, with_factor("--slow-config", text));
    o.slow_configs.push_back({slow.first, slow.second});
  }
  for (const std::string& text : f.slow_links) {
    RS_TRY(const auto slow, with_factor("--slow-link", text));
    const std::size_t dash = slow.first.find('-');
    if (dash == std::string::npos)
      return Error{ErrorCode::kUsage, "--slow-link",
                   fmt::format("'{}' does not name two ranks", text), "as in 0-1:2"};
    RS_TRY(const std::int64_t a, rank_of("--slow-link", slow.first.substr(0, dash)));
    RS_TRY(const std::int64_t b, rank_of("--slow-link", slow.first.substr(dash + 1)));
    o.slow_links.push_back({a, b, slow.second});
  }
  if (!f.step_noise.empty())
    RS_CHECK(read_step_noise(f.step_noise, o));
  return read_injected(f.injected, o);
}

} // namespace rankscope
