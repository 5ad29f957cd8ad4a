// Rows of a query of DuckDB as a Table.
#pragma once

#include "core/table.h"
#include "sql/duckdb_library.h"

#include <string>

namespace rankscope {

/// How a column of a result is asked for, so that query_table() can take it.
enum class Readable {
  kAsIs,     ///< integers, doubles, booleans, texts
  kAsDouble, ///< decimals
  kAsJson,   ///< lists, structs, maps
  kAsText,   ///< all else
};
[[nodiscard]] Readable readable_as(int type);

/// All rows of a result; blocks of it are taken one by one and released.
[[nodiscard]] Table query_table(const DuckDbLibrary& calls, duckdb::ResultBlock& result,
                                std::string name);

} // namespace rankscope
