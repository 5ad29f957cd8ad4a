// libxlsxwriter, which is opened when the first workbook is written. Loading it with its
// cryptography libraries takes as long as loading all of rankscope's code, and most commands do not
// write workbooks.
#pragma once

#include "os/library_calls.h"

#include <xlsxwriter.h>

// every libxlsxwriter function that rankscope calls
#define RANKSCOPE_XLSXWRITER_CALLS(RS_CALL)                                                        \
  RS_CALL(chart_add_series)                                                                        \
  RS_CALL(chart_axis_set_label_position)                                                           \
  RS_CALL(chart_axis_set_log_base)                                                                 \
  RS_CALL(chart_axis_set_name)                                                                     \
  RS_CALL(chart_axis_set_reverse)                                                                  \
  RS_CALL(chart_legend_set_position)                                                               \
  RS_CALL(chart_series_set_categories)                                                             \
  RS_CALL(chart_series_set_line)                                                                   \
  RS_CALL(chart_series_set_marker_type)                                                            \
  RS_CALL(chart_series_set_name)                                                                   \
  RS_CALL(chart_series_set_name_range)                                                             \
  RS_CALL(chart_series_set_values)                                                                 \
  RS_CALL(chart_title_set_name)                                                                    \
  RS_CALL(format_set_align)                                                                        \
  RS_CALL(format_set_bg_color)                                                                     \
  RS_CALL(format_set_bold)                                                                         \
  RS_CALL(format_set_font_color)                                                                   \
  RS_CALL(format_set_italic)                                                                       \
  RS_CALL(format_set_num_format)                                                                   \
  RS_CALL(format_set_text_wrap)                                                                    \
  RS_CALL(lxw_workbook_free)                                                                       \
  RS_CALL(workbook_add_chart)                                                                      \
  RS_CALL(workbook_add_format)                                                                     \
  RS_CALL(workbook_add_worksheet)                                                                  \
  RS_CALL(workbook_close)                                                                          \
  RS_CALL(workbook_new_opt)                                                                        \
  RS_CALL(workbook_set_properties)                                                                 \
  RS_CALL(worksheet_add_table)                                                                     \
  RS_CALL(worksheet_autofilter)                                                                    \
  RS_CALL(worksheet_conditional_format_range)                                                      \
  RS_CALL(worksheet_data_validation_range)                                                         \
  RS_CALL(worksheet_fit_to_pages)                                                                  \
  RS_CALL(worksheet_freeze_panes)                                                                  \
  RS_CALL(worksheet_hide)                                                                          \
  RS_CALL(worksheet_insert_chart_opt)                                                              \
  RS_CALL(worksheet_merge_range)                                                                   \
  RS_CALL(worksheet_repeat_rows)                                                                   \
  RS_CALL(worksheet_set_column_opt)                                                                \
  RS_CALL(worksheet_set_landscape)                                                                 \
  RS_CALL(worksheet_set_tab_color)                                                                 \
  RS_CALL(worksheet_write_boolean)                                                                 \
  RS_CALL(worksheet_write_number)                                                                  \
  RS_CALL(worksheet_write_string)                                                                  \
  RS_CALL(worksheet_write_url_opt)

namespace rankscope {

/// The functions of the library, with their original names.
struct XlsxWriterLibrary {
  RANKSCOPE_XLSXWRITER_CALLS(RS_LIBRARY_MEMBER)

  /// Returns the library. The first call opens it; it stays open until the program ends.
  /// Thread-safe. Errors: kMissingTool.
  [[nodiscard]] static Result<const XlsxWriterLibrary*> get();
};

} // namespace rankscope
