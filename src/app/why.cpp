#include "app/why.h"

namespace rankscope {
namespace {

/// The GPU model that the user names, else that of all ranks.
Result<std::optional<GpuArch>> peaks_of(const std::string& named,
                                        const std::vector<RankGraph>& ranks) {
  std::string board = named;
  if (board.empty()) {
    board = ranks.front().board;
    for (const RankGraph& rank : ranks)
      if (rank.board != board)
        board.clear();
  }
  if (board.empty() || board == "none")
    return std::optional<GpuArch>();
  RS_TRY(GpuArch arch, load_gpu_arch(board));
  return std::optional<GpuArch>(std::move(arch));
}

} // namespace

Result<CauseFacts> causes_of_job(JobInput job, const std::string& gpu_arch, const CauseLook& look) {
  RS_TRY(const std::optional<GpuArch> arch, peaks_of(gpu_arch, job.run.ranks));
  CauseFacts out = causes_of(job.run, arch, std::move(job.suspects), look);
  out.title = job.title;
  out.job_ranks = job.job_ranks;
  out.clock_error_ns = job.clock_error_ns;
  out.board = arch ? arch->name : "";
  return out;
}

Result<CauseFacts> why_of(Session& session, const WhyRequest& request) {
  RS_TRY(JobInput job, read_job(session, request.job));
  std::optional<RecordingCost> recording;
  if (request.step_time_ms > 0)
    recording = without_recording(job.run, request.step_time_ms);
  RS_TRY(CauseFacts out, causes_of_job(std::move(job), request.job.gpu_arch,
                                       {request.floor_percent, true, recording.has_value()}));
  out.step_time_ms = request.step_time_ms;
  out.recording = recording;
  return out;
}

} // namespace rankscope
