// Schema: the list of columns that makes a Table from facts of one kind (plain structs). Sheets,
// CSV, JSON, SQL, pages, the column dictionary and the comments in workbook headers are made from
// it. Code reads `row.field`; it never searches a cell by its printed header.
#pragma once

#include "base/units.h"
#include "core/table.h"

#include <functional>
#include <initializer_list>
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
  std::function<Value(const void*)> get; ///< of the address of a row
  CellKind type;

  template <class Source>
  requires(cell_kind_of<std::invoke_result_t<const Source&, const Row&>>() != CellKind::kNull)
      Getter(Source source)
      : Getter(source, cell_kind_of<std::invoke_result_t<const Source&, const Row&>>()) {}
  /// `source` may return a Value.
  template <class Source>
  Getter(Source source, CellKind kind)
      : get([source](const void* row) {
          return Value(std::invoke(source, *static_cast<const Row*>(row)));
        }),
        type(kind) {}
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
/// is the id. The type of the rows is left out, so that the code for columns is compiled once.
struct AnyField {
  std::string id;
  std::string label;
  Unit unit;
  CellKind type;
  std::function<Value(const void*)> get; ///< a returned text is stored in the row (or is static)
  std::string help;                      ///< description of the column; empty = the one in
                                         ///< core/column_help.h
  ColumnStyle style;

  AnyField(std::string_view stable_id, std::string_view header, Unit u, CellKind kind,
           std::function<Value(const void*)> value, std::string_view meaning, ColumnStyle how);
  [[nodiscard]] Column column() const;
};

/// One column of a table with rows of the type Row.
template <class Row> struct Field : AnyField {
  Field(std::string_view stable_id, std::string_view header, Unit u, Getter<Row> value,
        std::string_view meaning = {}, ColumnStyle how = {})
      : AnyField(stable_id, header, u, value.type, std::move(value.get), meaning, how) {}
  Field(std::string_view stable_id, Unit u, Getter<Row> value, std::string_view meaning = {},
        ColumnStyle how = {})
      : Field(stable_id, stable_id, u, std::move(value), meaning, how) {}
  Field(std::string_view stable_id, Getter<Row> value, std::string_view meaning = {},
        ColumnStyle how = {})
      : Field(stable_id, stable_id, Unit::kNone, std::move(value), meaning, how) {}
  template <class Source>
  Field(std::string_view stable_id, std::string_view header, Unit u, CellKind kind, Source value,
        std::string_view meaning = {}, ColumnStyle how = {})
      : Field(stable_id, header, u, Getter<Row>(value, kind), meaning, how) {}
  /// A field of another schema for the same rows.
  explicit Field(AnyField field) : AnyField(std::move(field)) {}
};

/// Name, description and columns of a sheet, for users and programs: the source of the column
/// dictionary.
struct SheetInfo {
  std::string name;
  std::string help;
  std::vector<Column> columns;
};

class AnySchema {
public:
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& help() const { return help_; }
  [[nodiscard]] const std::vector<AnyField>& fields() const { return fields_; }
  [[nodiscard]] std::vector<Column> columns() const;
  [[nodiscard]] SheetInfo info() const { return {name_, help_, columns()}; }
  void rename(std::string_view name) { name_ = name; }

protected:
  AnySchema(std::string_view name, std::string_view help) : name_(name), help_(help) {}
  void add_field(AnyField field);
  /// Returns a table of `count` rows. `rows` is the address of the first one, and `bytes` the size
  /// of each.
  [[nodiscard]] Table table_of(const void* rows, std::size_t count, std::size_t bytes) const;

private:
  std::string name_;
  std::string help_;
  std::vector<AnyField> fields_;
};

template <class Row> class Schema : public AnySchema {
public:
  Schema(std::string_view name, std::string_view help,
         std::initializer_list<Field<Row>> fields = {})
      : AnySchema(name, help) {
    for (const Field<Row>& f : fields)
      add_field(f);
  }

  void add(Field<Row> field) { add_field(std::move(field)); }
  /// Adds the fields of a member of the row. `part` (const Row& to const Part&) returns this
  /// member.
  template <class Part, class Reach> void add_fields_of(const Schema<Part>& schema, Reach part) {
    for (const AnyField& f : schema.fields())
      add_field({f.id, f.label, f.unit, f.type,
                 [get = f.get, part](const void* row) {
                   return get(&part(*static_cast<const Row*>(row)));
                 },
                 f.help, f.style});
  }

  /// Returns a table with one row for each element of `rows`, in the same order.
  [[nodiscard]] Table table(std::span<const Row> rows) const {
    return table_of(rows.data(), rows.size(), sizeof(Row));
  }
};

} // namespace rankscope
