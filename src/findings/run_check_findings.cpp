#include "findings/run_check_findings.h"

#include "findings/compose.h"
#include "findings/energy_findings.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr std::size_t kVariableWidth = 60;
constexpr std::size_t kValueWidth = 24;

Finding other_value(const std::string& run, const SettingCheck::Difference& d) {
  Finding out = finding_of(rules::other_setting, "run", run + ": " + d.name);
  const std::string name = brief(d.name, kVariableWidth);
  const std::string asked = brief(d.asked, kValueWidth);
  const std::string used = brief(d.used, kValueWidth);
  const bool some = d.processes.size() < d.all_processes;
  const std::string where =
      some ? fmt::format(" in {} of {} processes", d.processes.size(), d.all_processes) : "";
  const std::string log = some ? "The log of process " + *d.processes.begin() : "The library's log";
  switch (d.kind) {
  case SettingCheck::Kind::kValue:
    set_headline(out, fmt::format("{} was {}{}, not {}", name, used, where, asked));
    out.evidence = fmt::format("{} has {} of {}", log, d.used, d.name);
    break;
  case SettingCheck::Kind::kUnread:
    set_headline(out, fmt::format("{}: the library did not read {}{}", asked, name, where));
    out.evidence = log + " lists other variables";
    break;
  case SettingCheck::Kind::kChannelCount:
    set_headline(out, fmt::format("{} channels were used, not {}", used, asked));
    out.evidence = "The library's log states the number";
    break;
  }
  return out;
}

Finding run_note(const FindingRule& rule, const std::string& subject, std::string headline,
                 std::string evidence) {
  Finding out = finding_of(rule, "run", subject);
  set_headline(out, std::move(headline));
  out.evidence = std::move(evidence);
  return out;
}

} // namespace

std::vector<Finding> run_check_findings(const std::string& run, const RunCheck& check) {
  std::vector<Finding> out;
  for (const SettingCheck::Difference& d : check.library.differences)
    out.push_back(other_value(run, d));
  if (check.library.silent)
    out.push_back(run_note(rules::unconfirmed_setting, run, "The log has no line of NCCL or RCCL",
                           "Nothing shows that the setting took effect"));
  for (std::size_t i = 0; i < check.library.warnings.size(); ++i)
    out.push_back(run_note(rules::library_warning, fmt::format("{}: {}", run, i + 1),
                           "The library warned", check.library.warnings[i]));
  if (check.left_behind > 0) {
    out.push_back(run_note(
        rules::processes_left, run,
        counted(static_cast<std::size_t>(check.left_behind), "process", "processes") +
            " still ran after the end of the command",
        check.killed > 0 ? fmt::format("{} did not end within {} s and {} killed", check.killed,
                                       check.grace_s, check.killed == 1 ? "was" : "were")
                         : "All ended when they were asked to"));
    out.back().value = check.left_behind;
    out.back().unit = Unit::kCount;
  }
  if (!check.lost_output.empty())
    out.push_back(
        run_note(rules::incomplete_output, run, "run_output.log is incomplete", check.lost_output));
  if (!check.no_energy.empty())
    out.push_back(
        run_note(rules::unmeasured_energy, run, "The energy was not measured", check.no_energy));
  if (!check.lost_samples.empty())
    out.push_back(run_note(rules::uncertain_energy, run + ": samples",
                           "The samples of power are incomplete", check.lost_samples));
  for (const EnergyDoubt& doubt : check.energy)
    out.push_back(energy_finding(run, doubt));
  return out;
}

} // namespace rankscope
