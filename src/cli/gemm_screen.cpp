#include "cli/gemm_screen.h"

#include "model/kernel_names.h"

#include <fmt/format.h>

namespace rankscope {

Table gemm_screen(const Table& table) {
  const char* const op = table.column("op") ? "op" : "col_name";
  std::vector<std::string> rows, shown, full;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    rows.emplace_back();
    for (const char* key : {"configuration", "threads", "channel", "rank", op, "input_dims"}) {
      const Value value = table.at(r, key);
      rows.back() += fmt::format("{} {} ", value.text, value.number());
    }
    const std::string_view kernel = table.at(r, "kernel_name").text;
    shown.push_back(display_name(kernel));
    full.push_back(fmt::format("{}{} {} {} {}", rows.back(), shown.back(), kernel,
                               table.at(r, "col_Input Strides_first").text,
                               table.at(r, "col_Input type_first").text));
  }
  const std::vector<std::string> kernels = distinct_cells(rows, shown, full);
  Table out = table;
  out.add_column("kernel", {kernels.begin(), kernels.end()});
  return out.select({"configuration", "threads", "channel", "rank", op, "input_dims", "kernel",
                     "kernel_time_min_us", "kernel_time_max_us", "time_diff_us", "count",
                     "min_verified", "max_verified", "total_overlap_percentage"});
}

} // namespace rankscope
