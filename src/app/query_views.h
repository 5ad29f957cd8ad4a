// Views that answer common questions about a run, over the tables of app/run_tables.h.
#pragma once

#include <span>
#include <string_view>

namespace rankscope {

struct QueryView {
  std::string_view name;
  std::string_view help; ///< the question, in one line
  std::string_view sql;  ///< the SELECT statement
};

/// Returns the views in the order of `rankscope query --tables`. A view may name earlier views.
[[nodiscard]] std::span<const QueryView> query_views();

} // namespace rankscope
