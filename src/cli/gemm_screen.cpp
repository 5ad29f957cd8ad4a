#include "cli/gemm_screen.h"

#include "base/display_text.h"
#include "model/kernel_names.h"

#include <fmt/format.h>

namespace rankscope {

Table gemm_screen(const Table& table) {
  const char* const op = table.column("op") ? "op" : "col_name";
  const auto varies = [&table](const char* key) {
    if (!table.column(key))
      return false;
    for (std::size_t r = 1; r < table.rows(); ++r)
      if (table.at(r, key).number() != table.at(0, key).number())
        return true;
    return false;
  };
  std::vector<std::string> first = {"configuration", "threads", "channel", "rank"};
  for (const char* key : {"device", "stream"})
    if (varies(key))
      first.emplace_back(key);
  first.insert(first.end(), {op, "input_dims"});
  std::vector<std::string> rows, shown, full;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    rows.emplace_back();
    for (const std::string& key : first) {
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
  if (const auto dims = table.column("input_dims"))
    for (std::size_t r = 0; r < table.rows(); ++r) {
      const std::string shapes = short_shapes(std::string(table.at(r, *dims).text));
      out.set(r, *dims, shapes);
    }
  out.add_column("kernel", {kernels.begin(), kernels.end()});
  first.insert(first.end(), {"kernel", "kernel_time_min_us", "kernel_time_max_us", "time_diff_us",
                             "count", "min_verified", "max_verified", "total_overlap_percentage"});
  return out.select(first);
}

} // namespace rankscope
