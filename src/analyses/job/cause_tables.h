// The facts of causes as tables, for JSON and for the dictionary of columns.
#pragma once

#include "analyses/job/causes.h"
#include "core/report.h"
#include "core/schema.h"

#include <vector>

namespace rankscope {

/// Returns the tables why_run, causes, causes_not_reported and critical_path.
[[nodiscard]] std::vector<Table> cause_tables(const CauseFacts& facts);
[[nodiscard]] std::vector<SheetInfo> cause_sheets();

} // namespace rankscope
