// Schema: the list of columns that makes a Table from facts of one kind (plain structs). Sheets,
// CSV, JSON, SQL, pages, the column dictionary and the comments in workbook headers are made from
// it. Code reads `row.field`; it never searches a cell by its printed header.
#pragma once

#include "base/units.h"
#include "core/column_help.h"
#include "core/table.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rankscope {

/// Returns the type of a cell that contains a T.
template <class T> [[nodiscard]] consteval CellKind cell_kind_of() {
  using Plain = std::remove_cvref_t<T>;
  if constexpr (requires {
                  typename Plain::value_type;
                  std::declval<Plain>().has_value();
                })
    return cell_kind_of<typename Plain::value_type>(); // std::optional
  else if constexpr (std::is_same_v<Plain, bool>)
    return CellKind::kBool;
  else if constexpr (std::is_integral_v<Plain>)
    return CellKind::kInt;
  else if constexpr (std::is_floating_point_v<Plain>)
    return CellKind::kDouble;
  else if constexpr (std::is_convertible_v<Plain, std::string_view>)
    return CellKind::kText;
  else
    return CellKind::kNull;
}

/// The source of a column's value: a member (&Row::ms), or a function of the row that returns a
/// number, a bool or a text, or a std::optional of one of these. A text must be stored in the row
/// or be static.
template <class Row> struct Getter {
  std::function<Value(const Row&)> get;
  CellKind type;

  template <class Source>
  requires(cell_kind_of<std::invoke_result_t<const Source&, const Row&>>() != CellKind::kNull)
      Getter(Source source)
      : get([source](const Row& row) { return Value(std::invoke(source, row)); }),
        type(cell_kind_of<std::invoke_result_t<const Source&, const Row&>>()) {}
};

/// Getters for members: or_blank() makes a blank cell of an empty text; in_us() and in_ms() convert
/// nanoseconds.
template <class Row, class Text> [[nodiscard]] auto or_blank(Text Row::*text) {
  return [text](const Row& row) { return text_or_blank(row.*text); };
}
template <class Row, class Ns> [[nodiscard]] auto in_us(Ns Row::*ns) {
  return [ns](const Row& row) { return ns_to_us(row.*ns); };
}
template <class Row, class Ns> [[nodiscard]] auto in_ms(Ns Row::*ns) {
  return [ns](const Row& row) { return ns_to_ms(row.*ns); };
}

/// One column. `id` is a stable name in snake_case for JSON, SQL, Parquet and pages
/// ("bus_bw_gbps_mean"). `label` is the documented header ("bus bw (GB/s)_mean"); if not given, it
/// is the id.
template <class Row> struct Field {
  std::string id;
  std::string label;
  Unit unit = Unit::kNone;
  CellKind type = CellKind::kDouble;
  std::function<Value(const Row&)> get; ///< a returned text is stored in the row (or is static)
  std::string help = {};                ///< description of the column; empty = the one in
                                        ///< core/column_help.h
  ColumnStyle style = {};

  Field(std::string stable_id, std::string header, Unit u, CellKind kind,
        std::function<Value(const Row&)> value, std::string meaning = {}, ColumnStyle how = {})
      : id(std::move(stable_id)), label(std::move(header)), unit(u), type(kind),
        get(std::move(value)), help(std::move(meaning)), style(how) {}
  Field(std::string stable_id, std::string header, Unit u, Getter<Row> value,
        std::string meaning = {}, ColumnStyle how = {})
      : Field(std::move(stable_id), std::move(header), u, value.type, std::move(value.get),
              std::move(meaning), how) {}
  Field(const std::string& stable_id, Unit u, Getter<Row> value, std::string meaning = {},
        ColumnStyle how = {})
      : Field(stable_id, stable_id, u, std::move(value), std::move(meaning), how) {}
  Field(const std::string& stable_id, Getter<Row> value, std::string meaning = {},
        ColumnStyle how = {})
      : Field(stable_id, stable_id, Unit::kNone, std::move(value), std::move(meaning), how) {}

  [[nodiscard]] Column column() const {
    return Column(id, label, unit, type,
                  help.empty() ? std::string(shared_column_help(label)) : help, style);
  }
};

/// Name, description and columns of a sheet, for users and programs: the source of the column
/// dictionary.
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
  /// Adds the fields of a member of the row. `part` (const Row& to const Part&) returns this
  /// member.
  template <class Part, class Reach> void add_fields_of(const Schema<Part>& schema, Reach part) {
    for (const Field<Part>& f : schema.fields())
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

  /// Returns a table with one row for each element of `rows`, in the same order.
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
