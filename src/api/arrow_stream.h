// A SqlTable as an ArrowArrayStream: cells are converted into the buffers of record batches when
// the consumer asks for the next one, and belong to the consumer from then on.
#pragma once

#include "sql/sql_table.h"

#include <memory>
#include <mutex>

struct ArrowArrayStream;

namespace rankscope {

/// What a stream reads. `owner` keeps the rows and `mutex` alive; they are read under the mutex.
struct ArrowRows {
  std::shared_ptr<void> owner;
  std::shared_ptr<const SqlTable> table;
  std::mutex* mutex = nullptr;
};

/// Fills `out`, whose release() ends it.
void make_arrow_stream(ArrowRows rows, ArrowArrayStream& out);

} // namespace rankscope
