// Declares the part of DuckDB's stable C interface that rankscope calls: types, functions and
// enumeration values, as documented in https://duckdb.org/docs/stable/clients/c/api. The library is
// opened for the first query (duckdb_library.h); it is not needed to build rankscope.
#pragma once

#include <array>
#include <cstdint>

namespace rankscope::duckdb {

// Handles: pointers to types that only the library defines.
using Database = struct DatabaseHandle*;
using Connection = struct ConnectionHandle*;
using Config = struct ConfigHandle*;
using Prepared = struct PreparedHandle*;
using LogicalType = struct LogicalTypeHandle*;
using DataChunk = struct DataChunkHandle*;
using Vector = struct VectorHandle*;
using Cell = struct CellHandle*; ///< duckdb_value
using TableFunction = struct TableFunctionHandle*;
using BindInfo = struct BindInfoHandle*;
using InitInfo = struct InitInfoHandle*;
using FunctionInfo = struct FunctionInfoHandle*;
using ReplacementInfo = struct ReplacementInfoHandle*;

/// The layout of duckdb_result, which is passed by value: five deprecated fields, then internal
/// data of the library.
struct ResultBlock {
  std::array<std::uint64_t, 3> counts{};
  std::array<void*, 2> deprecated{};
  void* internal = nullptr;
};

/// The layout of duckdb_string_t: up to 12 bytes of text; for a longer text, its first four bytes
/// and a pointer.
struct alignas(8) Text {
  std::uint32_t length;
  std::array<char, 12> bytes;
};
static_assert(sizeof(Text) == 16);

/// The layout of duckdb_hugeint.
struct HugeInt {
  std::uint64_t lower;
  std::int64_t upper;
};

/// The value of duckdb_state for success; duckdb_state is an int.
inline constexpr int kSuccess = 0;

/// The values of duckdb_type that rankscope reads or writes. Columns of other types are converted
/// to text.
enum Type : int {
  kBoolean = 1,
  kTinyInt = 2,
  kSmallInt = 3,
  kInteger = 4,
  kBigInt = 5,
  kUTinyInt = 6,
  kUSmallInt = 7,
  kUInteger = 8,
  kUBigInt = 9,
  kFloat = 10,
  kDouble = 11,
  kHugeInt = 16,
  kVarchar = 17,
  kDecimal = 19,
  kList = 24,
  kStruct = 25,
  kMap = 26,
  kUnion = 28,
  kArray = 33,
};

/// A value of duckdb_result_type.
inline constexpr int kQueryResult = 3;

using Destroy = void (*)(void*);

} // namespace rankscope::duckdb

// Every function of DuckDB that rankscope calls, as RS_DUCK(name, result, arguments).
#define RANKSCOPE_DUCKDB_CALLS(RS_DUCK)                                                            \
  RS_DUCK(library_version, const char*, ())                                                        \
  RS_DUCK(free, void, (void*))                                                                     \
  RS_DUCK(vector_size, std::uint64_t, ())                                                          \
  RS_DUCK(create_config, int, (Config*))                                                           \
  RS_DUCK(set_config, int, (Config, const char*, const char*))                                     \
  RS_DUCK(destroy_config, void, (Config*))                                                         \
  RS_DUCK(open_ext, int, (const char*, Database*, Config, char**))                                 \
  RS_DUCK(close, void, (Database*))                                                                \
  RS_DUCK(connect, int, (Database, Connection*))                                                   \
  RS_DUCK(disconnect, void, (Connection*))                                                         \
  RS_DUCK(interrupt, void, (Connection))                                                           \
  RS_DUCK(query, int, (Connection, const char*, ResultBlock*))                                     \
  RS_DUCK(prepare, int, (Connection, const char*, Prepared*))                                      \
  RS_DUCK(prepare_error, const char*, (Prepared))                                                  \
  RS_DUCK(destroy_prepare, void, (Prepared*))                                                      \
  RS_DUCK(prepared_statement_column_count, std::uint64_t, (Prepared))                              \
  RS_DUCK(prepared_statement_column_type, int, (Prepared, std::uint64_t))                          \
  RS_DUCK(prepared_statement_column_name, const char*, (Prepared, std::uint64_t))                  \
  RS_DUCK(execute_prepared, int, (Prepared, ResultBlock*))                                         \
  RS_DUCK(destroy_result, void, (ResultBlock*))                                                    \
  RS_DUCK(result_error, const char*, (ResultBlock*))                                               \
  RS_DUCK(result_return_type, int, (ResultBlock))                                                  \
  RS_DUCK(column_count, std::uint64_t, (ResultBlock*))                                             \
  RS_DUCK(column_name, const char*, (ResultBlock*, std::uint64_t))                                 \
  RS_DUCK(column_type, int, (ResultBlock*, std::uint64_t))                                         \
  RS_DUCK(column_logical_type, LogicalType, (ResultBlock*, std::uint64_t))                         \
  RS_DUCK(logical_type_get_alias, char*, (LogicalType))                                            \
  RS_DUCK(fetch_chunk, DataChunk, (ResultBlock))                                                   \
  RS_DUCK(destroy_data_chunk, void, (DataChunk*))                                                  \
  RS_DUCK(data_chunk_get_size, std::uint64_t, (DataChunk))                                         \
  RS_DUCK(data_chunk_set_size, void, (DataChunk, std::uint64_t))                                   \
  RS_DUCK(data_chunk_get_vector, Vector, (DataChunk, std::uint64_t))                               \
  RS_DUCK(vector_get_data, void*, (Vector))                                                        \
  RS_DUCK(vector_get_validity, std::uint64_t*, (Vector))                                           \
  RS_DUCK(vector_ensure_validity_writable, void, (Vector))                                         \
  RS_DUCK(vector_assign_string_element_len, void,                                                  \
          (Vector, std::uint64_t, const char*, std::uint64_t))                                     \
  RS_DUCK(create_logical_type, LogicalType, (int))                                                 \
  RS_DUCK(destroy_logical_type, void, (LogicalType*))                                              \
  RS_DUCK(create_varchar_length, Cell, (const char*, std::uint64_t))                               \
  RS_DUCK(get_varchar, char*, (Cell))                                                              \
  RS_DUCK(destroy_value, void, (Cell*))                                                            \
  RS_DUCK(create_table_function, TableFunction, ())                                                \
  RS_DUCK(destroy_table_function, void, (TableFunction*))                                          \
  RS_DUCK(table_function_set_name, void, (TableFunction, const char*))                             \
  RS_DUCK(table_function_add_parameter, void, (TableFunction, LogicalType))                        \
  RS_DUCK(table_function_set_extra_info, void, (TableFunction, void*, Destroy))                    \
  RS_DUCK(table_function_set_bind, void, (TableFunction, void (*)(BindInfo)))                      \
  RS_DUCK(table_function_set_init, void, (TableFunction, void (*)(InitInfo)))                      \
  RS_DUCK(table_function_set_function, void, (TableFunction, void (*)(FunctionInfo, DataChunk)))   \
  RS_DUCK(table_function_supports_projection_pushdown, void, (TableFunction, bool))                \
  RS_DUCK(register_table_function, int, (Connection, TableFunction))                               \
  RS_DUCK(bind_get_extra_info, void*, (BindInfo))                                                  \
  RS_DUCK(bind_get_parameter, Cell, (BindInfo, std::uint64_t))                                     \
  RS_DUCK(bind_add_result_column, void, (BindInfo, const char*, LogicalType))                      \
  RS_DUCK(bind_set_bind_data, void, (BindInfo, void*, Destroy))                                    \
  RS_DUCK(bind_set_cardinality, void, (BindInfo, std::uint64_t, bool))                             \
  RS_DUCK(bind_set_error, void, (BindInfo, const char*))                                           \
  RS_DUCK(init_get_bind_data, void*, (InitInfo))                                                   \
  RS_DUCK(init_get_column_count, std::uint64_t, (InitInfo))                                        \
  RS_DUCK(init_get_column_index, std::uint64_t, (InitInfo, std::uint64_t))                         \
  RS_DUCK(init_set_init_data, void, (InitInfo, void*, Destroy))                                    \
  RS_DUCK(init_set_max_threads, void, (InitInfo, std::uint64_t))                                   \
  RS_DUCK(init_set_error, void, (InitInfo, const char*))                                           \
  RS_DUCK(function_get_extra_info, void*, (FunctionInfo))                                          \
  RS_DUCK(function_get_init_data, void*, (FunctionInfo))                                           \
  RS_DUCK(function_set_error, void, (FunctionInfo, const char*))                                   \
  RS_DUCK(add_replacement_scan, void,                                                              \
          (Database, void (*)(ReplacementInfo, const char*, void*), void*, Destroy))               \
  RS_DUCK(replacement_scan_set_function_name, void, (ReplacementInfo, const char*))                \
  RS_DUCK(replacement_scan_add_parameter, void, (ReplacementInfo, Cell))
