#include "app/gpu_work.h"

namespace rankscope {

Error no_gpu_work(const std::string& where) {
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
