#include "app/gpu_work.h"

#include "base/counters.h"
#include "readers/pipeline_timeline.h"

#include <algorithm>
#include <filesystem>

namespace rankscope {

Error no_gpu_work(const std::string& where) {
  std::error_code none;
  if (std::filesystem::is_regular_file(where, none) && is_pipeline_timeline_file(where))
    return {ErrorCode::kUnreadable, where,
            "is the timeline of a pipeline-parallel job: it has recorded stages, but no GPU work",
            "`rankscope whatif` reads it"};
  return {ErrorCode::kUnreadable, where, "no GPU work (kernels, copies, fills)",
          "record with ProfilerActivity.CUDA; `rankscope info TRACE` shows what a trace contains"};
}

Result<void> require_gpu_work(const std::string& path, const Diagnostics& diagnostics) {
  const std::vector<Problem> problems = diagnostics.problems();
  const auto find = [&problems](const auto&... counters) {
    return std::ranges::find_if(
        problems, [&](const Problem& p) { return ((p.name == counters.key) || ...); });
  };
  if (find(counters::no_gpu_events) == problems.end())
    return {};
  const auto cut = find(counters::input_truncated, counters::input_damaged);
  if (cut == problems.end())
    return no_gpu_work(path);
  return Error{ErrorCode::kUnreadable, path,
               "the file is truncated or damaged before its first GPU event: " + cut->sentence,
               "record it again"};
}

} // namespace rankscope
