// Converts the rows of a DuckDB query to a Table.
#pragma once

#include "core/table.h"
#include "sql/duckdb_library.h"

#include <string>

namespace rankscope {

/// How a query must request a column, so that query_table() can read it.
enum class Readable {
  kAsIs,     ///< integers, doubles, booleans, texts
  kAsDouble, ///< decimals
  kAsJson,   ///< lists, structs, maps
  kAsText,   ///< all other types
};
[[nodiscard]] Readable readable_as(int type);

/// Returns all rows of a result. Each block of rows is released after it has been read.
[[nodiscard]] Table query_table(const DuckDbLibrary& calls, duckdb::ResultBlock& result,
                                std::string name);

} // namespace rankscope
