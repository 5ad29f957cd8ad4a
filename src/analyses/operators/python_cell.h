// Texts of Python values as cells.
#pragma once

#include "core/table.h"

#include <string>

namespace rankscope {

/// A Python repr as a typed cell: numbers as numbers, None blank, texts without quotes. The text
/// must outlive the cell.
[[nodiscard]] Value python_cell(const std::string& repr);

/// The same as the reference's tables have it: "None" and "nan" are texts.
[[nodiscard]] Value reference_cell(const std::string& repr);

/// The texts of a parameter over the calls of a sheet, as the reference writes them. Its table
/// library gives each column one type before it makes texts of it: in a column of numbers, None and
/// absent values are "nan", and integers are floats where the column has these or floats. Elsewhere
/// None stays "None", and only absent values are "nan". Worked example: 4, None
/// -> "4.0", "nan"; "(1,)", None, absent -> "(1,)", "None", "nan".
class ReferenceTexts {
public:
  /// A call's repr; nullptr: it has no such parameter.
  void add(const std::string* repr);
  /// Of one of the values added; "" when no call has the parameter.
  [[nodiscard]] std::string text(const std::string* repr) const;

private:
  bool known_ = false; ///< some call has it
  bool integers_ = false, floats_ = false, others_ = false, gaps_ = false;
};

} // namespace rankscope
