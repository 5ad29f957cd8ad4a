#include "sql/table_scan.h"

#include "base/ascii.h"
#include "os/tasks.h"
#include "sql/column_cell.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

namespace rankscope {
namespace {

using namespace duckdb;

constexpr const char* kFunction = "rankscope_table";

struct BoundTable {
  const DuckDbLibrary& calls;
  unsigned threads;
  std::shared_ptr<const SqlTable> table;
};

/// The state of one scan of a table.
struct Reading {
  const DuckDbLibrary& calls;
  std::shared_ptr<const SqlTable> table;
  std::vector<std::size_t> columns;     ///< indices in the table, in the order of the vectors of
                                        ///< the chunk
  std::vector<std::size_t> first_block; ///< index of the first block of each part; the last element
                                        ///< is the number of blocks
  std::size_t block_rows = 0;
  std::atomic<std::size_t> next{0}; ///< index of the next block to read
};

template <class T> void destroy(void* object) {
  delete static_cast<T*>(object);
}

/// Runs `body`. An exception is passed to `tell` as an Error, because exceptions must not reach the
/// library.
template <class Body, class Tell> void guarded(const Body& body, const Tell& tell) {
  try {
    body();
  } catch (...) {
    tell(error_of_current_exception());
  }
}

/// Writes the cells of one column in one block.
class VectorWriter {
public:
  VectorWriter(const DuckDbLibrary& calls, Vector vector, CellKind type)
      : calls_(calls), vector_(vector), data_(calls.vector_get_data(vector)), type_(type) {}

  void set(std::size_t i, const Value& v) {
    switch (type_) {
    case CellKind::kInt:
      put(i, integer_cell(v));
      return;
    case CellKind::kDouble:
      put(i, number_cell(v));
      return;
    case CellKind::kBool:
      put(i, bool_cell(v));
      return;
    case CellKind::kText:
      put_text(i, text_cell(v, storage_));
      return;
    case CellKind::kNull:
      null(i);
    }
  }
  void null(std::size_t i) {
    if (validity_ == nullptr) {
      calls_.vector_ensure_validity_writable(vector_);
      validity_ = calls_.vector_get_validity(vector_);
    }
    validity_[i / 64] &= ~(std::uint64_t{1} << (i % 64));
  }

private:
  template <class T> void put(std::size_t i, const std::optional<T>& cell) {
    if (cell)
      static_cast<T*>(data_)[i] = *cell;
    else
      null(i);
  }
  void put_text(std::size_t i, const std::optional<std::string_view>& cell) {
    if (cell)
      calls_.vector_assign_string_element_len(vector_, i, cell->data(), cell->size());
    else
      null(i);
  }

  const DuckDbLibrary& calls_;
  Vector vector_;
  void* data_;
  std::uint64_t* validity_ = nullptr;
  CellKind type_;
  std::string storage_; ///< the current text, if it had to be converted
};

Type type_of(CellKind kind) {
  switch (kind) {
  case CellKind::kInt:
    return kBigInt;
  case CellKind::kDouble:
    return kDouble;
  case CellKind::kBool:
    return kBoolean;
  case CellKind::kText:
  case CellKind::kNull:
    break;
  }
  return kVarchar;
}

void bind(BindInfo info) {
  TableScan& scan =
      *static_cast<TableScan*>(DuckDbLibrary::get().value()->bind_get_extra_info(info));
  const DuckDbLibrary& calls = scan.calls;
  guarded(
      [&] {
        Cell parameter = calls.bind_get_parameter(info, 0);
        char* text = nullptr;
        try {
          text = calls.get_varchar(parameter);
        } catch (...) { // NULL is not a text, so there is no such table
        }
        const std::string name = text == nullptr ? "" : lowercase(text);
        calls.free(text);
        calls.destroy_value(&parameter);
        if (!scan.source.has(name)) {
          calls.bind_set_error(info, "no table of rankscope has this name");
          return;
        }
        Result<std::shared_ptr<const SqlTable>> table = scan.source.table(name);
        if (!table) {
          calls.bind_set_error(info, table.error().message().c_str());
          scan.error = std::move(table.error());
          return;
        }
        for (const Column& column : (*table)->columns) {
          LogicalType type = calls.create_logical_type(type_of(column.type));
          calls.bind_add_result_column(info, column.id.c_str(), type);
          calls.destroy_logical_type(&type);
        }
        calls.bind_set_cardinality(info, (*table)->rows(), true);
        calls.bind_set_bind_data(info, new BoundTable{calls, scan.threads, std::move(*table)},
                                 &destroy<BoundTable>);
      },
      [&](const Error& error) {
        calls.bind_set_error(info, error.message().c_str());
        scan.error = error;
      });
}

void begin(InitInfo info) {
  const DuckDbLibrary& calls = *DuckDbLibrary::get().value();
  guarded(
      [&] {
        const BoundTable& bound = *static_cast<BoundTable*>(calls.init_get_bind_data(info));
        std::vector<std::size_t> columns(calls.init_get_column_count(info));
        for (std::size_t i = 0; i < columns.size(); ++i)
          columns[i] = calls.init_get_column_index(info, i);
        const std::size_t block_rows = calls.vector_size();
        std::vector<std::size_t> first_block{0};
        for (const SqlPart& part : bound.table->parts)
          first_block.push_back(first_block.back() + (part.rows + block_rows - 1) / block_rows);
        const std::size_t blocks = first_block.back();
        calls.init_set_init_data(
            info,
            new Reading{calls, bound.table, std::move(columns), std::move(first_block), block_rows},
            &destroy<Reading>);
        calls.init_set_max_threads(info,
                                   std::clamp<std::size_t>(blocks, 1, std::max(1U, bound.threads)));
      },
      [&](const Error& error) { calls.init_set_error(info, error.message().c_str()); });
}

void fill(Reading& reading, DataChunk chunk) {
  const std::size_t block = reading.next.fetch_add(1, std::memory_order_relaxed);
  const std::vector<std::size_t>& first = reading.first_block;
  if (block >= first.back()) {
    reading.calls.data_chunk_set_size(chunk, 0);
    return;
  }
  const auto behind = std::upper_bound(first.begin(), first.end(), block);
  const auto at = static_cast<std::size_t>(behind - first.begin()) - 1;
  const SqlPart& part = reading.table->parts[at];
  const std::size_t row = (block - first[at]) * reading.block_rows;
  const std::size_t count = std::min(reading.block_rows, part.rows - row);
  for (std::size_t c = 0; c < reading.columns.size(); ++c) {
    const std::size_t column = reading.columns[c];
    const bool known = column < reading.table->columns.size(); // otherwise the query only counts
                                                               // rows
    VectorWriter out(reading.calls, reading.calls.data_chunk_get_vector(chunk, c),
                     known ? reading.table->columns[column].type : CellKind::kNull);
    if (known)
      part.read(column, row, count, [&](std::size_t i, const Value& v) { out.set(i, v); });
    else
      for (std::size_t i = 0; i < count; ++i)
        out.null(i);
  }
  reading.calls.data_chunk_set_size(chunk, count);
}

void next_block(FunctionInfo info, DataChunk chunk) {
  const DuckDbLibrary& calls = *DuckDbLibrary::get().value();
  guarded([&] { fill(*static_cast<Reading*>(calls.function_get_init_data(info)), chunk); },
          [&](const Error& error) { calls.function_set_error(info, error.message().c_str()); });
}

/// If the database does not know a table name, replaces it by a scan of the source's table.
void replace(ReplacementInfo info, const char* name, void* data) {
  const TableScan& scan = *static_cast<TableScan*>(data);
  guarded(
      [&] {
        const std::string known = lowercase(name);
        if (!scan.source.has(known))
          return;
        scan.calls.replacement_scan_set_function_name(info, kFunction);
        Cell text = scan.calls.create_varchar_length(known.data(), known.size());
        scan.calls.replacement_scan_add_parameter(info, text);
        scan.calls.destroy_value(&text);
      },
      [](const Error&) {});
}

void keep(void*) {}

} // namespace

Result<void> register_scan(TableScan& scan, Database database, Connection connection) {
  const DuckDbLibrary& calls = scan.calls;
  TableFunction function = calls.create_table_function();
  calls.table_function_set_name(function, kFunction);
  LogicalType text = calls.create_logical_type(kVarchar);
  calls.table_function_add_parameter(function, text);
  calls.destroy_logical_type(&text);
  calls.table_function_set_extra_info(function, &scan, &keep);
  calls.table_function_set_bind(function, &bind);
  calls.table_function_set_init(function, &begin);
  calls.table_function_set_function(function, &next_block);
  calls.table_function_supports_projection_pushdown(function, true);
  const int state = calls.register_table_function(connection, function);
  calls.destroy_table_function(&function);
  if (state != kSuccess)
    return Error{ErrorCode::kInternal, calls.path, "the table function is refused", ""};
  calls.add_replacement_scan(database, &replace, &scan, &keep);
  return {};
}

} // namespace rankscope
