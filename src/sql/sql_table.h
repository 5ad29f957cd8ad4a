// SqlTable: facts as a table that SQL reads without a copy. The schema of the facts defines the
// columns, and its getters return the cells. A query reads only the cells that it uses.
#pragma once

#include "base/result.h"
#include "core/schema.h"
#include "core/table.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// Rows that are stored together (for example those of one rank). Several threads may call `read`
/// at the same time. A text that `read` passes to `use` is valid as long as this object.
struct SqlPart {
  std::size_t rows = 0;
  /// Calls `use(i, value)` for rows first to first + count - 1 of a column; i begins at 0.
  using Take = std::function<void(std::size_t i, const Value& value)>;
  std::function<void(std::size_t column, std::size_t first, std::size_t count, const Take& use)>
      read;
};

struct SqlTable {
  std::string name; ///< lower case
  std::string help;
  std::vector<Column> columns; ///< columns with ids (their names in SQL) and with types other than
                               ///< kNull
  std::vector<SqlPart> parts;
  [[nodiscard]] std::size_t rows() const;
};

/// Returns a part with `rows` rows; `row(i)` makes row i each time it is read. The schema must
/// outlive the part. Example: one row for each event of a trace, without a copy.
template <class Row>
[[nodiscard]] SqlPart part_of_rows(const Schema<Row>& schema, std::size_t rows,
                                   std::function<Row(std::size_t)> row) {
  SqlPart out;
  out.rows = rows;
  out.read = [&schema, row = std::move(row)](std::size_t column, std::size_t first,
                                             std::size_t count, const SqlPart::Take& use) {
    const auto& get = schema.fields()[column].get;
    for (std::size_t i = 0; i < count; ++i) {
      const Row current = row(first + i);
      use(i, get(&current));
    }
  };
  return out;
}

/// Returns a part that owns and contains these rows.
template <class Row>
[[nodiscard]] SqlPart part_of(const Schema<Row>& schema, std::vector<Row> rows) {
  const auto all = std::make_shared<const std::vector<Row>>(std::move(rows));
  return part_of_rows<Row>(schema, all->size(), [all](std::size_t i) { return (*all)[i]; });
}

/// Sets the id of each column that has no id to its header in snake_case.
[[nodiscard]] std::vector<Column> with_ids(std::vector<Column> columns);

/// Returns a table with the name and columns of the schema, without rows.
template <class Row> [[nodiscard]] SqlTable table_of(const Schema<Row>& schema) {
  SqlTable out;
  out.name = schema.name();
  out.help = schema.help();
  out.columns = with_ids(schema.columns());
  return out;
}

/// The run of a sheet and, if the sheet is about one rank, the rank. They are the first cells of
/// its rows.
struct SheetPlace {
  std::string run;
  std::optional<std::int64_t> rank;
};

/// Joins the sheets of several runs or ranks into one table. The first columns are `run` and, with
/// `per_rank`, `rank`, unless a sheet has a column with this id. They are followed by all columns
/// of the sheets, each id once, in the order of their first occurrence. If a sheet does not have a
/// column, its cells are NULL. The type of a column without a type depends on its cells: integer,
/// number, boolean, else text. `known`: the columns if there are no sheets.
[[nodiscard]] SqlTable
table_of_sheets(std::string name, std::string help,
                const std::vector<std::pair<SheetPlace, std::shared_ptr<const Table>>>& sheets,
                const std::vector<Column>& known, bool per_rank);

/// Returns a table with the rows of a query result; column ids are the names in `rows`.
[[nodiscard]] SqlTable table_of_result(std::shared_ptr<const Table> rows);

/// Returns a copy of all rows, for writers. Cells are converted to the types of their columns.
[[nodiscard]] Table copied_rows(const SqlTable& table);

} // namespace rankscope
