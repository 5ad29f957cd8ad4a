// Ranks of processes that share a file, where the file does not number all of them.
#pragma once

#include "base/diagnostics.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// Numbers several processes in their order and returns true, unless all their ranks are known and
/// differ. A single process keeps its rank, known or not.
bool number_ranks(std::vector<std::optional<std::int64_t>>& ranks);

void say_ranks_by_order(Diagnostics& diagnostics, const std::string& path);

} // namespace rankscope
