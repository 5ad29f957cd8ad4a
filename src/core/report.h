// Report: the tables of one output, in the order of the sheets.
#pragma once

#include "base/diagnostics.h"
#include "core/table.h"

namespace rankscope {

struct Report {
  std::string title;
  std::vector<Table> tables;
  Diagnostics diagnostics;

  [[nodiscard]] const Table* find(std::string_view name) const {
    for (const Table& t : tables)
      if (t.name() == name)
        return &t;
    return nullptr;
  }
};

} // namespace rankscope
