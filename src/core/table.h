// Table: the output of analyses and the input of writers. Cells have types. Units affect only how
// writers format them.
#pragma once

#include "base/string_pool.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// The unit of a column. Writers use it to format cells; the name of the column has no effect.
enum class Unit {
  kNone,
  kNs,
  kUs,
  kMs,
  kSeconds,
  kPercent,
  kRatio,
  kCount,
  kBytes,
  kMiB,
  kGBps,
  kTBps,
  kTflops,
  kGflops,
  kWatt
};

/// Returns "ms", "GB/s", ...; "" for kNone.
[[nodiscard]] const char* unit_name(Unit unit);

enum class CellKind : std::uint8_t { kNull, kInt, kDouble, kBool, kText };

/// The value of a cell of a Table. A text must exist until the row has been added.
class Value {
public:
  Value() = default;
  Value(std::int64_t v) : kind(CellKind::kInt), i(v) {}
  Value(int v) : kind(CellKind::kInt), i(v) {}
  Value(std::uint32_t v) : kind(CellKind::kInt), i(v) {}
  Value(std::uint64_t v) : kind(CellKind::kInt), i(static_cast<std::int64_t>(v)) {}
  Value(double v) : kind(CellKind::kDouble), d(v) {} ///< NaN is written as a blank cell
  Value(bool v) : kind(CellKind::kBool), i(v ? 1 : 0) {}
  Value(std::string_view v) : kind(CellKind::kText), text(v) {}
  Value(const std::string& v) : kind(CellKind::kText), text(v) {}
  Value(std::string&&) = delete; ///< the text would be destroyed before the row is added
  Value(const std::string&&) = delete;
  Value(std::optional<std::string>&&) = delete;
  Value(const char* v) : kind(CellKind::kText), text(v) {}
  template <class T> Value(const std::optional<T>& v) {
    if (v)
      *this = Value(*v);
  }

  CellKind kind = CellKind::kNull;
  std::int64_t i = 0;
  double d = 0;
  std::string_view text;

  [[nodiscard]] bool is_null() const {
    return kind == CellKind::kNull || (kind == CellKind::kDouble && d != d);
  }
  /// Returns an int, bool or double as double; NaN otherwise.
  [[nodiscard]] double number() const;
};

/// Returns "integer", "number", ...; "any" for kNull.
[[nodiscard]] const char* cell_kind_name(CellKind kind);

/// Returns a value that is a blank cell if the text is empty. The text must exist as long as for
/// Value.
[[nodiscard]] inline std::optional<std::string_view> text_or_blank(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// The format of a column in a workbook.
struct ColumnStyle {
  bool hidden = false;
  bool delta = false;  ///< coloured by sign (positive is better)
  int decimals = -1;   ///< number of decimals; -1: the default of the unit
  bool status = false; ///< texts such as Better, Worse, New, coloured by their meaning
  bool nested = false; ///< the texts are lists, as JSON or as Python prints them; in JSON output
                       ///< they are lists, not texts
};

struct Column {
  std::string name; ///< the documented header
  Unit unit = Unit::kNone;
  bool hidden = false; ///< these five fields are as in ColumnStyle
  bool delta = false;
  int decimals = -1;
  bool status = false;
  bool nested = false;
  std::string id = {};             ///< stable name in snake_case; empty for tables of other tools
  CellKind type = CellKind::kNull; ///< kNull: unknown, cells may have any type
  std::string help = {};

  Column(const char* label) : name(label) {}
  Column(std::string label, Unit u = Unit::kNone, bool hide = false, bool by_sign = false,
         int digits = -1, bool by_status = false)
      : name(std::move(label)), unit(u), hidden(hide), delta(by_sign), decimals(digits),
        status(by_status) {}
  Column(std::string stable_id, std::string label, Unit u, CellKind kind, std::string meaning,
         const ColumnStyle& style)
      : name(std::move(label)), unit(u), hidden(style.hidden), delta(style.delta),
        decimals(style.decimals), status(style.status), nested(style.nested),
        id(std::move(stable_id)), type(kind), help(std::move(meaning)) {}
};

/// Returns a value as text for users: numbers with the column's decimals (by default three), texts
/// unchanged.
[[nodiscard]] std::string shown_value(const Value& value, const Column& column);

/// A chart of some rows and columns of a table. In workbooks it is below or next to the table.
struct Chart {
  /// kPoints: value against label (a number), both axes logarithmic.
  enum class Kind { kColumns, kBars, kPoints } kind = Kind::kColumns;
  std::string title;
  std::string value_title; ///< title of the value axis, with its unit
  std::size_t label_column = 0;
  std::vector<std::size_t> value_columns;
  std::size_t first_row = 0, last_row = 0; ///< range of rows; last_row is not included
  /// Consecutive rows that form one series. The first part starts at first_row.
  struct Part {
    std::string name;
    std::size_t rows = 0;
    bool line = false; ///< joined by a line, without markers
  };
  std::string label_title = {}; ///< for kPoints: title of the label axis, with its unit
  std::vector<Part> parts = {}; ///< for kPoints
};

/// The layout in a workbook of a table that has the same metrics for several members (for ranks:
/// count_0, count_1, min_dur_0, ...). The table has three header rows; the first one contains the
/// metrics, each above the columns of its members.
struct Pivot {
  struct Place {
    std::string metric;
    std::int64_t member = 0;
  };
  std::string axis;     ///< what the members are, for example "rank"
  std::size_t keys = 0; ///< number of key columns at the left; equal cells are merged in all of
                        ///< these columns except the last
  std::vector<Place> places; ///< one for each column after the key columns; the columns of a metric
                             ///< are adjacent
};

/// A table. Cells are stored by rows, because tables are filled, sorted and cut by rows (measured
/// in docs/decisions). Each distinct text is stored once. The text in a Value from at() is valid as
/// long as the Table. A copy has its own rows and shares the memory of the existing texts, which is
/// not written any more. So different threads may change copies, and several threads may copy one
/// table.
class Table {
public:
  Table() : Table("", {}) {}
  Table(std::string name, std::vector<Column> columns);

  [[nodiscard]] const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] std::vector<Column>& columns() { return columns_; }
  [[nodiscard]] std::size_t cols() const { return columns_.size(); }
  [[nodiscard]] std::size_t rows() const {
    return columns_.empty() ? 0 : cells_.size() / columns_.size();
  }
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;

  /// Adds a row. If values are missing at the end, their cells are blank; more values than columns
  /// are a bug.
  void add_row(const std::vector<Value>& values);
  [[nodiscard]] Value at(std::size_t row, std::size_t col) const;
  /// Returns the cell in the column with this name; a null Value if there is no such column.
  [[nodiscard]] Value at(std::size_t row, std::string_view column_name) const;
  void set(std::size_t row, std::size_t col, const Value& value);
  /// Appends a column. `values` has one entry for each row, or is empty: then all cells are blank.
  void add_column(Column column, const std::vector<Value>& values);
  /// Changes the order of the rows: new row i is the old row order[i]. Rows that are not in `order`
  /// are removed.
  void reorder(const std::vector<std::size_t>& order);
  /// Returns a table with those of the named columns that exist, in the given order.
  [[nodiscard]] Table select(const std::vector<std::string>& names) const;

  /// Texts that are shown below the table in workbooks and on the console.
  std::vector<std::string> notes;
  std::vector<Chart> charts;
  std::optional<Pivot> pivot;
  bool hidden = false;   ///< hidden sheet
  bool styled = false;   ///< formatted as an Excel table with row stripes and filters
  std::string tab_color; ///< "#RRGGBB" or empty

private:
  struct Cell {
    CellKind kind = CellKind::kNull;
    union {
      std::int64_t i = 0;
      double d;
      StrId text;
    };
  };
  /// Copies share the memory of existing texts; see StringPool::share().
  struct Texts {
    StringPool pool;
    Texts() = default;
    Texts(const Texts& other) : pool(other.pool.share()) {}
    Texts(Texts&&) noexcept = default;
    Texts& operator=(const Texts& other) {
      pool = other.pool.share();
      return *this;
    }
    Texts& operator=(Texts&&) noexcept = default;
    ~Texts() = default;
  };
  Cell make(const Value& value);

  std::string name_;
  std::vector<Column> columns_;
  std::vector<Cell> cells_;
  Texts texts_;
};

} // namespace rankscope
