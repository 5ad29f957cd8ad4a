#include "collect/profile/run_facts.h"

#include "collect/profile/run_log.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

namespace rankscope {
namespace {

constexpr double kLeastOverhead = 1.2; ///< smallest factor that is reported
constexpr std::uintmax_t kMostLog = std::uintmax_t{1} << 30;

/// Returns the requested period of a sampler, in s; 0 = not a sampler.
double period_of(const ToolEntry& tool) {
  double out = tool.native == "sampler" ? 0.1 : 0;
  for (const auto& [name, value] : tool.env_vars)
    if (name.find("SAMPLING_RATE") != std::string::npos)
      out = Json(value).number().value_or(out);
  return out;
}

ProfileFact library_fact(const Plan& plan, const ToolEntry& tool, const SeenLibraries& seen) {
  const SeenLibraries::value_type* found = nullptr;
  for (const auto& entry : seen)
    if (std::find(tool.libraries.begin(), tool.libraries.end(), entry.first) !=
        tool.libraries.end())
      found = &entry;
  if (found == nullptr)
    return {tool.name, profile::UnusedLibrary{tool.libraries}};
  profile::SilentLibrary out{found->first, {}};
  for (const EnvChange& e : plan.env) {
    if (e.from != tool.name || e.unset)
      continue;
    const auto it = std::find_if(found->second.begin(), found->second.end(),
                                 [&](const auto& p) { return p.first == e.name; });
    if (it == found->second.end())
      out.changed.emplace_back(e.name, std::nullopt);
    else if (it->second != e.value)
      out.changed.emplace_back(e.name, it->second);
  }
  return {tool.name, std::move(out)};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void add_overhead(const RunRequest& request, RunResult& run) {
  if (run.baseline_s.empty() || request.plan.tools.empty() || !run.launched || run.exit_status != 0)
    return;
  const double base = median(run.baseline_s);
  if (base <= 0)
    return;
  const double factor = run.seconds / base;
  Json& overhead = run.metrics.at("overhead");
  overhead.at("baseline_s") = base;
  overhead.at("profiled_s") = run.seconds;
  overhead.at("factor") = factor;
  if (factor < kLeastOverhead)
    return;
  profile::Overhead fact{base, run.seconds, run.baseline_s.size(), request.plan.tools.size(), {},
                         "",   ""};
  for (const ToolEntry& tool : request.plan.tools) {
    if (tool.passes > 1)
      fact.passes.emplace_back(tool.name, tool.passes);
    if (const double period = period_of(tool); period > 0 && period < 0.1)
      fact.frequent = tool.name;
    else if (tool.name == "rocprofv3_full" || tool.name == "rocprof_sys")
      fact.heavy = tool.name;
  }
  run.facts.push_back({"", std::move(fact)});
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
    const bool failure = std::any_of(patterns.begin(), patterns.end(), [&](std::string_view p) {
      return line.find(p) != std::string::npos;
    });
    if (!failure)
      continue;
    run.facts.push_back({"", profile::FailureInLog{number, line.substr(0, 300)}});
    return;
  }
}

} // namespace

ProfileFact empty_fact(const RunRequest& request, const ToolEntry& tool, const ToolResult& result,
                       const RunResult& run, const SeenLibraries& seen) {
  profile::EmptyOutput empty;
  for (const ToolOutput& output : tool.produces)
    empty.patterns.push_back(output.path);
  const auto& files = result.outputs.files;
  if (const auto file = std::ranges::find_if(files, &OutputFound::empty); file != files.end())
    empty.file = file->path;
  empty.old_files = result.outputs.there_before;
  if (run.exit_status != 0) {
    empty.ended = run.ended;
    empty.last_lines = last_lines(request.out + "/run.log", 20);
    return {tool.name, std::move(empty)};
  }
  if (!tool.libraries.empty() && request.container.empty()) // a container hides its processes
    return library_fact(request.plan, tool, seen);
  if (const double period = period_of(tool); period > 0 && run.seconds < 2 * period)
    return {tool.name, profile::ShortRun{run.seconds, period}};
  return {tool.name, std::move(empty)};
}

void add_run_facts(const RunRequest& request, RunResult& run) {
  add_overhead(request, run);
  add_log_lines(request, run);
}

} // namespace rankscope
