// Columns with lists of texts as cells: a table cell contains the list as JSON text, JSON output a
// JSON list.
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
