// DuckDB's shared library. It is opened for the first query, because other commands do not need it.
#pragma once

#include "base/result.h"
#include "sql/duckdb_calls.h"

#include <string>
#include <vector>

namespace rankscope {

/// The functions of the library; names are without the prefix "duckdb_".
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
  std::string path; ///< path of the opened library

  /// Returns the library. The first call opens it; it stays open until the program ends.
  /// Thread-safe. Errors: kMissingTool; the message contains the paths that were tried and how to
  /// install the library.
  [[nodiscard]] static Result<const DuckDbLibrary*> get();
};

/// Returns the paths at which the library is searched, in this order. If $RANKSCOPE_DUCKDB is set,
/// only this path. Otherwise: the folder of this_binary(), ../lib/rankscope next to that folder,
/// the npm package in the build tree, the library of the system.
[[nodiscard]] std::vector<std::string> duckdb_places();

/// Opens the library at this path and finds all functions. Errors: kMissingTool; the message says
/// what is wrong with the library.
Result<DuckDbLibrary> open_duckdb(const std::string& path);

} // namespace rankscope
