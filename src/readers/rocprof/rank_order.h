// Assigns ranks to processes that share a file, if the file does not give all ranks.
#pragma once

#include "base/diagnostics.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// Numbers several processes in their order and returns true, unless all their ranks are known and
/// differ. A single process does not change, whether its rank is known or not.
bool number_ranks(std::vector<std::optional<std::int64_t>>& ranks);

void say_ranks_by_order(Diagnostics& diagnostics, const std::string& path);

} // namespace rankscope
