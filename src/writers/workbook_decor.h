// Parts of a sheet other than its cells: formats, colours by value, the style of a table, charts,
// and the meaning of headers.
#pragma once

#include "core/table.h"
#include "writers/xlsxwriter_library.h"

#include <cstddef>
#include <map>
#include <string>

namespace rankscope {

/// The formats of a workbook, which must outlive it.
class WorkbookFormats {
public:
  WorkbookFormats(const XlsxWriterLibrary& library, lxw_workbook* book);
  /// Of the column's numbers; nullptr = none.
  lxw_format* of(const Column& column);

  lxw_format* header;
  lxw_format* note;
  lxw_format* sentence; ///< of a finding: in lines
  lxw_format* better;
  lxw_format* worse;
  lxw_format* other; ///< neither better nor worse, but visible
  int tables = 0;    ///< styled ones so far: each needs a different name

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
/// Of a table, from `first` to before `last`.
struct RowRange {
  std::size_t first, last;
};

/// Shows the meaning of a column as an input message when its header is selected. Comments make a
/// report larger by two thirds, messages by an eighth; neighbours with one meaning share a message.
void explain_headers(const SheetInMaking& s, lxw_row_t header_row);

/// Red to white to green, anchored at 0 and equally far on both sides, so that a column of gains
/// has no red in it.
void colour_by_sign(const SheetInMaking& s, std::size_t c, RowRange rows);

/// Changes that are significant, by the status in another column of the row; no colour for the
/// others.
void colour_by_other(const SheetInMaking& s, std::size_t c, std::size_t status, lxw_row_t last_row);

/// Cells that say Better, Worse, New or where they are, down to `last`.
void colour_by_status(const SheetInMaking& s, CellPlace last);

/// An Excel table over the cells that are there. Headers must differ without regard to case.
void style_as_table(const SheetInMaking& s, lxw_row_t last);

/// Adds the charts of the first `last` rows, side by side from `at`. `name`: the sheet.
void add_charts(const SheetInMaking& s, const std::string& name, std::size_t last, CellPlace at);

} // namespace rankscope
