// Makes rows on another thread, while earlier rows are being written.
#pragma once

#include "core/row_stream.h"
#include "os/tasks.h"

#include <memory>

namespace rankscope {

/// Returns the rows of `stream`, with the same order and errors. They are made on another thread of
/// the pool, which is some thousand rows ahead of the caller of each(). If no thread is free, the
/// caller makes them itself. The pool must outlive the result.
[[nodiscard]] std::shared_ptr<const RowStream> ahead_rows(TaskPool& pool,
                                                          std::shared_ptr<const RowStream> stream);

} // namespace rankscope
