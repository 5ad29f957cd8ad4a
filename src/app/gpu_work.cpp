#include "app/gpu_work.h"

#include "readers/pipeline_timeline.h"

#include <filesystem>

namespace rankscope {

Error no_gpu_work(const std::string& where) {
  std::error_code none;
  if (std::filesystem::is_regular_file(where, none) && is_pipeline_timeline_file(where))
    return {ErrorCode::kUnreadable, where,
            "is the timeline of a pipeline-parallel job: it has recorded stages, but no GPU work",
            "`rankscope whatif` reads it"};
  return {ErrorCode::kUnreadable, where, "no GPU work (kernels, copies, fills) in any trace",
          "record with ProfilerActivity.CUDA; `rankscope info TRACE` shows what a trace contains"};
}

Result<void> require_gpu_work(const std::vector<RankRecord>& ranks, const std::string& where) {
  bool read = false;
  for (const RankRecord& rank : ranks) {
    if (rank.ms(TimeKind::kTotal) > 0)
      return {};
    read = read || rank.error.empty();
  }
  if (read)
    return no_gpu_work(where);
  return {};
}

} // namespace rankscope
