#include "findings/profile_findings.h"

#include "findings/compose.h"
#include "findings/energy_findings.h"
#include "findings/library_findings.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

using namespace profile;
constexpr std::size_t kToolWidth = 30;
constexpr std::size_t kNameWidth = 48;

std::string vendor(bool amd) {
  return amd ? "AMD" : "NVIDIA";
}

std::string in_image(const std::string& image) {
  return image.empty() ? "" : " in image " + image;
}

std::string listed(const Texts& texts) {
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Composes the finding for a fact; there is one overload for each type of fact.
class Composer {
public:
  explicit Composer(std::string tool) : tool_(std::move(tool)) {}

  [[nodiscard]] Finding operator()(const MissingTool& f) const {
    const bool is_path = f.searched.empty();
    Finding out = make(
        rules::missing_tool, f.name,
        is_path ? fmt::format("there is no {}", brief(f.name, kNameWidth))
                : fmt::format("{} is not on PATH{}", brief(f.name, kNameWidth), in_image(f.image)));
    if (is_path)
      return out;
    out.evidence = "Searched " + f.searched;
    out.action = "Install it";
    if (!f.place.empty()) {
      out.evidence += fmt::format("; present at {} (not on PATH)", f.place);
      out.action = fmt::format("Set PATH={}:$PATH", f.place);
    }
    if (!f.alternatives.empty())
      out.action += "; available instead: " + listed(f.alternatives);
    return out;
  }
  [[nodiscard]] Finding operator()(const MissingLibrary& f) const {
    return make(rules::missing_library, f.name,
                fmt::format("{} is not installed", brief(f.name, kNameWidth)),
                "Searched LD_LIBRARY_PATH and the usual folders",
                "Add its folder to LD_LIBRARY_PATH");
  }
  [[nodiscard]] Finding operator()(const MissingScript& f) const {
    return make(rules::missing_script, f.path,
                fmt::format("there is no script {}", brief(f.path, kNameWidth)),
                "Searched " + f.searched,
                "Give the path relative to the folder of tools.json, or to the folder of the "
                "command");
  }
  [[nodiscard]] Finding operator()(const MissingCommand& f) const {
    return make(
        rules::missing_command, f.name,
        fmt::format("there is no program {}{}", brief(f.name, kNameWidth), in_image(f.image)),
        "Searched " + f.searched, "Check its name");
  }
  [[nodiscard]] Finding operator()(const ToolNotStarted& f) const {
    return make(rules::tool_not_started, "", "it cannot start", f.problem,
                "Run it on a machine with a GPU; `rankscope profile doctor` checks each tool");
  }
  [[nodiscard]] Finding operator()(const ConflictingTool& f) const {
    return make(rules::conflicting_tools, f.other,
                f.family.empty()
                    ? fmt::format("cannot run together with {}", brief(f.other, kToolWidth))
                    : fmt::format("same family as {} ({})", brief(f.other, kToolWidth), f.family),
                "Both hook the same calls of the runtime", "Check both outputs");
  }
  [[nodiscard]] Finding operator()(const MissingGpu& f) const {
    return make(rules::missing_gpu, "", fmt::format("there is no {} GPU here", vendor(f.amd)),
                fmt::format("There is no {}", f.device), "Run it on a machine with that GPU");
  }
  [[nodiscard]] Finding operator()(const ClosedGpu& f) const {
    return make(rules::closed_gpu, f.device,
                fmt::format("no permission to open {}", brief(f.device, kNameWidth)),
                fmt::format("User {}", f.user),
                f.amd ? "Join the groups render and video" : "Ask for access to the device");
  }
  [[nodiscard]] Finding operator()(const OtherTracer& f) const {
    return make(rules::other_tracer, f.variable, "another tracer is already in the environment",
                f.variable + "=" + f.value, "Unset " + f.variable);
  }
  [[nodiscard]] Finding operator()(const ClosedCounters&) const {
    return make(rules::closed_counters, "", "the driver gives counters to administrators only",
                "RmProfilingAdminOnly: 1",
                "Load the driver with NVreg_RestrictProfilingToAdminUsers=0, or run as root");
  }
  [[nodiscard]] Finding operator()(const ClosedCpuSamples& f) const {
    return make(
        rules::closed_cpu_samples, "", "the kernel gives no processor samples to users",
        fmt::format(
            "kernel.perf_event_paranoid = {}; GPU work is recorded without processor samples",
            f.level),
        "sysctl kernel.perf_event_paranoid=2");
  }
  [[nodiscard]] Finding operator()(const FailedScript& f) const {
    return make(f.set_up ? rules::failed_set_up : rules::failed_tear_down, f.log,
                fmt::format("its {} failed: {}", f.set_up ? "set-up" : "tear-down", f.status),
                f.last_lines, f.log.empty() ? "" : "See " + f.log);
  }
  [[nodiscard]] Finding operator()(const FailedBaseline& f) const {
    return make(rules::failed_baseline, f.ended, "a run without tools failed", capital(f.ended),
                "Make the command succeed without tools; that run is not in the baseline");
  }
  [[nodiscard]] Finding operator()(const Timeout& f) const {
    Finding out =
        make(rules::command_timeout, "",
             fmt::format("the command did not end within {} s and was stopped", f.limit_s),
             "Outputs until then are stored", "Use a larger --timeout");
    out.value = f.limit_s;
    out.unit = Unit::kSeconds;
    return out;
  }
  [[nodiscard]] Finding operator()(const KilledProcesses& f) const {
    return with_count(
        make(rules::killed_processes, "",
             counted(f.count, "process", "processes") +
                 " of the command did not end when asked to and " +
                 (f.count == 1 ? "was" : "were") + " killed",
             fmt::format("They had {} s to end; outputs that they write at their end are missing",
                         f.grace_s),
             "Use a larger --grace"),
        f.count);
  }
  [[nodiscard]] Finding operator()(const LeftProcesses& f) const {
    if (f.count == 0)
      return make(rules::processes_left, "scripts",
                  "a script left processes running, which were stopped", "",
                  "Stop them in post_scripts");
    return with_count(
        make(rules::processes_left, "",
             counted(f.count, "process", "processes") + " still ran after the end of the command",
             "All were stopped", "Let the command wait for the processes that it starts"),
        f.count);
  }
  [[nodiscard]] Finding operator()(const UnfinishedTool& f) const {
    return make(rules::unfinished_tool, "", "its output is incomplete", f.problem,
                "Check the free space of the disk");
  }
  [[nodiscard]] Finding operator()(const IncompleteLog& f) const {
    return make(rules::incomplete_output, "", "run.log lacks some of the output", f.file,
                "Check the free space of the disk");
  }
  [[nodiscard]] Finding operator()(const SteppedAside&) const {
    return make(rules::stopped_tool, "",
                "the command starts PyTorch's profiler itself, so this tool stopped",
                "A thread can run only one PyTorch profiler",
                "Run without this tool and use the traces that the command writes");
  }
  [[nodiscard]] Finding operator()(const MissedSamples& f) const {
    return with_count(make(rules::missed_samples, "",
                           "samples were missed: reading takes longer than the period",
                           fmt::format("{} of {} samples, {:.0f} \u00b5s per reading", f.missed,
                                       f.missed + f.ticks, f.read_us),
                           "Use a larger --sample-rate"),
                      f.missed);
  }
  [[nodiscard]] Finding operator()(const IdleDevices& f) const {
    return make(rules::idle_device, "",
                fmt::format("GPU {} was idle in every sample", listed(f.idle)),
                f.busy.empty() ? "All sampled GPUs were idle"
                               : fmt::format("GPU {} was busy", listed(f.busy)),
                "Choose GPUs with --devices; *_VISIBLE_DEVICES decides what the run uses");
  }
  [[nodiscard]] Finding operator()(const EnergyOfGpu& f) const {
    return energy_finding(tool_, f.doubt);
  }
  [[nodiscard]] Finding operator()(const DamagedLines& f) const {
    return damaged_log_lines(f.library, f.damaged, f.lines, f.first);
  }
  [[nodiscard]] Finding operator()(const OtherRocm& f) const {
    return make(rules::other_rocm, "", "ROCm is not one of TheRock's builds",
                "Searched " + listed(f.searched),
                "Set ROCM_PATH or VIRTUAL_ENV to the installation to check");
  }
  [[nodiscard]] Finding operator()(const MissingOutput& f) const {
    return make(rules::missing_output, "", "it did not write all its files",
                "Nothing matches " + listed(f.patterns));
  }
  [[nodiscard]] Finding operator()(const EmptyOutput& f) const {
    std::string evidence =
        f.file.empty() ? "No new file matches " + listed(f.patterns) : f.file + " has no records";
    if (!f.old_files.empty())
      evidence += fmt::format("; {} existed before the run and is not used: move it away",
                              listed(f.old_files));
    if (f.ended)
      return make(rules::output_of_failed_command, "",
                  fmt::format("it wrote nothing, and the command failed: {}", *f.ended),
                  evidence + "\n" + f.last_lines, "Make the command succeed with this tool alone");
    return make(
        rules::empty_output, "", "it wrote nothing, though the command succeeded", evidence,
        "Check that the command uses the GPU; *_VISIBLE_DEVICES may hide the GPU that is recorded");
  }
  [[nodiscard]] Finding operator()(const ShortRun& f) const {
    Finding out =
        make(rules::short_run, "", "the run was shorter than two samples",
             fmt::format("The run took {:.3f} s, less than 2 x {} s", f.run_s, f.period_s),
             "Use a smaller --sample-rate, or a longer run");
    out.value = f.run_s;
    out.unit = Unit::kSeconds;
    return out;
  }
  [[nodiscard]] Finding operator()(const UnusedLibrary& f) const {
    return make(rules::unused_library, "",
                fmt::format("the command does not use {}", listed(f.libraries)),
                "No process of the run loaded it (a run of a few milliseconds, or a statically "
                "linked program, is not detected)",
                "Trace the library that it uses");
  }
  [[nodiscard]] Finding operator()(const SilentLibrary& f) const {
    std::string changed;
    for (const auto& [name, value] : f.changed)
      changed += fmt::format("{}{} {}", changed.empty() ? "" : ", ", name,
                             value ? fmt::format("is '{}' in that process", *value)
                                   : "is not set in that process");
    return make(rules::silent_library, f.library,
                fmt::format("{} was loaded and logged no calls", brief(f.library, kNameWidth)),
                changed.empty()
                    ? "The process that loaded the library has all variables that turn on its log"
                    : changed,
                changed.empty() ? "Calls of a captured graph, or of a library that is linked "
                                  "statically, are not logged"
                                : "Find what changes the environment before the program starts");
  }
  [[nodiscard]] Finding operator()(const Overhead& f) const {
    const double factor = f.run_s / f.baseline_s;
    const char* const with = f.tools == 1 ? "with the tool" : "with the tools";
    std::string passes;
    for (const auto& [name, times] : f.passes)
      passes += fmt::format("; {} runs the command {} times", name, times);
    Finding out = make(rules::tool_overhead, "",
                       fmt::format("the command takes {:.1f} times as long {}", factor, with),
                       fmt::format("Baseline {:.3f} s (median of {}), {} {:.3f} s{}", f.baseline_s,
                                   f.baselines, with, f.run_s, passes),
                       !f.heavy.empty()      ? "Use rocprofv3_lightweight instead of " + f.heavy
                       : !f.frequent.empty() ? fmt::format("Let {} sample every 0.1 s", f.frequent)
                       : f.tools == 1 ? "Record a part of the run, or use a tool that records less"
                                      : "Use fewer tools at once");
    out.value = factor;
    out.unit = Unit::kRatio;
    return out;
  }
  [[nodiscard]] Finding operator()(const FailureInLog& f) const {
    return make(rules::failure_in_log, "",
                "the command succeeded, but a log line looks like an error",
                fmt::format("run.log:{}: {}", f.line, f.text),
                "rankscope uses the exit status; read the line if in doubt");
  }
  [[nodiscard]] Finding operator()(const MissingMetric& f) const {
    return make(rules::missing_metric, "", "the command printed no performance metric",
                "run.log has neither 'performance: NUMBER METRIC' nor train_samples_per_second",
                f.table.empty()
                    ? "Print a metric"
                    : fmt::format("Print a metric; its cells in {} are empty", f.table));
  }
  [[nodiscard]] Finding operator()(const UnreadableRank& f) const {
    return make(rules::rank_not_analysed, f.folder,
                fmt::format("no usable manifest.json in {}", brief(f.folder, kNameWidth)),
                f.problem, "The run was killed before its end, or is still running");
  }
  [[nodiscard]] Finding operator()(const MissingRanks& f) const {
    return make(rules::missing_ranks, "", fmt::format("no folder of rank {}", listed(f.ranks)), "",
                "Give the folders of all hosts");
  }
  [[nodiscard]] Finding operator()(const PartialEnergy& f) const {
    return make(rules::uncertain_energy, f.folder + ": GPU " + f.gpu,
                fmt::format("the energy of GPU {} in {} is not that of the complete run", f.gpu,
                            brief(f.folder, kToolWidth)),
                f.covered
                    ? fmt::format("{} of the run is covered", percent_text(100 * *f.covered))
                    : fmt::format("Aliased: between {:.4g} and {:.4g} J", f.lowest_j, f.highest_j),
                "The sum of joules contains only the measured energy");
  }

private:
  /// Makes a finding. `headline` begins with a word, not with a name: its first letter may become
  /// upper case. `name`: makes the subject unique if a tool has several findings of the same
  /// rule.
  [[nodiscard]] Finding make(const FindingRule& rule, const std::string& name,
                             const std::string& headline, std::string evidence = "",
                             std::string action = "") const {
    Finding out = finding_of(rule, tool_.empty() ? "run" : "tool",
                             tool_ + (tool_.empty() || name.empty() ? "" : ": ") + name);
    set_headline(out,
                 tool_.empty() ? capital(headline) : brief(tool_, kToolWidth) + ": " + headline);
    out.evidence = std::move(evidence);
    out.action = std::move(action);
    return out;
  }
  static Finding with_count(Finding out, std::size_t count) {
    out.value = static_cast<double>(count);
    out.unit = Unit::kCount;
    return out;
  }

  std::string tool_;
};

} // namespace

Finding profile_finding(const ProfileFact& fact) {
  return std::visit(Composer(fact.tool), fact.what);
}

std::vector<Finding> profile_findings(std::span<const ProfileFact> facts) {
  std::vector<Finding> out;
  for (const ProfileFact& fact : facts)
    out.push_back(profile_finding(fact));
  return out;
}

} // namespace rankscope
