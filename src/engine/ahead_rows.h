// Rows that are made while earlier rows are written.
#pragma once

#include "core/row_stream.h"
#include "os/tasks.h"

#include <memory>

namespace rankscope {

/// Returns the rows of `of` in the same order and with the same errors. Another thread of the pool
/// makes them, some thousand rows ahead of the consumer. If no thread is free, the consumer makes
/// them. The pool must outlive the result.
[[nodiscard]] std::shared_ptr<const RowStream> ahead_rows(TaskPool& pool,
                                                          std::shared_ptr<const RowStream> of);

} // namespace rankscope
