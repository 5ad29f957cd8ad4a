// Bytes as names in a trace: of kernels, and of the annotations that inference servers put around a
// step. Counts of requests and tokens are none below 0, a stem is its own stem.
#include "fuzz/fuzz_target.h"
#include "model/kernel_family.h"
#include "model/kernels.h"
#include "model/step_annotation.h"

#include <cstdlib>
#include <string>

namespace {

using namespace rankscope;

void kernel(std::string_view name) {
  const auto gemm = parse_gemm_kernel(name);
  if (gemm.has_value() != is_gemm_kernel(name))
    std::abort();
  if (gemm && (gemm->tile_m < 0 || gemm->tile_n < 0 || gemm->tile_k < 0))
    std::abort();
  (void)gemm_transpose_repr(name);
  if (kernel_family_name(kernel_family(name)).empty())
    std::abort();
  (void)kernel_kind(name);
  (void)finishes_another(name);
  (void)is_communication_name(name);
}

void step(std::string_view name) {
  (void)parse_step_annotation(name);
  const auto counts = parse_step_counts(name);
  if (!counts)
    return;
  if (counts->context_requests < 0 || counts->generation_requests < 0 || counts->batch_size < 0)
    std::abort();
  if (phase_name(phase_of(*counts)).empty())
    std::abort();
}

} // namespace

RS_FUZZ_TARGET(trace_names) {
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    kernel(rest.substr(0, end));
    step(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
}
