// The table function by which DuckDB reads SqlTables in place: rows are handed over in blocks, from
// several threads, and of each only the columns that the query asks for.
#pragma once

#include "base/noncopyable.h"
#include "base/result.h"
#include "sql/duckdb_library.h"
#include "sql/sql_table.h"

#include <memory>
#include <optional>
#include <string>

namespace rankscope {

/// Where the tables of a database come from. Called by one thread at a time.
class SqlSource : public Interface {
public:
  /// Whether there is a table of this lower-case name.
  [[nodiscard]] virtual bool has(const std::string& name) const = 0;
  /// That table; made at the first call.
  virtual Result<std::shared_ptr<const SqlTable>> table(const std::string& name) = 0;
};

/// What the callbacks of a database know; it outlives the database.
struct TableScan {
  const DuckDbLibrary& calls;
  SqlSource& source;
  unsigned threads = 1;
  std::optional<Error> error = {}; ///< of the source, while a statement was bound
};

/// Names that the database does not know become tables of the source from here on. Errors:
/// kInternal.
Result<void> register_scan(TableScan& scan, duckdb::Database database,
                           duckdb::Connection connection);

} // namespace rankscope
