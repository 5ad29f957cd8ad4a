#include "app/why.h"

#include "base/counters.h"
#include "base/number_text.h"
#include "core/steps.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {
namespace {

/// Returns the GPU model that the user names, else the GPU model of all ranks.
Result<std::optional<GpuArch>> peaks_of(const std::string& named,
                                        const std::vector<RankGraph>& ranks) {
  std::string gpu_model = named;
  if (gpu_model.empty()) {
    gpu_model = ranks.front().gpu_model;
    for (const RankGraph& rank : ranks)
      if (rank.gpu_model != gpu_model)
        gpu_model.clear();
  }
  if (gpu_model.empty() || gpu_model == "none")
    return std::optional<GpuArch>();
  RS_TRY(GpuArch arch, load_gpu_arch(gpu_model));
  return std::optional<GpuArch>(std::move(arch));
}

} // namespace

Result<CauseFacts> causes_of_job(JobInput job, const std::string& gpu_arch,
                                 const CauseOptions& options) {
  RS_TRY(const std::optional<GpuArch> arch, peaks_of(gpu_arch, job.run.ranks));
  CauseFacts out = causes_of(job.run, arch, std::move(job.suspects), options);
  out.title = job.title;
  out.job_ranks = job.job_ranks;
  out.clock_error_ns = job.clock_error_ns;
  out.clock_conflict_ns = job.run.clock_conflict_ns;
  out.gpu_model = arch ? arch->name : "";
  return out;
}

namespace {

/// Returns the options for finding causes in this run.
Result<CauseOptions> cause_options(const WhyRequest& request, const JobRun& run) {
  CauseOptions options;
  options.floor_percent = request.floor_percent;
  options.prediction = true;
  if (!request.rule.empty()) {
    options.rule = cause_rule_of(request.rule);
    if (!options.rule)
      return Error{ErrorCode::kUsage, "--rule " + request.rule, "there is no such rule",
                   "rankscope why --rules"};
  }
  if (request.rank) {
    std::vector<std::int64_t> ranks;
    for (const RankGraph& rank : run.ranks)
      ranks.push_back(rank.rank);
    if (std::ranges::find(ranks, *request.rank) == ranks.end())
      return Error{ErrorCode::kUsage, fmt::format("--rank {}", *request.rank),
                   "the run has no such rank", "ranks: " + ranges_text(ranks)};
    options.rank = request.rank;
  }
  if (request.steps) {
    RS_TRY(options.steps, step_positions(run, request.steps->first, request.steps->second));
  }
  return options;
}

} // namespace

Result<WhyAnswer> why_of(Session& session, const WhyRequest& request) {
  RS_TRY(JobInput job, read_job(session, request.job));
  RS_TRY(CauseOptions options, cause_options(request, job.run));
  std::optional<RecordingCost> recording;
  if (request.step_time_ms > 0)
    recording = without_recording(job.run, request.step_time_ms);
  options.shortened = recording.has_value();
  RunClock clock = std::move(job.clock);
  RS_TRY(CauseFacts out, causes_of_job(std::move(job), request.job.gpu_arch, options));
  if (request.rank)
    out.title += fmt::format(", rank {}", *request.rank);
  if (request.steps)
    out.title += ", " + steps_text(*request.steps);
  out.step_time_ms = request.step_time_ms;
  out.recording = recording;
  if (const double unexplained = out.quality.unexplained_percent(); unexplained > kDoubtfulPercent)
    session.diagnostics.add(counters::job_graph_incomplete(
                                unexplained, unexplained > kNoGainPercent ? "no gain is printed"
                                                                          : "gains are uncertain"),
                            out.title);
  return WhyAnswer{std::move(out), std::move(clock)};
}

} // namespace rankscope
