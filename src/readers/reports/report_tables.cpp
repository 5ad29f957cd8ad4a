// Reads workbooks with libzip and pugixml, and CSV folders with csv_rows.h.
#include "readers/reports/report_tables.h"

#include "base/counters.h"
#include "base/to_number.h"
#include "os/input_file.h"
#include "os/whole_file.h"
#include "readers/reports/csv_rows.h"
#include "readers/reports/zip_library.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <pugixml.hpp>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxColumns = 16'384; // Excel's own limit

/// The limits for one report: a small file can decompress to any size, a row with one cell in the
/// last column needs 16,384 cells, and many cells can use one long text. The largest known reports
/// need a tenth of these limits.
struct Budget {
  std::uint64_t bytes = std::uint64_t{512} << 20; ///< decompressed bytes of all parts of the
                                                  ///< archive
  std::uint64_t tags = 40'000'000;                ///< XML tags in all parts; each cell has four
  std::uint64_t cells = kMostReportCells;
  std::uint64_t text_bytes = std::uint64_t{128}
                             << 20; ///< bytes of the texts of all cells; a text that several cells
                                    ///< use counts several times
};

/// Subtracts `n` from `left`. Returns false if `left` is smaller than `n`.
bool spend(std::uint64_t& left, std::uint64_t n) {
  if (n > left)
    return false;
  left -= n;
  return true;
}

std::optional<double> as_double(const std::string& text) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text[0])) != 0 ||
      text.find_first_of("xXpP") != std::string::npos)
    return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size())
    return std::nullopt;
  return value;
}

CellKind column_kind(const std::vector<CsvRow>& rows, std::size_t c) {
  bool ints = true;
  bool doubles = true;
  bool bools = true;
  bool any = false;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    if (c >= rows[r].size() || rows[r][c].empty())
      continue;
    const std::string& text = rows[r][c];
    any = true;
    ints = ints && to_number(text).has_value();
    doubles = doubles && as_double(text).has_value();
    bools = bools && (text == "True" || text == "False");
  }
  if (!any)
    return CellKind::kNull;
  return ints      ? CellKind::kInt
         : doubles ? CellKind::kDouble
         : bools   ? CellKind::kBool
                   : CellKind::kText;
}

struct ZipClose {
  const ZipLibrary* lib = nullptr;
  void operator()(zip_t* z) const { lib->zip_discard(z); }
};
using Zip = std::unique_ptr<zip_t, ZipClose>;

/// Reads a part of the archive. Returns nullopt if the part does not exist or cannot be
/// decompressed.
Result<std::optional<std::string>> part(const Zip& zip, const std::string& name, Budget& budget) {
  const ZipLibrary& lib = *zip.get_deleter().lib;
  zip_t* const archive = zip.get();
  zip_stat_t info;
  lib.zip_stat_init(&info);
  if (lib.zip_stat(archive, name.c_str(), 0, &info) != 0)
    return std::optional<std::string>();
  const Error too_large{ErrorCode::kUnreadable, name, "unpacks to more than a report can contain",
                        ""};
  if (!spend(budget.bytes, info.size))
    return too_large;
  zip_file_t* const file = lib.zip_fopen(archive, name.c_str(), 0);
  if (file == nullptr)
    return std::optional<std::string>();
  std::string text(static_cast<std::size_t>(info.size), '\0');
  const zip_int64_t got = lib.zip_fread(file, text.data(), info.size);
  lib.zip_fclose(file);
  if (got < 0 || static_cast<std::uint64_t>(got) != info.size)
    return std::optional<std::string>();
  if (!spend(budget.tags, static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '<'))))
    return too_large;
  return std::optional<std::string>(std::move(text));
}

/// Decodes "_x0001_" (a character that XML cannot contain) and "_x005F_" (the underscore).
std::string unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t from = 0;
  for (std::size_t at = text.find("_x"); at != std::string_view::npos; at = text.find("_x", at)) {
    unsigned code = 0x80;
    const char* const digits = text.data() + at + 2;
    if (at + 6 < text.size() && text[at + 6] == '_')
      if (const auto [end, error] = std::from_chars(digits, digits + 4, code, 16);
          error != std::errc() || end != digits + 4)
        code = 0x80;
    if (code >= 0x80) {
      ++at;
      continue;
    }
    out += text.substr(from, at - from);
    out += static_cast<char>(code);
    from = at += 7;
  }
  out += text.substr(from);
  return out;
}

/// Returns the text of <si> or <is>, which contains one <t> or several runs of text.
std::string rich_text(const pugi::xml_node& node) {
  std::string text = node.child("t").text().get();
  for (const pugi::xml_node& run : node.children("r"))
    text += run.child("t").text().get();
  return unescape(text);
}

/// Returns the 0-based column of a cell reference: 27 for "AB12".
std::optional<std::size_t> column_of(const char* reference) {
  std::size_t col = 0;
  for (; *reference >= 'A' && *reference <= 'Z' && col < kMaxColumns; ++reference)
    col = col * 26 + static_cast<std::size_t>(*reference - 'A') + 1;
  if (col == 0 || col > kMaxColumns)
    return std::nullopt;
  return col - 1;
}

/// A cell with its text, before its row is added to the Table.
struct RawCell {
  Value value;
  std::string inline_text;
  const std::string* shared = nullptr;
  [[nodiscard]] const std::string& text() const {
    return shared != nullptr ? *shared : inline_text;
  }
};

RawCell cell_of(const pugi::xml_node& c, const std::vector<std::string>& shared) {
  RawCell cell;
  const std::string type = c.attribute("t").as_string();
  const std::string v = c.child("v").text().get();
  if (type == "inlineStr" || type == "s" || type == "str")
    cell.value.kind = CellKind::kText;
  if (type == "inlineStr") {
    cell.inline_text = rich_text(c.child("is"));
  } else if (type == "s") {
    const std::optional<std::int64_t> i = to_number(v);
    if (i && *i >= 0 && static_cast<std::size_t>(*i) < shared.size())
      cell.shared = &shared[static_cast<std::size_t>(*i)];
  } else if (type == "str") {
    cell.inline_text = unescape(v);
  } else if (type == "b") {
    cell.value = Value(v == "1");
  } else if (type != "e" && !v.empty()) {
    if (const auto i = to_number(v))
      cell.value = Value(*i);
    else if (const auto d = as_double(v))
      cell.value = Value(*d);
  }
  return cell;
}

/// Returns the cells of a row, indexed by column. If `columns` is 0, the row is the header, and its
/// length is the number of columns.
std::vector<RawCell> row_of(const pugi::xml_node& row, std::size_t columns, bool header,
                            const std::vector<std::string>& shared) {
  std::vector<RawCell> cells(columns);
  std::size_t next = 0;
  for (const pugi::xml_node& c : row.children("c")) {
    const std::size_t col = column_of(c.attribute("r").as_string()).value_or(next);
    next = col + 1;
    if (header && col >= cells.size() && col < kMaxColumns)
      cells.resize(col + 1);
    if (col < cells.size())
      cells[col] = cell_of(c, shared);
  }
  return cells;
}

Result<Table> sheet_table(const std::string& name, const pugi::xml_document& sheet,
                          const std::vector<std::string>& shared, Budget& budget) {
  Table table(name, {});
  bool header = true;
  bool in_notes = false;
  std::size_t expected = 0;
  for (const pugi::xml_node& row : sheet.child("worksheet").child("sheetData").children("row")) {
    const std::size_t number = row.attribute("r").as_ullong(expected + 1);
    in_notes = in_notes || (!header && number > expected + 1); // the rows after a blank row are
                                                               // notes
    expected = number;
    if (!header && !spend(budget.cells, table.cols()))
      return Error{ErrorCode::kUnreadable, name, kTooManyCells, ""};
    const std::vector<RawCell> cells = row_of(row, header ? 0 : table.cols(), header, shared);
    for (const RawCell& cell : cells)
      if (!spend(budget.text_bytes, cell.text().size()))
        return Error{ErrorCode::kUnreadable, name, "has more text than a report can contain", ""};
    if (header) {
      std::vector<Column> columns;
      columns.reserve(cells.size());
      for (const RawCell& cell : cells)
        columns.push_back({cell.text()});
      table = Table(name, std::move(columns));
      header = false;
      continue;
    }
    std::vector<Value> values;
    values.reserve(cells.size());
    bool blank = true;
    for (const RawCell& cell : cells) {
      values.push_back(cell.value);
      if (cell.value.kind == CellKind::kText)
        values.back().text = cell.text();
      blank = blank && cell.value.is_null();
    }
    in_notes = in_notes || blank;
    if (!in_notes)
      table.add_row(values);
    else if (!cells.empty() && !cells[0].text().empty())
      table.notes.push_back(cells[0].text());
  }
  return table;
}

Result<Report> read_workbook(const std::string& path) {
  const auto bad = [&](const std::string& what) {
    return Error{ErrorCode::kUnreadable, path, what, "expected an .xlsx report or a CSV folder"};
  };
  int code = 0;
  RS_TRY(const ZipLibrary* const lib, ZipLibrary::get());
  remember_input(path);
  const Zip archive(lib->zip_open(path.c_str(), ZIP_RDONLY, &code), ZipClose{lib});
  if (!archive)
    return bad("cannot be opened as a workbook");
  Budget budget;
  RS_TRY(const auto book, part(archive, "xl/workbook.xml", budget));
  RS_TRY(const auto rels, part(archive, "xl/_rels/workbook.xml.rels", budget));
  if (!book || !rels)
    return bad("is a zip file without a workbook in it");
  pugi::xml_document book_xml;
  pugi::xml_document rels_xml;
  const unsigned flags = pugi::parse_default | pugi::parse_ws_pcdata_single;
  if (!book_xml.load_buffer(book->data(), book->size()) ||
      !rels_xml.load_buffer(rels->data(), rels->size()))
    return bad("has a workbook part that is not XML");
  std::vector<std::string> shared;
  RS_TRY(const auto shared_part, part(archive, "xl/sharedStrings.xml", budget));
  if (shared_part) {
    pugi::xml_document xml;
    if (!xml.load_buffer(shared_part->data(), shared_part->size(), flags))
      return bad("has shared texts that are not XML");
    for (const pugi::xml_node& si : xml.child("sst").children("si"))
      shared.push_back(rich_text(si));
  }
  std::map<std::string, std::string> targets; // relation id -> part of the archive
  for (const pugi::xml_node& rel : rels_xml.child("Relationships").children("Relationship"))
    targets[rel.attribute("Id").as_string()] = rel.attribute("Target").as_string();
  Report report;
  report.title = fs::path(path).stem().string();
  for (const pugi::xml_node& s : book_xml.child("workbook").child("sheets").children("sheet")) {
    const std::string& target = targets[s.attribute("r:id").as_string()];
    const std::string name = s.attribute("name").as_string();
    RS_TRY(const auto text,
           part(archive, !target.empty() && target[0] == '/' ? target.substr(1) : "xl/" + target,
                budget));
    pugi::xml_document xml;
    if (!text || !xml.load_buffer(text->data(), text->size(), flags))
      return bad("sheet " + name + " cannot be read");
    RS_TRY(Table table, sheet_table(name, xml, shared, budget));
    table.hidden = s.attribute("state").as_string()[0] != '\0' &&
                   std::strcmp(s.attribute("state").as_string(), "visible") != 0;
    report.tables.push_back(std::move(table));
  }
  return report;
}

Result<Table> csv_table(std::string name, std::string_view text, std::uint64_t& cells_left,
                        std::uint64_t& torn) {
  const std::uint64_t before = cells_left;
  RS_TRY(const CsvRows parsed, parse_csv(text, cells_left));
  const std::vector<CsvRow>& rows = parsed.rows;
  torn = parsed.torn;
  // in the table, a short row has cells for all columns
  const std::uint64_t in_table = rows.empty() ? 0 : rows.size() * rows[0].size();
  if (in_table > before)
    return Error{ErrorCode::kUnreadable, "", kTooManyCells, ""};
  cells_left = std::min(cells_left, before - in_table);
  std::vector<Column> columns;
  std::vector<CellKind> kinds;
  if (!rows.empty())
    for (std::size_t c = 0; c < rows[0].size(); ++c) {
      columns.push_back({rows[0][c]});
      kinds.push_back(column_kind(rows, c));
    }
  Table table(std::move(name), std::move(columns));
  for (std::size_t r = 1; r < rows.size(); ++r) {
    std::vector<Value> values(kinds.size());
    for (std::size_t c = 0; c < kinds.size() && c < rows[r].size(); ++c) {
      const std::string& cell = rows[r][c];
      if (cell.empty())
        continue;
      switch (kinds[c]) {
      case CellKind::kInt:
        values[c] = Value(to_number(cell).value_or(0));
        break;
      case CellKind::kDouble:
        values[c] = Value(as_double(cell).value_or(0));
        break;
      case CellKind::kBool:
        values[c] = Value(cell == "True");
        break;
      default:
        values[c] = Value(cell);
      }
    }
    table.add_row(values);
  }
  return table;
}

} // namespace

Result<Table> table_from_csv(std::string name, std::string_view text, std::uint64_t* torn) {
  std::uint64_t cells_left = kMostReportCells;
  std::uint64_t left_out = 0;
  Result<Table> table = csv_table(std::move(name), text, cells_left, left_out);
  if (torn != nullptr)
    *torn = left_out;
  return table;
}

void report_torn_rows(Diagnostics& diagnostics, const std::string& path, std::uint64_t torn) {
  if (torn > 0)
    diagnostics.add(counters::row_torn(), path, torn);
}

Result<Report> read_report_tables(const std::string& path) {
  std::error_code code;
  if (!fs::is_directory(path, code)) {
    if (!fs::exists(path, code))
      return Error{ErrorCode::kUnreadable, path, "no such file or folder", ""};
    Result<Report> report = read_workbook(path);
    if (!report.has_value() && report.error().where != path)
      report.error().where = path + ": " + report.error().where; // path and part of the archive
    return report;
  }
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, code))
    if (entry.path().extension() == ".csv")
      files.push_back(entry.path());
  if (code || files.empty())
    return Error{ErrorCode::kUnreadable, path, "the folder contains no .csv tables", ""};
  std::sort(files.begin(), files.end());
  Report report;
  report.title = fs::path(path).filename().string();
  std::uint64_t cells_left = kMostReportCells;
  for (const fs::path& file : files) {
    const Result<std::string> text = read_input_file(file.string());
    if (!text)
      return Error{ErrorCode::kUnreadable, file.string(), "cannot be read", ""};
    std::uint64_t torn = 0;
    Result<Table> table = csv_table(file.stem().string(), *text, cells_left, torn);
    if (!table)
      return Error{ErrorCode::kUnreadable, file.string(), table.error().what, ""};
    report_torn_rows(report.diagnostics, file.string(), torn);
    report.tables.push_back(std::move(*table));
  }
  return report;
}

} // namespace rankscope
