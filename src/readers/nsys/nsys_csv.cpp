// Reads the CSV tables of `nsys stats` (docs/nsys.md).
#include "readers/nsys/nsys_csv.h"

#include "os/whole_file.h"
#include "readers/reports/csv_rows.h"

#include <charconv>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr double kMostTime = 1e18; // 30 years in ns
constexpr double kMostCount = 1e12;

struct TimeColumn {
  std::size_t index = 0;
  double ns_per_unit = 1;
};

class CsvTable {
public:
  static Result<CsvTable> read(const std::string& path) {
    const Result<std::string> text = read_input_file(path);
    if (!text)
      return Error{ErrorCode::kUnreadable, path, "cannot read this table",
                   "make it with nsys stats --format csv"};
    CsvTable t;
    t.path_ = path;
    Result<CsvRows> parsed = parse_csv(*text);
    if (!parsed)
      return Error{ErrorCode::kUnreadable, path, parsed.error().what, ""};
    t.rows_ = std::move(parsed->rows);
    if (parsed->torn > 0)
      return Error{ErrorCode::kUnreadable, path,
                   fmt::format("{} incomplete row{} (interrupted?)", parsed->torn,
                               parsed->torn == 1 ? "" : "s"),
                   "make it again with nsys stats --format csv"};
    if (t.rows_.empty())
      return Error{ErrorCode::kUnreadable, path, "the table is empty, expected a header row", ""};
    return t;
  }
  Result<std::size_t> column(const char* name) const {
    for (std::size_t c = 0; c < rows_.front().size(); ++c)
      if (rows_.front()[c] == name)
        return c;
    return Error{ErrorCode::kUnreadable, path_, fmt::format("no column \"{}\"", name), ""};
  }
  /// Finds the column "NAME (ns)", "(us)", "(ms)" or "(s)".
  Result<TimeColumn> time_column(const std::string& name) const {
    for (std::size_t c = 0; c < rows_.front().size(); ++c)
      for (const auto& [unit, factor] :
           {std::pair{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}})
        if (rows_.front()[c] == fmt::format("{} ({})", name, unit))
          return TimeColumn{c, factor};
    return Error{ErrorCode::kUnreadable, path_, fmt::format("no column \"{} (ns)\"", name), ""};
  }
  std::size_t rows() const { return rows_.size() - 1; }
  Result<std::string> text(std::size_t row, std::size_t column) const {
    if (column >= rows_[row + 1].size())
      return Error{ErrorCode::kUnreadable, fmt::format("{}: row {}", path_, row + 2),
                   "the row is shorter than the header", ""};
    return rows_[row + 1][column];
  }
  /// Returns a time or a count. It must be at least 0 and at most `most`, so that the sums of a
  /// table are exact.
  Result<double> number(std::size_t row, std::size_t column, double most) const {
    RS_TRY(const std::string cell, text(row, column));
    double value = 0;
    const auto [end, status] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (status != std::errc() || end != cell.data() + cell.size())
      return Error{ErrorCode::kUnreadable, fmt::format("{}: row {}", path_, row + 2),
                   fmt::format("\"{}\" is not a number", cell), ""};
    if (!(value >= 0 && value <= most))
      return Error{ErrorCode::kUnreadable, fmt::format("{}: row {}", path_, row + 2),
                   fmt::format("\"{}\" is not a number from 0 to {}", cell, most), ""};
    return value;
  }

private:
  std::string path_;
  std::vector<CsvRow> rows_;
};

Result<std::vector<NsysSum>> read_sums(const std::string& path, const char* count_name,
                                       const char* key_name) {
  RS_TRY(const CsvTable table, CsvTable::read(path));
  RS_TRY(const TimeColumn total, table.time_column("Total Time"));
  RS_TRY(const std::size_t count, table.column(count_name));
  RS_TRY(const std::size_t name, table.column(key_name));
  std::vector<NsysSum> out;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    NsysSum sum;
    RS_TRY(sum.name, table.text(r, name));
    RS_TRY(const double time, table.number(r, total.index, kMostTime));
    RS_TRY(const double instances, table.number(r, count, kMostCount));
    sum.total_ns = time * total.ns_per_unit;
    sum.count = static_cast<std::int64_t>(instances);
    out.push_back(std::move(sum));
  }
  return out;
}

} // namespace

Result<NsysData> read_nsys_csv(const std::string& kernel_sum, const std::string& nvtx_proj_trace,
                               const std::string& mem_time_sum) {
  NsysData data;
  RS_TRY(data.kernels, read_sums(kernel_sum, "Instances", "Name"));
  if (!mem_time_sum.empty()) {
    RS_TRY(data.memory, read_sums(mem_time_sum, "Count", "Operation"));
    data.has_memory = true;
  }
  if (!nvtx_proj_trace.empty()) {
    RS_TRY(const CsvTable table, CsvTable::read(nvtx_proj_trace));
    RS_TRY(const TimeColumn duration, table.time_column("Projected Duration"));
    RS_TRY(const std::size_t name, table.column("Name"));
    for (std::size_t r = 0; r < table.rows(); ++r) {
      NsysRange range;
      RS_TRY(range.name, table.text(r, name));
      RS_TRY(const double time, table.number(r, duration.index, kMostTime));
      range.duration_ns = time * duration.ns_per_unit;
      data.ranges.push_back(std::move(range));
    }
    data.has_ranges = true;
  }
  return data;
}

} // namespace rankscope
