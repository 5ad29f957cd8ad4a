#include "collect/profile/targeted.h"

#include "collect/profile/plan.h"
#include "collect/profile/preflight.h"
#include "core/steps.h"

#include <filesystem>
#include <fmt/format.h>
#include <optional>

namespace rankscope {
namespace {

constexpr double kNoEnd_s = 1e7; ///< rocprofv3 needs a length; this is four months

Error cannot(const ToolEntry& tool, const std::string& what, const std::string& hint) {
  return {ErrorCode::kUsage, tool.name, what, hint};
}

bool has_word(const std::string& cmd, const std::string& word) {
  return (" " + cmd + " ").find(" " + word + " ") != std::string::npos;
}

/// Returns options of rocprofv3. It filters kernels only where it collects counters; a trace has
/// all kernels.
Result<std::string> rocprofv3_options(const TargetedCollection& t, const ToolEntry& tool) {
  std::string out;
  if (t.delay_s > 0 || t.duration_s > 0) {
    if (tool.passes > 1)
      return cannot(tool,
                    "--delay and --duration need a single pass, but the counters of this tool need "
                    "several passes",
                    "use rocprofv3_compute or rocprofv3_memory, which need one pass");
    out += fmt::format(" --collection-period {:.0f}:{:.0f}:1 --collection-period-unit msec",
                       1e3 * t.delay_s, 1e3 * (t.duration_s > 0 ? t.duration_s : kNoEnd_s));
  }
  if (!t.kernels.empty()) {
    if (!has_word(tool.cmd, "--pmc") && !has_word(tool.cmd, "-i"))
      return cannot(tool, "rocprofv3 filters kernels for counters only, not for traces",
                    "use a tool with counters (rocprofv3_compute), or filter the report");
    out += " --kernel-include-regex " + quoted_command({t.kernels});
  }
  return out;
}

Result<std::string> nsys_options(const TargetedCollection& t, const ToolEntry& tool) {
  if (!t.kernels.empty())
    return cannot(tool, "nsys has no filter for kernels", "use ncu_light, or filter the report");
  std::string out;
  if (t.delay_s > 0)
    out += fmt::format(" --delay={:g}", t.delay_s);
  if (t.duration_s > 0) // without --kill=none, nsys would end the command too
    out += fmt::format(" --duration={:g} --kill=none", t.duration_s);
  return out;
}

Result<std::string> ncu_options(const TargetedCollection& t, const ToolEntry& tool) {
  if (t.delay_s > 0 || t.duration_s > 0)
    return cannot(tool, "ncu selects kernel launches and has no time window",
                  "choose kernels with --kernels");
  return " --kernel-name " + quoted_command({"regex:" + t.kernels});
}

/// Sets the window of rocprof-sys-run, which reads it from the environment.
Result<std::string> rocprof_sys_options(const TargetedCollection& t, ToolEntry& tool) {
  if (!t.kernels.empty())
    return cannot(tool, "rocprof-sys-run has no filter for kernels", "filter the report");
  if (t.delay_s > 0)
    tool.env_vars.emplace_back("ROCPROFSYS_TRACE_DELAY", fmt::format("{:g}", t.delay_s));
  if (t.duration_s > 0)
    tool.env_vars.emplace_back("ROCPROFSYS_TRACE_DURATION", fmt::format("{:g}", t.duration_s));
  return std::string();
}

/// Sets the steps of PyTorch's profiler, which counts optimizer steps in the program.
Result<std::string> torch_options(const TargetedCollection& t, ToolEntry& tool) {
  if (t.delay_s > 0 || t.duration_s > 0 || !t.kernels.empty())
    return cannot(tool, "PyTorch's profiler can select steps, but not a time window or kernels",
                  "choose steps with --steps");
  RS_TRY(const auto range, parse_steps(t.steps));
  tool.env_vars.emplace_back("RANKSCOPE_TORCH_STEPS",
                             fmt::format("{}:{}", range.first, range.second));
  return std::string();
}

/// Returns the text to insert after the program; std::nullopt for a tool that is not a tracer. ""
/// if the options are set in another way, such as by variables.
Result<std::optional<std::string>> options_of(const TargetedCollection& targets, ToolEntry& tool,
                                              const std::string& program) {
  const bool torch = tool.native == "torch_profiler";
  if (!torch && tool.family != "gpu-tracer")
    return std::optional<std::string>();
  if (!targets.steps.empty() && !torch)
    return cannot(tool, "only torch_profiler can select steps", "use torch_profiler, or --delay");
  Result<std::string> options =
      cannot(tool, "--delay, --duration, --kernels and --steps are not options of this tool",
             "use a tool that runs rocprofv3, rocprof-sys-run, nsys or ncu, or use torch_profiler");
  if (torch)
    options = torch_options(targets, tool);
  else if (program == "rocprofv3")
    options = rocprofv3_options(targets, tool);
  else if (program == "nsys")
    options = nsys_options(targets, tool);
  else if (program == "rocprof-sys-run")
    options = rocprof_sys_options(targets, tool);
  else if (program == "ncu")
    options = ncu_options(targets, tool);
  if (!options)
    return options.error();
  return std::optional(std::move(*options));
}

} // namespace

Result<void> place_targets(const TargetedCollection& targets, std::vector<ToolEntry>& tools,
                           std::vector<std::string>& notes) {
  if (!targets.any())
    return {};
  bool placed = false;
  for (ToolEntry& tool : tools) {
    const std::string path = program_of(tool);
    const std::string program = std::filesystem::path(path).filename().string();
    RS_TRY(const std::optional<std::string> options, options_of(targets, tool, program));
    if (!options) {
      notes.push_back(fmt::format("{} records the complete run", tool.name));
      continue;
    }
    placed = true;
    if (options->empty())
      continue;
    // nsys takes options after its command word
    const std::string word = program == "nsys" ? "profile" : path;
    const std::size_t at = tool.cmd.find(word);
    if (at == std::string::npos)
      return cannot(
          tool,
          fmt::format("its cmd lacks the word '{}', after which the options are inserted", word),
          "");
    tool.cmd.insert(at + word.size(), *options);
  }
  if (!placed)
    return Error{ErrorCode::kUsage, "--delay, --duration, --kernels, --steps",
                 "no tool here traces GPU work", "choose one with --tool"};
  return {};
}

} // namespace rankscope
