// The columns of a GEMM table that the console shows.
#pragma once

#include "core/table.h"

namespace rankscope {

/// Returns the columns for the console. The short name of the kernel replaces its full name, and
/// distinguishes rows that have the same shapes but other strides.
[[nodiscard]] Table gemm_screen(const Table& table);

} // namespace rankscope
