// Views that answer the usual questions of a run, over the tables of app/run_tables.h.
#pragma once

#include <span>
#include <string_view>

namespace rankscope {

struct QueryView {
  std::string_view name;
  std::string_view help; ///< the question, in a line
  std::string_view sql;  ///< of the SELECT
};

/// In the order of `rankscope query --tables`. A view may name those before it.
[[nodiscard]] std::span<const QueryView> query_views();

} // namespace rankscope
