// Everything in a sheet except its cells: formats, colours by value, table styles, charts, and
// descriptions of columns.
#pragma once

#include "core/table.h"
#include "writers/xlsxwriter_library.h"

#include <cstddef>
#include <map>
#include <string>

namespace rankscope {

/// The formats of a workbook. This object must outlive the workbook.
class WorkbookFormats {
public:
  WorkbookFormats(const XlsxWriterLibrary& library, lxw_workbook* book);
  /// Returns the format of the numbers in a column; nullptr = no format.
  lxw_format* format_of(const Column& column);

  lxw_format* header;
  lxw_format* note;
  lxw_format* sentence; ///< format for findings: breaks lines
  lxw_format* better;
  lxw_format* worse;
  lxw_format* other; ///< format for a status that is neither better nor worse
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
/// A range of rows of the table: `first` to `last` - 1.
struct RowRange {
  std::size_t first, last;
};

/// Adds the descriptions of columns to the headers as input messages, which Excel shows when a
/// header is selected. Comments would make a report larger by two thirds, messages by an eighth.
/// Adjacent columns with the same description have one message.
void explain_headers(const SheetInMaking& s, lxw_row_t header_row);

/// Colours cells from red over white to green. 0 is white, and both ends have the same distance
/// from 0. So a column that contains only improvements has no red.
void colour_by_sign(const SheetInMaking& s, std::size_t c, RowRange rows);

/// Colours changes that are significant according to the status in another column of the row. Other
/// changes have no colour.
void colour_by_other(const SheetInMaking& s, std::size_t c, std::size_t status, lxw_row_t last_row);

/// Colours the cells that begin with Better, Worse, New or "only in", from the top left to `last`.
void colour_by_status(const SheetInMaking& s, CellPlace last);

/// Makes the existing cells an Excel table. Headers must differ even if case is ignored.
void style_as_table(const SheetInMaking& s, lxw_row_t last);

/// Adds the charts with rows before `last`, next to each other from `at` on. `name`: name of the
/// sheet.
void add_charts(const SheetInMaking& s, const std::string& name, std::size_t last, CellPlace at);

} // namespace rankscope
