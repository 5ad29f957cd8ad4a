// DuckDB's shared library, opened when the first query asks for it: nothing else needs it.
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

  /// Opened at the first call, for the rest of the program; any thread. Errors: kMissingTool,
  /// which says where it was looked for and how it is to be had.
  [[nodiscard]] static Result<const DuckDbLibrary*> get();
};

/// Where the library is looked for, in this order: $RANKSCOPE_DUCKDB alone, where that is set; else
/// beside own_file() and in ../lib/rankscope of it, the build tree's npm package, the system's.
[[nodiscard]] std::vector<std::string> duckdb_places();

/// Opens the library of one path and looks all functions up. Errors: kMissingTool with what it is
/// that is wrong with this one.
Result<DuckDbLibrary> open_duckdb(const std::string& path);

} // namespace rankscope
