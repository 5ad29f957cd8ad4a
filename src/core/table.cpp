#include "core/table.h"

#include "base/invariant.h"
#include "base/number_text.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace rankscope {
namespace {

constexpr std::pair<Unit, const char*> kUnitNames[] = {
    {Unit::kNs, "ns"},        {Unit::kUs, "us"},       {Unit::kMs, "ms"},
    {Unit::kSeconds, "s"},    {Unit::kPercent, "%"},   {Unit::kRatio, "ratio"},
    {Unit::kCount, "count"},  {Unit::kBytes, "bytes"}, {Unit::kMiB, "MiB"},
    {Unit::kGBps, "GB/s"},    {Unit::kTBps, "TB/s"},   {Unit::kTflops, "TFLOPS/s"},
    {Unit::kGflops, "GFLOP"}, {Unit::kWatt, "W"}};

} // namespace

const char* unit_name(Unit unit) {
  for (const auto& [known, name] : kUnitNames)
    if (known == unit)
      return name;
  return "";
}

const char* cell_kind_name(CellKind kind) {
  switch (kind) {
  case CellKind::kNull:
    return "any";
  case CellKind::kInt:
    return "integer";
  case CellKind::kDouble:
    return "number";
  case CellKind::kBool:
    return "boolean";
  case CellKind::kText:
    return "text";
  }
  return "";
}

std::string shown_value(const Value& value, const Column& column) {
  switch (value.kind) {
  case CellKind::kInt:
    return std::to_string(value.i);
  case CellKind::kBool:
    return value.i != 0 ? "yes" : "no";
  case CellKind::kDouble:
    return std::isfinite(value.d) ? fixed_text(value.d, column.decimals >= 0 ? column.decimals : 3)
                                  : "";
  case CellKind::kText:
    return std::string(value.text);
  case CellKind::kNull:
    break;
  }
  return "";
}

double Value::number() const {
  switch (kind) {
  case CellKind::kInt:
  case CellKind::kBool:
    return static_cast<double>(i);
  case CellKind::kDouble:
    return d;
  case CellKind::kNull:
  case CellKind::kText:
    break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

Table::Table(std::string name, std::vector<Column> columns)
    : name_(std::move(name)), columns_(std::move(columns)) {}

std::optional<std::size_t> Table::column(std::string_view name) const {
  for (std::size_t c = 0; c < columns_.size(); ++c)
    if (columns_[c].name == name)
      return c;
  return std::nullopt;
}

Table::Cell Table::make(const Value& value) {
  Cell cell;
  cell.kind = value.kind;
  switch (value.kind) {
  case CellKind::kDouble:
    cell.d = value.d;
    break;
  case CellKind::kText:
    cell.text = texts_.pool.intern(value.text);
    break;
  case CellKind::kInt:
  case CellKind::kBool:
    cell.i = value.i;
    break;
  case CellKind::kNull:
    break;
  }
  return cell;
}

void Table::add_row(const std::vector<Value>& values) {
  RS_ASSERT(values.size() <= columns_.size());
  for (const Value& v : values)
    cells_.push_back(make(v));
  cells_.resize(cells_.size() + columns_.size() - values.size());
}

Value Table::at(std::size_t row, std::size_t col) const {
  const Cell& cell = cells_[row * columns_.size() + col];
  Value v;
  v.kind = cell.kind;
  if (cell.kind == CellKind::kDouble)
    v.d = cell.d;
  else if (cell.kind == CellKind::kText)
    v.text = texts_.pool.view(cell.text);
  else
    v.i = cell.i;
  return v;
}

Value Table::at(std::size_t row, std::string_view column_name) const {
  const auto col = column(column_name);
  return col ? at(row, *col) : Value();
}

void Table::set(std::size_t row, std::size_t col, const Value& value) {
  RS_ASSERT(row < rows() && col < columns_.size());
  cells_[row * columns_.size() + col] = make(value);
}

void Table::add_column(Column column, const std::vector<Value>& values) {
  const std::size_t old_cols = columns_.size();
  const std::size_t n = old_cols == 0 ? values.size() : rows();
  RS_ASSERT(values.size() <= n);
  std::vector<Cell> cells;
  cells.reserve(n * (old_cols + 1));
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t c = 0; c < old_cols; ++c)
      cells.push_back(cells_[r * old_cols + c]);
    cells.push_back(r < values.size() ? make(values[r]) : Cell());
  }
  columns_.push_back(std::move(column));
  cells_ = std::move(cells);
}

void Table::reorder(const std::vector<std::size_t>& order) {
  std::vector<Cell> cells;
  cells.reserve(order.size() * columns_.size());
  for (const std::size_t r : order) {
    RS_ASSERT(r < rows());
    for (std::size_t c = 0; c < columns_.size(); ++c)
      cells.push_back(cells_[r * columns_.size() + c]);
  }
  cells_ = std::move(cells);
}

Table Table::select(const std::vector<std::string>& names) const {
  Table out(name_, {});
  std::vector<std::size_t> picked;
  for (const std::string& n : names)
    if (const auto c = column(n)) {
      picked.push_back(*c);
      out.columns_.push_back(columns_[*c]);
    }
  out.texts_ = texts_;
  out.notes = notes;
  for (std::size_t r = 0; r < rows(); ++r)
    for (const std::size_t c : picked)
      out.cells_.push_back(cells_[r * columns_.size() + c]);
  return out;
}

} // namespace rankscope
