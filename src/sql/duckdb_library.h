// DuckDB's shared library. The first query opens it: nothing else needs it.
#pragma once

#include "base/result.h"
#include "sql/duckdb_calls.h"

#include <string>
#include <vector>

namespace rankscope {

/// The library's functions, without the "duckdb_" in front.
struct DuckDbLibrary {
#define RS_DUCK(name, result, arguments) result(*name) arguments = nullptr;
  using Database = duckdb::Database;
  using Connection = duckdb::Connection;
  using Config = duckdb::Config;
  using Prepared = duckdb::Prepared;
  using LogicalType = duckdb::LogicalType;
  using DataChunk = duckdb::DataChunk;
  using Vector = duckdb::Vector;
  using Cell = duckdb::Cell;
  using TableFunction = duckdb::TableFunction;
  using BindInfo = duckdb::BindInfo;
  using InitInfo = duckdb::InitInfo;
  using FunctionInfo = duckdb::FunctionInfo;
  using ReplacementInfo = duckdb::ReplacementInfo;
  using ResultBlock = duckdb::ResultBlock;
  using Destroy = duckdb::Destroy;
  RANKSCOPE_DUCKDB_CALLS(RS_DUCK)
#undef RS_DUCK
  std::string path; ///< that was opened

  /// Opens the library at the first call, for the rest of the program; any thread. Errors:
  /// kMissingTool, which says where it was searched and how to get it.
  [[nodiscard]] static Result<const DuckDbLibrary*> get();
};

/// Returns the paths to search, in this order: $RANKSCOPE_DUCKDB alone if it is set; else next to
/// own_file(), ../lib/rankscope of it, the build tree's npm package, the system's library.
[[nodiscard]] std::vector<std::string> duckdb_places();

/// Opens the library at this path and looks up all functions. Errors: kMissingTool, which says what
/// is wrong with it.
Result<DuckDbLibrary> open_duckdb(const std::string& path);

} // namespace rankscope
