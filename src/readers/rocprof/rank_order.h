// Ranks of processes that share a file, where the file does not number all of them.
#pragma once

#include "base/diagnostics.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// A single process keeps what it has, also nothing. Of several, all ranks stay when they are all
/// there and differ; else the processes are numbered in their order: true.
bool number_ranks(std::vector<std::optional<std::int64_t>>& ranks);

void say_ranks_by_order(Diagnostics& diagnostics, const std::string& path);

} // namespace rankscope
