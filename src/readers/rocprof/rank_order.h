// Assigns ranks to several processes in one file, if the file does not contain all ranks.
#pragma once

#include "base/diagnostics.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// If the ranks of several processes are not all known and different, numbers the processes in
/// their order and returns true. The rank of a single process does not change, even if it is
/// unknown.
bool number_ranks(std::vector<std::optional<std::int64_t>>& ranks);

void say_ranks_by_order(Diagnostics& diagnostics, const std::string& path);

} // namespace rankscope
