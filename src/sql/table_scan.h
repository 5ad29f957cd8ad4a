// The table function with which DuckDB reads SqlTables without a copy. Several threads read blocks
// of rows, and only the columns that the query uses.
#pragma once

#include "base/noncopyable.h"
#include "base/result.h"
#include "sql/duckdb_library.h"
#include "sql/sql_table.h"

#include <memory>
#include <optional>
#include <string>

namespace rankscope {

/// The source of the tables of a database. It is called by only one thread at a time.
class SqlSource : public Interface {
public:
  /// Returns whether a table with this lower-case name exists.
  [[nodiscard]] virtual bool has(const std::string& name) const = 0;
  /// Returns the table with this name; the first call makes it.
  virtual Result<std::shared_ptr<const SqlTable>> table(const std::string& name) = 0;
};

/// The data that the callbacks of a database need. It must outlive the database.
struct TableScan {
  const DuckDbLibrary& calls;
  SqlSource& source;
  unsigned threads = 1;
  std::optional<Error> error = {}; ///< error of the source in a statement that is being bound
};

/// Registers the table function. From then on, if the database does not know a table name, the
/// table is read from the source. Errors: kInternal.
Result<void> register_scan(TableScan& scan, duckdb::Database database,
                           duckdb::Connection connection);

} // namespace rankscope
