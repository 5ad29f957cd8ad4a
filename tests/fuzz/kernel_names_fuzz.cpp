// Input: kernel names, one per line. Both functions must agree on which names are matrix products,
// every name must have a family, and short names in a table may be equal only if the full names
// are.
#include "fuzz/fuzz_target.h"
#include "model/kernel_family.h"
#include "model/kernel_names.h"
#include "model/kernels.h"

#include "base/display_text.h"

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

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
  const std::string brief = display_name(name);
  if (display_width(brief) > kDisplayNameWidth || brief != display_name(std::string(name)) ||
      (brief.empty() && !name.empty()))
    std::abort();
}

void table(const std::vector<std::string_view>& names) {
  const std::vector<std::string> brief = distinct_names(names);
  std::map<std::string, std::string_view> full;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (full.emplace(brief.at(i), names[i]).first->second != names[i])
      std::abort();
}

} // namespace

RS_FUZZ_TARGET(kernel_names) {
  std::vector<std::string_view> names;
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    names.push_back(rest.substr(0, end));
    kernel(names.back());
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  table(names);
}
