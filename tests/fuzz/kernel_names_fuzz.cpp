// Bytes as names of kernels, one a line: one rule says what a product is, and every name has a
// family.
#include "fuzz/fuzz_target.h"
#include "model/kernel_family.h"
#include "model/kernels.h"

#include <cstdlib>
#include <string_view>

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

} // namespace

RS_FUZZ_TARGET(kernel_names) {
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    kernel(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
}
