// Rows that are made while those before them are written.
#pragma once

#include "core/row_stream.h"
#include "os/tasks.h"

#include <memory>

namespace rankscope {

/// The rows of `of`, made by another thread of the pool, some thousand ahead of the one who takes
/// them; in the same order, with the same errors. Where no thread is free, by the one who takes
/// them. The pool outlives what is returned.
[[nodiscard]] std::shared_ptr<const RowStream> ahead_rows(TaskPool& pool,
                                                          std::shared_ptr<const RowStream> of);

} // namespace rankscope
