// SqlTable: facts as a table that SQL reads without a copy. The schema of the facts defines the
// columns, and its getters return the cells. A query reads only the cells that it needs.
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

/// Rows that are stored together (those of one rank). Several threads may call `read` at the same
/// time. A text that it passes stays valid as long as the part.
struct SqlPart {
  std::size_t rows = 0;
  /// Calls `take(i, value)` for rows first to first + count - 1 of a column; i counts from 0.
  using Take = std::function<void(std::size_t i, const Value& value)>;
  std::function<void(std::size_t column, std::size_t first, std::size_t count, const Take& take)>
      read;
};

struct SqlTable {
  std::string name; ///< lower case
  std::string help;
  std::vector<Column> columns; ///< with ids (their names in SQL) and types other than kNull
  std::vector<SqlPart> parts;
  [[nodiscard]] std::size_t rows() const;
};

/// Returns a part with `rows` rows; `row(i)` makes row i when it is read. The schema must outlive
/// the part. Example: one row per event of a trace, without a copy.
template <class Row>
[[nodiscard]] SqlPart part_of_rows(const Schema<Row>& schema, std::size_t rows,
                                   std::function<Row(std::size_t)> row) {
  SqlPart out;
  out.rows = rows;
  out.read = [&schema, row = std::move(row)](std::size_t column, std::size_t first,
                                             std::size_t count, const SqlPart::Take& take) {
    const auto& get = schema.fields()[column].get;
    for (std::size_t i = 0; i < count; ++i) {
      const Row of = row(first + i);
      take(i, get(of));
    }
  };
  return out;
}

/// Returns a part with existing rows, which the part owns.
template <class Row>
[[nodiscard]] SqlPart part_of(const Schema<Row>& schema, std::vector<Row> rows) {
  const auto all = std::make_shared<const std::vector<Row>>(std::move(rows));
  return part_of_rows<Row>(schema, all->size(), [all](std::size_t i) { return (*all)[i]; });
}

/// Sets the id of each column without one to its header in snake_case.
[[nodiscard]] std::vector<Column> with_ids(std::vector<Column> columns);

/// Returns a table with the schema's name and no parts.
template <class Row> [[nodiscard]] SqlTable table_of(const Schema<Row>& schema) {
  SqlTable out;
  out.name = schema.name();
  out.help = schema.help();
  out.columns = with_ids(schema.columns());
  return out;
}

/// The run of a sheet and, if the sheet belongs to one rank, the rank; the first cells of its rows.
struct SheetPlace {
  std::string run;
  std::optional<std::int64_t> rank;
};

/// Joins the sheets of several runs or ranks into one table. Columns `run` and (if a sheet has a
/// rank) `rank` come first unless a sheet has such a column. Then all columns of the sheets follow
/// by id, in order of appearance. Cells that a sheet lacks are NULL. Columns without a type get it
/// from their cells: integer, number, boolean, else text. `known`: the columns if there is no
/// sheet.
[[nodiscard]] SqlTable
table_of_sheets(std::string name, std::string help,
                const std::vector<std::pair<SheetPlace, std::shared_ptr<const Table>>>& sheets,
                const std::vector<Column>& known, bool of_ranks);

/// Returns the rows of a statement as a table; its columns have the names in `rows`.
[[nodiscard]] SqlTable table_of_result(std::shared_ptr<const Table> rows);

/// Returns a copy of all rows, for writers. Cells have the types of their columns.
[[nodiscard]] Table copied_rows(const SqlTable& table);

} // namespace rankscope
