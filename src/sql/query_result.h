// Converts the rows of a DuckDB query to a Table.
#pragma once

#include "core/table.h"
#include "sql/duckdb_library.h"

#include <string>

namespace rankscope {

/// The form in which a query must request a column, so that query_table() can read it.
enum class Readable {
  kAsIs,     ///< integers, doubles, booleans, texts
  kAsDouble, ///< decimals
  kAsJson,   ///< lists, structs, maps
  kAsText,   ///< all other types
};
[[nodiscard]] Readable readable_as(int type);

/// Returns all rows of a result. It reads and releases the result block by block.
[[nodiscard]] Table query_table(const DuckDbLibrary& calls, duckdb::ResultBlock& result,
                                std::string name);

} // namespace rankscope
