// Columns whose cells are lists of texts: as JSON in the cell, a list in JSON.
#pragma once

#include "base/json_text.h"
#include "core/table.h"

#include <string>
#include <vector>

namespace rankscope {

[[nodiscard]] inline Column list_column(const char* name) {
  Column out(name);
  out.nested = true;
  return out;
}

[[nodiscard]] inline std::string list_text(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts)
    out += (out.empty() ? "\"" : ",\"") + json_escaped(text) + "\"";
  return "[" + out + "]";
}

} // namespace rankscope
