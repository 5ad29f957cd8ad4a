#include "collect/profile/run_findings.h"

#include "collect/profile/run_log.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

namespace rankscope {
namespace {

constexpr double kWorthAWord = 1.2; ///< overhead from which it is a finding
constexpr std::uintmax_t kMostLog = std::uintmax_t{1} << 30;

/// The period that a sampler was asked for, in s; 0 = it is none.
double period_of(const ToolEntry& tool) {
  double out = tool.native == "sampler" ? 0.1 : 0;
  for (const auto& [name, value] : tool.env_vars)
    if (name.find("SAMPLING_RATE") != std::string::npos)
      out = Json::of(value).number().value_or(out);
  return out;
}

PlanFinding library_finding(const Plan& plan, const ToolEntry& tool, const SeenLibraries& seen,
                            PlanFinding f) {
  const SeenLibraries::value_type* found = nullptr;
  for (const auto& entry : seen)
    if (std::find(tool.libraries.begin(), tool.libraries.end(), entry.first) !=
        tool.libraries.end())
      found = &entry;
  const std::string libraries = fmt::format("{}", fmt::join(tool.libraries, ", "));
  if (found == nullptr) {
    f.code = "W-LIB-NOT-LOADED";
    f.cause = fmt::format("the command does not use {}", libraries);
    f.evidence = "no process of the run had it in memory (a run of a few milliseconds, or a "
                 "statically linked program, is not seen)";
    f.next = "trace the library that it uses";
    return f;
  }
  f.code = "W-LIB-NO-LINES";
  f.cause = fmt::format("{} was loaded and wrote no line about its calls", found->first);
  std::string changed;
  for (const EnvChange& e : plan.env) {
    if (e.from != tool.name || e.unset)
      continue;
    const auto it = std::find_if(found->second.begin(), found->second.end(),
                                 [&](const auto& p) { return p.first == e.name; });
    if (it == found->second.end())
      changed += fmt::format("{}{} is not set there", changed.empty() ? "" : ", ", e.name);
    else if (it->second != e.value)
      changed += fmt::format("{}{} is '{}' there", changed.empty() ? "" : ", ", e.name, it->second);
  }
  f.evidence = changed.empty() ? "its variables are as asked for in that process" : changed;
  f.next = changed.empty() ? "calls of a captured graph, or of a library linked statically, are "
                             "not logged"
                           : "something between here and the program changes the environment";
  return f;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void add_overhead(const RunRequest& request, RunResult& run) {
  if (run.baseline_s.empty() || !run.launched || run.exit_status != 0)
    return;
  const double base = median(run.baseline_s);
  if (base <= 0)
    return;
  const double factor = run.seconds / base;
  Json& overhead = run.figures.at("overhead");
  overhead.at("baseline_s") = Json::of(base);
  overhead.at("profiled_s") = Json::of(run.seconds);
  overhead.at("factor") = Json::of(factor);
  if (factor < kWorthAWord)
    return;
  std::string why;
  std::string next = "fewer tools at once";
  for (const ToolEntry& tool : request.plan.tools) {
    if (tool.passes > 1)
      why += fmt::format("; {} runs the command {} times", tool.name, tool.passes);
    if (const double period = period_of(tool); period > 0 && period < 0.1)
      next = fmt::format("{} every 0.1 s", tool.name);
    else if (tool.name == "rocprofv3_full" || tool.name == "rocprof_sys")
      next = fmt::format("rocprofv3_lightweight instead of {}", tool.name);
  }
  run.findings.push_back({"W-OVERHEAD", "",
                          fmt::format("the tools make the command {:.1f} times as long", factor),
                          fmt::format("baseline {:.3f} s (median of {}), with tools {:.3f} s{}",
                                      base, run.baseline_s.size(), run.seconds, why),
                          next});
}

void add_log_lines(const RunRequest& request, RunResult& run) {
  if (!run.launched || run.exit_status != 0)
    return;
  const std::string path = request.out + "/run.log";
  std::error_code ec;
  if (const auto size = std::filesystem::file_size(path, ec); ec || size > kMostLog)
    return;
  constexpr std::array<std::string_view, 5> patterns = {
      "OutOfMemoryError", "RuntimeError:", "Traceback (most recent call last)",
      "Segmentation fault", "FAILED"};
  std::ifstream in(path);
  std::uint64_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const bool odd = std::any_of(patterns.begin(), patterns.end(), [&](std::string_view p) {
      return line.find(p) != std::string::npos;
    });
    if (!odd)
      continue;
    run.findings.push_back({"W-LOG-PATTERN", "",
                            "a line of the log looks like a failure; the exit status says success",
                            fmt::format("run.log:{}: {}", number, line.substr(0, 300)),
                            "the exit status counts; look at the line if in doubt"});
    return;
  }
}

} // namespace

PlanFinding empty_finding(const RunRequest& request, const ToolEntry& tool,
                          const ToolResult& result, const RunResult& run,
                          const SeenLibraries& seen) {
  PlanFinding f;
  f.tool = tool.name;
  std::vector<std::string> patterns;
  for (const ToolOutput& output : tool.produces)
    patterns.push_back(output.path);
  std::string what = result.outputs.files.empty()
                         ? fmt::format("no new file matches {}", fmt::join(patterns, ", "))
                         : fmt::format("{} has no records", result.outputs.files.front().path);
  if (!result.outputs.there_before.empty())
    what += fmt::format("; {} existed before the run and is not taken: move it away",
                        fmt::join(result.outputs.there_before, ", "));
  if (run.exit_status != 0) {
    f.code = "W-EMPTY-TOOL-ERROR";
    f.cause = fmt::format("it wrote nothing, and the command ended with {}", run.ended);
    f.evidence = what + "\n" + last_lines(request.out + "/run.log", 20);
    f.next = "make the command succeed with this tool alone";
    return f;
  }
  if (!tool.libraries.empty() && request.container.empty()) // whose processes are not ours to see
    return library_finding(request.plan, tool, seen, std::move(f));
  if (const double period = period_of(tool); period > 0 && run.seconds < 2 * period) {
    f.code = "W-EMPTY-SHORT-RUN";
    f.cause = "the run was shorter than two samples";
    f.evidence = fmt::format("run {:.3f} s < 2 x {} s", run.seconds, period);
    f.next = "a smaller --sample-rate, or a longer run";
    return f;
  }
  f.code = "W-EMPTY-OUTPUT";
  f.cause = "it wrote nothing, though the command succeeded";
  f.evidence = what;
  f.next = "does the command use the GPU? *_VISIBLE_DEVICES may hide the one that is looked at";
  return f;
}

void add_run_findings(const RunRequest& request, RunResult& run) {
  add_overhead(request, run);
  add_log_lines(request, run);
}

} // namespace rankscope
