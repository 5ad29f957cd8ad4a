// SqlTable: facts as a table that SQL reads where they lie. Columns come from the schema of the
// facts, cells from its getters, and only those that the query needs are asked for.
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

/// Rows that lie together (those of a rank). `value`: any thread, several at once; a text it shows
/// lives with the part.
struct SqlPart {
  std::size_t rows = 0;
  /// Calls `take(i, value)` for rows first to first + count - 1 of a column, i from 0.
  using Take = std::function<void(std::size_t i, const Value& value)>;
  std::function<void(std::size_t column, std::size_t first, std::size_t count, const Take& take)>
      read;
};

struct SqlTable {
  std::string name; ///< lower case
  std::string help;
  std::vector<Column> columns; ///< with ids, which SQL knows them by, and types other than kNull
  std::vector<SqlPart> parts;
  [[nodiscard]] std::size_t rows() const;
};

/// Rows of facts that are made when they are read: `row(i)` of `rows`. The schema outlives the
/// part. Example: of each event of a trace, in place.
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

/// The same of rows that are there; the part keeps them.
template <class Row>
[[nodiscard]] SqlPart part_of(const Schema<Row>& schema, std::vector<Row> rows) {
  const auto all = std::make_shared<const std::vector<Row>>(std::move(rows));
  return part_of_rows<Row>(schema, all->size(), [all](std::size_t i) { return (*all)[i]; });
}

/// Each column has an id: its own, or its header's in snake_case.
[[nodiscard]] std::vector<Column> with_ids(std::vector<Column> columns);

/// A table of the schema's name without a part.
template <class Row> [[nodiscard]] SqlTable table_of(const Schema<Row>& schema) {
  SqlTable out;
  out.name = schema.name();
  out.help = schema.help();
  out.columns = with_ids(schema.columns());
  return out;
}

/// Cells that stand in front of each row of a sheet: its run and, in sheets of a rank, that.
struct SheetPlace {
  std::string run;
  std::optional<std::int64_t> rank;
};

/// A sheet of several runs or ranks as one table: columns `run` and (where a sheet has one) `rank`
/// in front unless the sheet itself has such a column, then all columns of the sheets by id in the
/// order in which they appear; what one of them lacks is NULL. Columns of no stated type get one
/// from their cells: integers, numbers, booleans, else text. `known`: the columns where there is
/// no sheet.
[[nodiscard]] SqlTable
table_of_sheets(std::string name, std::string help,
                const std::vector<std::pair<SheetPlace, std::shared_ptr<const Table>>>& sheets,
                const std::vector<Column>& known, bool of_ranks);

/// The rows of a statement; columns are called as in `rows`.
[[nodiscard]] SqlTable table_of_result(std::shared_ptr<const Table> rows);

/// A copy of all rows, for writers; cells have the types of their columns.
[[nodiscard]] Table copied_rows(const SqlTable& table);

} // namespace rankscope
