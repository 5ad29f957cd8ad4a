// One configuration with its counts.
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
  std::optional<double> kernel_us;             ///< time in kernels, of all calls with a known end
  std::vector<std::uint32_t> processes, ranks; ///< ids of texts, ascending
};

} // namespace rankscope
