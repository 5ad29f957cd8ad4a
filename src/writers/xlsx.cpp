// Writes Excel workbooks with libxlsxwriter: one sheet per table, with a styled and frozen header,
// filters, and number formats by unit. Texts never become formulas. If a table has more rows than a
// sheet can contain, a second sheet contains the rest.
#include "base/noncopyable.h"
#include "os/library_memory.h"
#include "os/output_file.h"
#include "os/scratch_folder.h"
#include "writers/stream_writer.h"
#include "writers/workbook_decor.h"
#include "writers/workbook_text.h"
#include "writers/writer.h"
#include "writers/xlsxwriter_library.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

namespace rankscope {
namespace {

/// Creates a folder for the parts of a workbook, which the library later packs into one file. If
/// this process is killed, the next run removes the folder. For a small workbook, the folder is in
/// memory if there is enough space, which saves a fifth of the time.
Result<ScratchFolder> parts_folder(bool big) {
  constexpr const char* kMemory = "/dev/shm";
  constexpr std::uint64_t kRoom = 256U << 20U;
  struct statvfs info = {};
  if (big || std::getenv("TMPDIR") != nullptr || ::access(kMemory, W_OK) != 0 ||
      ::statvfs(kMemory, &info) != 0 || std::uint64_t{info.f_bavail} * info.f_frsize < kRoom)
    return ScratchFolder::create();
  return ScratchFolder::create(kMemory);
}

/// Returns the creation time of a workbook: $SOURCE_DATE_EPOCH, else a constant, so that equal
/// analyses write equal bytes. It is never 0, because for 0 the library uses the current time.
std::time_t created_time() {
  constexpr std::time_t kConstant = 315'532'800; // 1980-01-01, the first day that a ZIP archive can
                                                 // contain
  const char* const text = std::getenv("SOURCE_DATE_EPOCH");
  const std::string_view epoch = text == nullptr ? "" : text;
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(epoch.data(), epoch.data() + epoch.size(), seconds);
  constexpr std::int64_t kLatest = 253'402'300'799; // end of the year 9999
  return error == std::errc() && end == epoch.data() + epoch.size() && seconds > 0 &&
                 seconds <= kLatest
             ? seconds
             : kConstant;
}

constexpr std::size_t kWidestText = 60; // maximum width of a column in characters

class Workbook : NonCopyable {
public:
  Workbook(const XlsxWriterLibrary& library, const std::string& path, bool big, bool explained)
      : lib_(library), constant_memory_(big), explained_(explained) {
    lxw_workbook_options options = {};
    options.constant_memory = big ? LXW_TRUE : LXW_FALSE;
    if (auto parts = parts_folder(big); parts) // if it fails, the library chooses a folder
      parts_.emplace(std::move(*parts));
    options.tmpdir = parts_ ? const_cast<char*>(parts_->path().c_str()) : nullptr;
    book_ = lib_.workbook_new_opt(path.c_str(), &options);
    if (book_ == nullptr)
      return;
    // the same time for all workbooks, because the library formats it in a buffer that all threads
    // use
    static const std::time_t made = created_time();
    lxw_doc_properties about = {};
    about.created = made;
    lib_.workbook_set_properties(book_, &about);
    formats_.emplace(lib_, book_);
  }

  ~Workbook() { // not closed yet only after an exception
    if (book_ != nullptr)
      lib_.lxw_workbook_free(book_);
  }

  [[nodiscard]] bool ok() const { return book_ != nullptr; }
  /// Closes and frees the workbook, even if it could not be written.
  lxw_error close() { return lib_.workbook_close(std::exchange(book_, nullptr)); }

  /// Registers the names of the tables. If a column contains only such names, its cells are links
  /// to their sheets.
  void expect(const std::vector<Table>& tables, const RowStreams& streams) {
    std::set<std::string> used; // the names that add() will use
    for (const Table& table : tables) {
      sheets_.emplace(table.name(), sheet_name(table.name(), used));
      if (rows_of(table, streams) >= kMaxSheetRows)
        return; // the second sheet of this table needs a name too
    }
  }

  /// Adds a table; uses as many sheets as its rows need. Errors: those of reading the rows.
  Result<void> add(const Table& table, const RowStreams& streams) {
    const std::size_t all = rows_of(table, streams);
    const std::size_t per_sheet = kMaxSheetRows - header_rows(table);
    std::optional<OpenSheet> sheet;
    std::size_t done = 0;
    return each_rows(table, streams, [&](const Table& some) -> Result<void> {
      if (done > 0 && some.rows() == 0)
        return {}; // otherwise an empty sheet would be added at the end
      std::size_t at = 0;
      do {
        if (!sheet)
          sheet = begin_sheet(table, {done, std::min(all, done + per_sheet)}, some, at);
        const std::size_t n = std::min(some.rows() - at, sheet->rows() - sheet->written);
        write_rows(*sheet, some, {at, at + n});
        at += n;
        done += n;
        if (sheet->written == sheet->rows()) {
          end_sheet(*sheet, table, done == all);
          sheet.reset();
        }
      } while (at < some.rows());
      return {};
    });
  }

private:
  /// A sheet that is being written.
  struct OpenSheet {
    lxw_worksheet* sheet = nullptr; ///< nullptr: the library could not allocate memory for the
                                    ///< sheet
    std::string name;
    std::vector<lxw_format*> formats;
    bool styled = false;
    RowRange range = {};              ///< the rows of the table that are in this sheet
    std::size_t written = 0, cut = 0; ///< number of rows, and number of texts that were too long
                                      ///< for a cell
    std::vector<bool> links;
    [[nodiscard]] std::size_t rows() const { return range.last - range.first; }
  };

  /// Begins a sheet for the rows `range` of `table`. The first of these rows is row `at` of `some`.
  OpenSheet begin_sheet(const Table& table, RowRange range, const Table& some, std::size_t at) {
    OpenSheet out;
    out.range = range;
    out.name = sheet_name(table.name(), used_);
    out.sheet = lib_.workbook_add_worksheet(book_, out.name.c_str());
    lxw_worksheet* const sheet = out.sheet;
    if (sheet == nullptr)
      return out;
    const std::size_t cols = table.cols();
    const bool sentences = table.name() == "findings" || table.name() == "overview";
    for (std::size_t c = 0; c < cols; ++c) {
      const Column& column = table.columns()[c];
      std::size_t width = std::min<std::size_t>(column.name.size(), 24);
      for (std::size_t r = at; r < std::min({some.rows(), at + out.rows(), at + 50}); ++r)
        if (const Value v = some.at(r, c); v.kind == CellKind::kText)
          width = std::max(width, std::min(v.text.size(), kWidestText));
      out.formats.push_back(sentences && width >= kWidestText ? formats_->sentence
                                                              : formats_->format_of(column));
      lxw_row_col_options options = {};
      options.hidden = column.hidden ? LXW_TRUE : LXW_FALSE;
      lib_.worksheet_set_column_opt(sheet, static_cast<lxw_col_t>(c), static_cast<lxw_col_t>(c),
                                    static_cast<double>(std::max<std::size_t>(width + 2, 10)),
                                    nullptr, &options);
    }
    out.styled = table.styled && out.rows() > 0 && !constant_memory_ && !table.pivot;
    out.links = linking_columns(table);
    if (table.pivot)
      write_pivot_header(sheet, table, *table.pivot);
    else if (!out.styled)
      for (std::size_t c = 0; c < cols; ++c)
        lib_.worksheet_write_string(sheet, 0, static_cast<lxw_col_t>(c),
                                    cell_text(table.columns()[c].name).c_str(), formats_->header);
    return out;
  }

  /// Writes everything in a sheet except its rows. `last`: this is the last sheet of the table.
  void end_sheet(const OpenSheet& opened, const Table& table, bool last) {
    lxw_worksheet* const sheet = opened.sheet;
    if (sheet == nullptr)
      return;
    const std::size_t cols = table.cols();
    const SheetInMaking making{lib_, book_, sheet, table, *formats_};
    const auto header = static_cast<lxw_row_t>(header_rows(table));
    auto row = header + static_cast<lxw_row_t>(opened.rows());
    lib_.worksheet_set_landscape(sheet); // print all columns on the width of one page
    lib_.worksheet_fit_to_pages(sheet, 1, 0);
    lib_.worksheet_repeat_rows(sheet, 0, header - 1);
    lib_.worksheet_freeze_panes(sheet, header, table.cols() > 4 ? 1 : 0);
    if (opened.styled)
      style_as_table(making, row - 1);
    else if (cols > 0 && opened.rows() > 0 &&
             !table.pivot) // rows with merged cells cannot be sorted
      lib_.worksheet_autofilter(sheet, 0, 0, row - 1, static_cast<lxw_col_t>(cols - 1));
    if (explained_)
      explain_headers(making, header - 1);
    const auto status = std::find_if(table.columns().begin(), table.columns().end(),
                                     [](const Column& column) { return column.status; });
    for (std::size_t c = 0; c < cols && opened.rows() > 0; ++c) {
      if (table.columns()[c].delta && table.rows() > 0) {
        if (status == table.columns().end())
          colour_by_sign(making, c, opened.range);
        else
          colour_by_other(making, c, static_cast<std::size_t>(status - table.columns().begin()),
                          row - 1);
      }
      if (table.columns()[c].status)
        colour_by_status(making, {row - 1, static_cast<lxw_col_t>(c)});
    }
    std::vector<std::string> notes = last ? table.notes : std::vector<std::string>();
    if (opened.cut > 0)
      notes.push_back(std::to_string(opened.cut) + " texts are cut at " +
                      std::to_string(kMaxCellText) +
                      " characters, the limit of a cell; --csv-dir and --json write full texts");
    if (!notes.empty() && row + notes.size() + 1 < kMaxSheetRows) {
      ++row;
      for (const std::string& note : notes)
        lib_.worksheet_write_string(sheet, row++, 0, cell_text(note).c_str(), formats_->note);
    }
    if (opened.range.first == 0) {
      constexpr std::size_t kScreen = 30; // with more rows, a chart below them would not be visible
      const bool at_right = opened.rows() > kScreen;
      add_charts(making, opened.name, opened.rows(),
                 {at_right ? 1 : row + 2, static_cast<lxw_col_t>(at_right ? cols + 1 : 0)});
    }
    if (!table.tab_color.empty())
      lib_.worksheet_set_tab_color(
          sheet, static_cast<lxw_color_t>(std::strtoul(table.tab_color.c_str() + 1, nullptr, 16)));
    if (table.hidden && shown_)
      lib_.worksheet_hide(sheet);
    shown_ = shown_ || !table.hidden;
  }

  /// Writes the rows `range` of `some` below the rows that are already in the sheet.
  void write_rows(OpenSheet& to, const Table& some, RowRange range) {
    auto row = static_cast<lxw_row_t>(header_rows(some) + to.written);
    to.written += range.last - range.first;
    if (to.sheet == nullptr)
      return;
    const std::size_t merging = some.pivot && some.pivot->keys > 0 ? some.pivot->keys - 1 : 0;
    for (std::size_t r = range.first; r < range.last; ++r, ++row)
      for (std::size_t c = 0; c < some.cols(); ++c) {
        const Value v = some.at(r, c);
        to.cut += v.kind == CellKind::kText && v.text.size() > kMaxCellText ? 1 : 0;
        if (c < merging && merged(to.sheet, some, r, range.last, c, row))
          continue;
        if (to.links[c] && v.kind == CellKind::kText)
          link(to.sheet, row, static_cast<lxw_col_t>(c), v.text);
        else
          write(to.sheet, row, static_cast<lxw_col_t>(c), v, to.formats[c]);
      }
  }

  static std::size_t header_rows(const Table& table) { return table.pivot ? 3 : 1; }

  /// Writes three header rows: the metrics, each merged over the columns of its members; the
  /// members; the names of the keys.
  void write_pivot_header(lxw_worksheet* sheet, const Table& table, const Pivot& pivot) {
    for (std::size_t c = 0; c < pivot.keys; ++c)
      lib_.worksheet_write_string(sheet, 2, static_cast<lxw_col_t>(c),
                                  cell_text(table.columns()[c].name).c_str(), formats_->header);
    if (pivot.keys > 0)
      lib_.worksheet_write_string(sheet, 1, static_cast<lxw_col_t>(pivot.keys - 1),
                                  cell_text(pivot.axis).c_str(), formats_->header);
    for (std::size_t p = 0, next = 0; p < pivot.places.size(); p = next) {
      next = p + 1;
      while (next < pivot.places.size() && pivot.places[next].metric == pivot.places[p].metric)
        ++next;
      const auto left = static_cast<lxw_col_t>(pivot.keys + p);
      const auto right = static_cast<lxw_col_t>(pivot.keys + next - 1);
      const std::string metric = cell_text(pivot.places[p].metric);
      if (right > left)
        lib_.worksheet_merge_range(sheet, 0, left, 0, right, metric.c_str(), formats_->header);
      else
        lib_.worksheet_write_string(sheet, 0, left, metric.c_str(), formats_->header);
    }
    for (std::size_t p = 0; p < pivot.places.size(); ++p)
      lib_.worksheet_write_number(sheet, 1, static_cast<lxw_col_t>(pivot.keys + p),
                                  static_cast<double>(pivot.places[p].member), formats_->header);
  }

  /// If the following rows have the same key text, writes it once, in a merged cell. Returns true
  /// if the text is written here or in a row above. Merging without a format does not write cells
  /// of later rows, which is necessary in a workbook with constant memory.
  bool merged(lxw_worksheet* sheet, const Table& table, std::size_t r, std::size_t last,
              std::size_t c, lxw_row_t row) {
    const auto same = [&](std::size_t a, std::size_t b) {
      const Value x = table.at(a, c);
      const Value y = table.at(b, c);
      return x.kind == CellKind::kText && y.kind == CellKind::kText && x.text == y.text;
    };
    // this is the first row of this sheet
    const bool top = row == static_cast<lxw_row_t>(header_rows(table));
    if (!top && same(r - 1, r))
      return true;
    std::size_t end = r + 1;
    while (end < last && same(r, end))
      ++end;
    if (end == r + 1)
      return false;
    lib_.worksheet_merge_range(sheet, row, static_cast<lxw_col_t>(c),
                               row + static_cast<lxw_row_t>(end - r - 1), static_cast<lxw_col_t>(c),
                               cell_text(table.at(r, c).text).c_str(), nullptr);
    return true;
  }

  /// Returns the columns whose cells are written as links: in a short table, those that contain at
  /// least one table name and no other text.
  [[nodiscard]] std::vector<bool> linking_columns(const Table& table) const {
    constexpr std::size_t kShort = 1000;
    std::vector<bool> out(table.cols(), false);
    for (std::size_t c = 0; c < table.cols() && table.rows() <= kShort; ++c) {
      bool only_names = true;
      bool any = false;
      for (std::size_t r = 0; r < table.rows() && only_names; ++r) {
        const Value v = table.at(r, c);
        const bool name = v.kind == CellKind::kText && sheets_.count(v.text) > 0;
        only_names = name || v.is_null();
        any = any || name;
      }
      out[c] = only_names && any;
    }
    return out;
  }

  void link(lxw_worksheet* sheet, lxw_row_t row, lxw_col_t col, std::string_view to) {
    const std::string place = "internal:'" + sheets_.find(to)->second + "'!A1";
    lib_.worksheet_write_url_opt(sheet, row, col, place.c_str(), nullptr, cell_text(to).c_str(),
                                 nullptr);
  }

  void write(lxw_worksheet* sheet, lxw_row_t row, lxw_col_t col, const Value& v,
             lxw_format* format) {
    switch (v.kind) {
    case CellKind::kNull:
      break;
    case CellKind::kInt:
      // a double cannot represent all integers of this size
      if (v.i > (std::int64_t{1} << 53) || v.i < -(std::int64_t{1} << 53))
        lib_.worksheet_write_string(sheet, row, col, std::to_string(v.i).c_str(), nullptr);
      else
        lib_.worksheet_write_number(sheet, row, col, static_cast<double>(v.i), format);
      break;
    case CellKind::kDouble:
      if (std::isfinite(v.d))
        lib_.worksheet_write_number(sheet, row, col, v.d, format);
      else if (std::isinf(v.d))
        lib_.worksheet_write_string(sheet, row, col, v.d > 0 ? "inf" : "-inf", nullptr);
      break;
    case CellKind::kBool:
      lib_.worksheet_write_boolean(sheet, row, col, v.i != 0 ? 1 : 0, nullptr);
      break;
    case CellKind::kText:
      lib_.worksheet_write_string(sheet, row, col, cell_text(v.text).c_str(),
                                  format == formats_->sentence ? format : nullptr);
      break;
    }
  }

  const XlsxWriterLibrary& lib_;
  std::optional<ScratchFolder> parts_;
  lxw_workbook* book_ = nullptr;
  std::optional<WorkbookFormats> formats_;
  std::set<std::string> used_;
  std::map<std::string, std::string, std::less<>> sheets_; ///< sheet name by table name
  bool shown_ = false;
  bool constant_memory_ = false;
  bool explained_ = false;
};

/// A file in memory that the library opens by its path.
class MemoryFile : NonCopyable {
public:
  MemoryFile() : fd_(::memfd_create("workbook", MFD_CLOEXEC)) {
    if (fd_ >= 0)
      path_ = "/proc/self/fd/" + std::to_string(fd_);
  }
  ~MemoryFile() {
    if (fd_ >= 0)
      ::close(fd_);
  }
  [[nodiscard]] bool usable() const { return fd_ >= 0 && ::access(path_.c_str(), W_OK) == 0; }
  [[nodiscard]] const std::string& path() const { return path_; }
  void copy_to(OutputFile& out) const {
    std::string buffer(std::size_t{1} << 16, '\0');
    off_t at = 0;
    ssize_t n = 0;
    while ((n = ::pread(fd_, buffer.data(), buffer.size(), at)) > 0) {
      out.write({buffer.data(), static_cast<std::size_t>(n)});
      at += n;
    }
  }

private:
  int fd_;
  std::string path_;
};

/// Returns the maximum memory that the library needs for this number of cells. It stores one object
/// per cell; if `big`, only those of one row.
std::size_t library_bytes(std::size_t cells, std::size_t sheets, bool big) {
  constexpr std::size_t kBook = std::size_t{24} << 20U; // includes the buffers for packing
  constexpr std::size_t kSheet = std::size_t{256} << 10U;
  constexpr std::size_t kCell = 512;
  return kBook + kSheet * sheets + (big ? 0 : kCell * cells);
}

Result<void> fill(const Report& report, const RowStreams& streams, const std::string& file,
                  bool big, bool explained, const std::string& path) {
  RS_TRY(const XlsxWriterLibrary* const library, XlsxWriterLibrary::get());
  Workbook book(*library, file, big, explained);
  const Error failed{ErrorCode::kOutput, path, "the workbook could not be written",
                     "is the disk full or the folder read-only?"};
  if (!book.ok())
    return failed;
  book.expect(report.tables, streams);
  for (const Table& t : report.tables)
    RS_CHECK(book.add(t, streams));
  if (report.tables.empty())
    RS_CHECK(book.add(Table("empty", {{"no tables"}}), {}));
  if (book.close() != LXW_NO_ERROR)
    return failed;
  return {};
}

Result<void> write_book(const Report& report, const RowStreams& streams, const std::string& path,
                        bool explained) {
  std::size_t cells = 0;
  for (const Table& t : report.tables)
    cells += rows_of(t, streams) * t.cols();
  // The library stores all cells in memory unless the workbook uses constant memory. For few cells
  // this is better, because equal texts are then stored once in the file.
  const bool big = cells > 200'000;
  RS_TRY(const LibraryMemory claimed,
         LibraryMemory::claim(library_bytes(cells, report.tables.size(), big), path));
  // A small workbook is written to memory, so that the library does not print messages if the disk
  // is full.
  if (const MemoryFile memory; !big && memory.usable()) {
    RS_TRY(auto out, OutputFile::create(path));
    RS_CHECK(fill(report, streams, memory.path(), big, explained, path));
    memory.copy_to(out);
    return out.commit();
  }
  RS_TRY(auto temp, TempName::reserve(path));
  RS_CHECK(fill(report, streams, temp.temp_path(), big, explained, path));
  return temp.commit();
}

Result<void> write_workbook(const Report& report, const std::string& path) {
  return write_book(report, {}, path, true);
}

Result<void> write_plain(const Report& report, const std::string& path) {
  return write_book(report, {}, path, false);
}

} // namespace

Result<void> write_xlsx_streams(const Report& report, const RowStreams& streams,
                                const std::string& path) {
  return write_book(report, streams, path, true);
}

const Writer xlsx_writer{"xlsx", ".xlsx", "an Excel workbook with one sheet per table",
                         write_workbook};

// Writing the descriptions of columns takes a tenth of the time of `analyze`, which writes one
// workbook per rank; this writer leaves them out.
const Writer xlsx_plain_writer{
    "xlsx_plain", ".xlsx",
    "an Excel workbook with one sheet per table, without the descriptions of columns", write_plain};

} // namespace rankscope
