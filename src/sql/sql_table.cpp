#include "sql/sql_table.h"

#include "base/snake_case.h"
#include "sql/column_cell.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

namespace rankscope {
namespace {

std::string id_of(const Column& column) {
  return column.id.empty() ? snake_case(column.name) : snake_case(column.id);
}

/// Returns the common type of two cells: double for integer and double, text for all other
/// combinations.
CellKind joined(CellKind a, CellKind b) {
  if (a == CellKind::kNull || a == b)
    return b;
  if (b == CellKind::kNull)
    return a;
  const auto number = [](CellKind k) { return k == CellKind::kInt || k == CellKind::kDouble; };
  return number(a) && number(b) ? CellKind::kDouble : CellKind::kText;
}

CellKind kind_of_cells(const Table& table, std::size_t column) {
  CellKind out = CellKind::kNull;
  for (std::size_t r = 0; r < table.rows() && out != CellKind::kText; ++r)
    if (const Value v = table.at(r, column); !v.is_null())
      out = joined(out, v.kind);
  return out;
}

using Sheets = std::vector<std::pair<SheetPlace, std::shared_ptr<const Table>>>;

/// The columns of all sheets without duplicates, and their positions by id.
class Columns {
public:
  void add(const Column& column, CellKind kind) {
    const std::string id = id_of(column);
    const auto [at, fresh] = places_.try_emplace(id, columns_.size());
    if (fresh) {
      columns_.push_back(column);
      columns_.back().id = id;
      columns_.back().type = kind;
    } else {
      columns_[at->second].type = joined(columns_[at->second].type, kind);
    }
  }
  [[nodiscard]] bool has(const std::string& id) const { return places_.count(id) > 0; }
  [[nodiscard]] const std::vector<Column>& all() const { return columns_; }

private:
  std::vector<Column> columns_;
  std::map<std::string, std::size_t> places_;
};

Columns columns_of(const Sheets& sheets, const std::vector<Column>& known) {
  Columns out;
  for (const auto& [place, table] : sheets)
    for (std::size_t c = 0; c < table->cols(); ++c) {
      const Column& column = table->columns()[c];
      out.add(column, column.type == CellKind::kNull ? kind_of_cells(*table, c) : column.type);
    }
  if (sheets.empty())
    for (const Column& column : known)
      out.add(column, column.type);
  return out;
}

SqlPart part_of_sheet(const SheetPlace& place, std::shared_ptr<const Table> table,
                      const std::vector<Column>& columns, bool run, bool rank) {
  std::vector<std::optional<std::size_t>> from(columns.size());
  for (std::size_t c = (run ? 1U : 0U) + (rank ? 1U : 0U); c < columns.size(); ++c)
    for (std::size_t at = 0; at < table->cols() && !from[c]; ++at)
      if (id_of(table->columns()[at]) == columns[c].id)
        from[c] = at;
  SqlPart out;
  out.rows = table->rows();
  out.read = [place, table = std::move(table), from, run,
              rank](std::size_t column, std::size_t first, std::size_t count,
                    const SqlPart::Take& use) {
    for (std::size_t i = 0; i < count; ++i) {
      if (run && column == 0)
        use(i, Value(std::string_view(place.run)));
      else if (rank && column == (run ? 1U : 0U))
        use(i, Value(place.rank));
      else
        use(i, from[column] ? table->at(first + i, *from[column]) : Value());
    }
  };
  return out;
}

} // namespace

std::size_t SqlTable::rows() const {
  return std::accumulate(parts.begin(), parts.end(), std::size_t{0},
                         [](std::size_t sum, const SqlPart& part) { return sum + part.rows; });
}

std::vector<Column> with_ids(std::vector<Column> columns) {
  for (Column& c : columns)
    c.id = c.id.empty() ? snake_case(c.name) : c.id;
  return columns;
}

SqlTable table_of_sheets(std::string name, std::string help, const Sheets& sheets,
                         const std::vector<Column>& known, bool per_rank) {
  const Columns found = columns_of(sheets, known);
  const bool run = !found.has("run");
  const bool rank = per_rank && !found.has("rank");
  SqlTable out;
  out.name = std::move(name);
  out.help = std::move(help);
  if (run)
    out.columns.emplace_back("run", "run", Unit::kNone, CellKind::kText,
                             "configuration or folder of the run", ColumnStyle{});
  if (rank)
    out.columns.emplace_back("rank", "rank", Unit::kNone, CellKind::kInt, "of the trace",
                             ColumnStyle{});
  out.columns.insert(out.columns.end(), found.all().begin(), found.all().end());
  for (Column& column : out.columns)
    if (column.type == CellKind::kNull)
      column.type = CellKind::kText;
  for (const auto& [place, table] : sheets)
    out.parts.push_back(part_of_sheet(place, table, out.columns, run, rank));
  return out;
}

SqlTable table_of_result(std::shared_ptr<const Table> rows) {
  SqlTable out;
  out.name = rows->name();
  out.columns = rows->columns();
  for (std::size_t c = 0; c < out.columns.size(); ++c) {
    Column& column = out.columns[c];
    column.id = column.name;
    if (column.type == CellKind::kNull)
      column.type = kind_of_cells(*rows, c);
    if (column.type == CellKind::kNull)
      column.type = CellKind::kText;
  }
  SqlPart part;
  part.rows = rows->rows();
  part.read = [rows = std::move(rows)](std::size_t column, std::size_t first, std::size_t count,
                                       const SqlPart::Take& use) {
    for (std::size_t i = 0; i < count; ++i)
      use(i, rows->at(first + i, column));
  };
  out.parts.push_back(std::move(part));
  return out;
}

Table copied_rows(const SqlTable& table) {
  Table out(table.name, table.columns);
  std::string storage;
  for (const SqlPart& part : table.parts) {
    const std::size_t before = out.rows();
    for (std::size_t i = 0; i < part.rows; ++i)
      out.add_row({});
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      part.read(c, 0, part.rows, [&](std::size_t i, const Value& v) {
        out.set(before + i, c, typed_cell(v, table.columns[c].type, storage));
      });
  }
  return out;
}

} // namespace rankscope
