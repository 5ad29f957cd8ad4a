// Writes CSV: RFC 4180, UTF-8, LF; numbers are the shortest texts that convert back to the same
// value. A missing value is an empty cell.
#include "base/csv.h"
#include "base/number_text.h"
#include "os/output_file.h"
#include "writers/stream_writer.h"
#include "writers/writer.h"

#include <cmath>

namespace rankscope {

std::string shortest_double(double value) {
  return std::isnan(value) ? std::string() : python_float(value);
}

namespace {

void append_value(std::string& out, const Value& v) {
  switch (v.kind) {
  case CellKind::kNull:
    break;
  case CellKind::kInt:
    out += std::to_string(v.i);
    break;
  case CellKind::kBool:
    out += v.i != 0 ? "True" : "False";
    break;
  case CellKind::kDouble:
    out += shortest_double(v.d);
    break;
  case CellKind::kText:
    append_csv_cell(out, v.text);
    break;
  }
}

void append_header(std::string& out, const Table& table) {
  for (std::size_t c = 0; c < table.cols(); ++c) {
    if (c > 0)
      out += ',';
    append_csv_cell(out, table.columns()[c].name);
  }
  out += '\n';
}

void append_rows(std::string& out, const Table& table) {
  for (std::size_t r = 0; r < table.rows(); ++r) {
    for (std::size_t c = 0; c < table.cols(); ++c) {
      if (c > 0)
        out += ',';
      append_value(out, table.at(r, c));
    }
    out += '\n';
  }
}

Result<void> write_csv(const Report& report, const std::string& folder) {
  return write_csv_streams(report, {}, folder);
}

} // namespace

Result<void> write_csv_streams(const Report& report, const RowStreams& streams,
                               const std::string& folder) {
  RS_CHECK(make_folder(folder));
  for (const Table& table : report.tables) {
    RS_TRY(auto file, OutputFile::create(folder + "/" + table.name() + ".csv"));
    std::string text;
    append_header(text, table);
    RS_CHECK(each_rows(table, streams, [&](const Table& some) -> Result<void> {
      append_rows(text, some);
      file.write(text);
      text.clear();
      return {};
    }));
    file.write(text);
    RS_CHECK(file.commit());
  }
  return {};
}

std::string csv_text(const Table& table) {
  std::string out;
  append_header(out, table);
  append_rows(out, table);
  return out;
}

const Writer csv_writer{"csv", ".csv", "a folder with one CSV file per table", write_csv};

} // namespace rankscope
