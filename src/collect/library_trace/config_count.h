// One configuration and what was counted of it.
#pragma once

#include "collect/library_trace/library_call.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace rankscope {

struct ConfigCount {
  LibraryCall call;
  std::uint64_t calls = 0;
  std::optional<double> first_s, last_s;
  std::optional<double> kernel_us;             ///< in its kernels, of all calls whose end is told
  std::vector<std::uint32_t> processes, ranks; ///< ids of texts, ascending
};

} // namespace rankscope
