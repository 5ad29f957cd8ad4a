// Schema: the one list of columns by which facts of one kind (plain structs) become a Table.
// Sheets, CSV, JSON, SQL, pages, the column dictionary and comments in workbook headers come from
// it; code reads `row.field`, never a cell by its printed header.
#pragma once

#include "core/column_help.h"
#include "core/table.h"

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// One column. `id` is stable snake_case for JSON, SQL, Parquet and pages ("bus_bw_gbps_mean");
/// `label` is the documented header ("bus bw (GB/s)_mean").
template <class Row> struct Field {
  std::string id;
  std::string label;
  Unit unit = Unit::kNone;
  CellKind type = CellKind::kDouble;
  std::function<Value(const Row&)> get; ///< a text it shows lives in the row (or is static)
  std::string help = {};                ///< what it means; empty = core/column_help.h says it
  ColumnStyle style = {};

  [[nodiscard]] Column column() const {
    return Column(id, label, unit, type,
                  help.empty() ? std::string(shared_column_help(label)) : help, style);
  }
};

/// A sheet as people and other programs see it: what the column dictionary is made of.
struct SheetInfo {
  std::string name;
  std::string help;
  std::vector<Column> columns;
};

template <class Row> class Schema {
public:
  Schema(std::string name, std::string help, std::vector<Field<Row>> fields = {})
      : name_(std::move(name)), help_(std::move(help)), fields_(std::move(fields)) {}

  void add(Field<Row> field) { fields_.push_back(std::move(field)); }
  /// The fields of a part of the row, which `part` (const Row& to const Part&) reaches.
  template <class Part, class Reach> void add_fields_of(const Schema<Part>& of, Reach part) {
    for (const Field<Part>& f : of.fields())
      fields_.push_back({f.id, f.label, f.unit, f.type,
                         [get = f.get, part](const Row& row) { return get(part(row)); }, f.help,
                         f.style});
  }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& help() const { return help_; }
  [[nodiscard]] const std::vector<Field<Row>>& fields() const { return fields_; }

  [[nodiscard]] std::vector<Column> columns() const {
    std::vector<Column> out;
    out.reserve(fields_.size());
    for (const Field<Row>& f : fields_)
      out.push_back(f.column());
    return out;
  }

  [[nodiscard]] SheetInfo info() const { return {name_, help_, columns()}; }

  /// One row per fact, in their order.
  [[nodiscard]] Table table(std::span<const Row> rows) const {
    Table out(name_, columns());
    std::vector<Value> values(fields_.size());
    for (const Row& row : rows) {
      for (std::size_t c = 0; c < fields_.size(); ++c)
        values[c] = fields_[c].get(row);
      out.add_row(values);
    }
    return out;
  }

private:
  std::string name_;
  std::string help_;
  std::vector<Field<Row>> fields_;
};

} // namespace rankscope
