#include "sql/column_cell.h"

#include "base/number_text.h"
#include "base/utf8.h"

#include <cmath>

namespace rankscope {

std::optional<std::int64_t> integer_cell(const Value& value) {
  constexpr double kLimit = 9.2e18;
  if (value.is_null() || value.kind == CellKind::kText)
    return std::nullopt;
  if (value.kind != CellKind::kDouble)
    return value.i;
  if (std::abs(value.d) > kLimit)
    return std::nullopt;
  return static_cast<std::int64_t>(value.d);
}

std::optional<double> number_cell(const Value& value) {
  if (value.is_null() || value.kind == CellKind::kText)
    return std::nullopt;
  return value.number();
}

std::optional<bool> bool_cell(const Value& value) {
  if (value.is_null())
    return std::nullopt;
  return value.kind == CellKind::kDouble ? value.d != 0 : value.i != 0;
}

std::optional<std::string_view> text_cell(const Value& value, std::string& storage) {
  if (value.is_null())
    return std::nullopt;
  if (value.kind == CellKind::kText && is_utf8(value.text))
    return value.text.data() == nullptr ? std::string_view("") : value.text;
  storage = value.kind == CellKind::kText     ? repaired_utf8(value.text)
            : value.kind == CellKind::kDouble ? python_float(value.d)
            : value.kind == CellKind::kBool   ? std::string(value.i != 0 ? "true" : "false")
                                              : std::to_string(value.i);
  return storage;
}

Value typed_cell(const Value& value, CellKind type, std::string& storage) {
  switch (type) {
  case CellKind::kInt:
    return integer_cell(value);
  case CellKind::kDouble:
    return number_cell(value);
  case CellKind::kBool:
    return bool_cell(value);
  case CellKind::kText:
    return text_cell(value, storage);
  case CellKind::kNull:
    break;
  }
  return {};
}

} // namespace rankscope
