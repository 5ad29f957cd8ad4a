// Input: outputs of the processes that measure products and operators. A measured time must be
// above 0, and a status must be a known one.
#include "collect/gemm/gemm_process.h"
#include "collect/replay/replay_run.h"
#include "fuzz/fuzz_target.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

using namespace rankscope;

RS_FUZZ_TARGET(child_outcome) {
  const GemmOutcome product = parse_gemm_outcome(bytes);
  for (const double us : product.times_us)
    if (!std::isfinite(us) || us <= 0)
      std::abort();
  if (product.status == "ok" && product.times_us.empty())
    std::abort();
  if (product.detail.find('\n') != std::string::npos)
    std::abort();
  const ReplayTime call = parse_torch_outcome(bytes);
  if (call.us && !(std::isfinite(*call.us) && *call.us > 0))
    std::abort();
  constexpr std::string_view kKnown[] = {"", "ok", "missing", "unsupported", "failed"};
  if (std::find(std::begin(kKnown), std::end(kKnown), call.status) == std::end(kKnown))
    std::abort();
}
