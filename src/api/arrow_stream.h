// A SqlTable as an ArrowArrayStream. When the consumer requests the next record batch, cells are
// converted into its buffers. From then on the batch belongs to the consumer.
#pragma once

#include "sql/sql_table.h"

#include <memory>
#include <mutex>

struct ArrowArrayStream;

namespace rankscope {

/// The rows that a stream reads. `owner` keeps the rows and `mutex` alive; the stream locks `mutex`
/// while it reads.
struct ArrowRows {
  std::shared_ptr<void> owner;
  std::shared_ptr<const SqlTable> table;
  std::mutex* mutex = nullptr;
};

/// Fills `out` with a stream; out.release() ends the stream.
void make_arrow_stream(ArrowRows rows, ArrowArrayStream& out);

} // namespace rankscope
