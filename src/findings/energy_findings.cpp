#include "findings/energy_findings.h"

#include "findings/compose.h"

#include <fmt/format.h>

namespace rankscope {

Finding energy_finding(const std::string& run, const EnergyDoubt& d) {
  using Kind = EnergyDoubt::Kind;
  const auto make = [&](const FindingRule& rule) {
    return finding_of(rule, "GPU", fmt::format("{}{}GPU {}", run, run.empty() ? "" : ": ", d.gpu));
  };
  Finding out;
  switch (d.kind) {
  case Kind::kLostGpu:
    out = make(rules::lost_gpu);
    out.value = d.lost_s;
    out.unit = Unit::kSeconds;
    set_headline(out, fmt::format("GPU {} gave no readings for the last {} s of the run", d.gpu,
                                  number3(d.lost_s)));
    out.evidence =
        fmt::format("The measured energy covers {} of the run", percent_text(100 * d.covered));
    out.action = "Check the kernel log for resets of the GPU (dmesg)";
    break;
  case Kind::kCounterReset:
    out = make(rules::reset_energy_counter);
    out.value = static_cast<double>(d.resets);
    out.unit = Unit::kCount;
    set_headline(out, fmt::format("The energy counter of GPU {} was reset {}", d.gpu,
                                  counted(d.resets, "time", "times")));
    out.evidence = "Around each reset the energy is integrated from power samples";
    break;
  case Kind::kSamplesDiffer:
    out = make(rules::aliased_power);
    set_headline(out, fmt::format("The power samples of GPU {} do not show its energy", d.gpu));
    out.evidence = fmt::format("{:.4g} J by the energy counter, {:.4g} J integrated from samples",
                               d.counter_j, d.sampled_j);
    out.action =
        "The reported energy is from the counter; sample more often to see how the power varies";
    break;
  case Kind::kAliased:
    out = make(rules::aliased_power);
    set_headline(out, fmt::format("The power of GPU {} changes as fast as it is sampled", d.gpu));
    out.evidence = fmt::format("There is no energy counter; the energy is between {:.4g} and "
                               "{:.4g} J",
                               d.lowest_j, d.highest_j);
    out.action = "Sample more often";
    break;
  }
  return out;
}

} // namespace rankscope
