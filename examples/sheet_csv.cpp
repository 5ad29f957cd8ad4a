// Writes one sheet of a trace's report as CSV to standard output: sheet_csv TRACE SHEET
#include <rankscope/rankscope.h>

#include <cstdio>
#include <string>

namespace {

/// Returns the field as in RFC 4180: quoted if necessary, with quotes doubled.
std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos)
    return cell;
  std::string out = "\"";
  for (const char c : cell)
    out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: sheet_csv TRACE SHEET\n", stderr);
    return 2;
  }
  const auto trace = rankscope::v1::Trace::load(argv[1]);
  if (!trace) {
    std::fprintf(stderr, "%s\n", trace.error().message.c_str());
    return 3;
  }
  rankscope::v1::ReportOptions options;
  options.sheets = {argv[2]};
  const auto report = trace->report(options);
  if (!report || report->empty()) {
    std::fprintf(stderr, "%s\n", report ? "the sheet is empty" : report.error().message.c_str());
    return 3;
  }
  const rankscope::v1::Table& sheet = report->front();
  const std::size_t width = sheet.columns().size();
  for (std::size_t column = 0; column < width; ++column)
    std::printf("%s%s", column == 0 ? "" : ",", quoted(sheet.columns()[column].label).c_str());
  std::puts("");
  for (std::size_t row = 0; row < sheet.rows(); ++row) {
    for (std::size_t column = 0; column < width; ++column)
      std::printf("%s%s", column == 0 ? "" : ",", quoted(sheet.shown(row, column)).c_str());
    std::puts("");
  }
  return 0;
}
