// Parts of a sheet other than its cells: formats, colours by value, table styles, charts, and the
// meaning of headers.
#pragma once

#include "core/table.h"
#include "writers/xlsxwriter_library.h"

#include <cstddef>
#include <map>
#include <string>

namespace rankscope {

/// The formats of a workbook. The workbook must not outlive them.
class WorkbookFormats {
public:
  WorkbookFormats(const XlsxWriterLibrary& library, lxw_workbook* book);
  /// Returns the format for the column's numbers; nullptr = no format.
  lxw_format* of(const Column& column);

  lxw_format* header;
  lxw_format* note;
  lxw_format* sentence; ///< for findings: wraps lines
  lxw_format* better;
  lxw_format* worse;
  lxw_format* other; ///< a status that is neither better nor worse, but visible
  int tables = 0;    ///< number of styled tables; each needs a different name

private:
  const XlsxWriterLibrary& lib_;
  lxw_workbook* book_;
  std::map<std::string, lxw_format*> numbers_;
};

struct SheetInMaking {
  const XlsxWriterLibrary& lib;
  lxw_workbook* book;
  lxw_worksheet* sheet;
  const Table& table;
  WorkbookFormats& formats;
};
struct CellPlace {
  lxw_row_t row;
  lxw_col_t col;
};
/// A range of table rows, from `first` to before `last`.
struct RowRange {
  std::size_t first, last;
};

/// Shows the meaning of a column as an input message when its header is selected. Comments would
/// make a report larger by two thirds, messages by an eighth. Neighbours with the same meaning
/// share a message.
void explain_headers(const SheetInMaking& s, lxw_row_t header_row);

/// Colours cells from red over white to green, with 0 as white and equally far on both sides. So a
/// column of gains has no red.
void colour_by_sign(const SheetInMaking& s, std::size_t c, RowRange rows);

/// Colours significant changes, as the status in another column of the row says. Other changes get
/// no colour.
void colour_by_other(const SheetInMaking& s, std::size_t c, std::size_t status, lxw_row_t last_row);

/// Colours the cells that begin with Better, Worse, New or "only in", down to `last`.
void colour_by_status(const SheetInMaking& s, CellPlace last);

/// Makes an Excel table of the existing cells. Headers must differ without regard to case.
void style_as_table(const SheetInMaking& s, lxw_row_t last);

/// Adds the charts of the first `last` rows, side by side from `at`. `name`: name of the sheet.
void add_charts(const SheetInMaking& s, const std::string& name, std::size_t last, CellPlace at);

} // namespace rankscope
