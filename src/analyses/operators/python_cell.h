// Conversion of Python reprs to cells.
#pragma once

#include "core/table.h"

#include <string>

namespace rankscope {

/// Converts a Python repr to a typed cell: numbers stay numbers, None is blank, texts lose their
/// quotes. The text must outlive the cell.
[[nodiscard]] Value python_cell(const std::string& repr);

/// Converts a repr like python_cell(), but "None" and "nan" stay texts, as in the reference's
/// tables.
[[nodiscard]] Value reference_cell(const std::string& repr);

/// The texts of a parameter over the calls of a sheet, as the reference writes them. Its table
/// library gives each column one type before it converts values to texts. In a column of numbers,
/// None and absent values are "nan", and integers are floats if the column contains None, absent
/// values or floats. Elsewhere None stays "None", and only absent values are "nan". Example: 4,
/// None -> "4.0", "nan"; "(1,)", None, absent -> "(1,)", "None", "nan".
class ReferenceTexts {
public:
  /// Adds the repr of one call; nullptr if the call has no such parameter.
  void add(const std::string* repr);
  /// Returns the text of an added value; "" if no call has the parameter.
  [[nodiscard]] std::string text(const std::string* repr) const;

private:
  bool known_ = false; ///< some call has the parameter
  bool integers_ = false, floats_ = false, others_ = false, gaps_ = false;
};

} // namespace rankscope
