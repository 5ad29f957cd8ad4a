#include "writers/workbook_decor.h"

#include "base/ascii.h"
#include "core/column_meaning.h"
#include "writers/workbook_text.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

namespace rankscope {

WorkbookFormats::WorkbookFormats(const XlsxWriterLibrary& library, lxw_workbook* book)
    : header(library.workbook_add_format(book)), note(library.workbook_add_format(book)),
      sentence(library.workbook_add_format(book)), better(library.workbook_add_format(book)),
      worse(library.workbook_add_format(book)), other(library.workbook_add_format(book)),
      lib_(library), book_(book) {
  lib_.format_set_bold(header);
  lib_.format_set_bg_color(header, 0x1F4E78);
  lib_.format_set_font_color(header, LXW_COLOR_WHITE);
  lib_.format_set_text_wrap(header);
  lib_.format_set_align(header, LXW_ALIGN_VERTICAL_TOP);
  lib_.format_set_italic(note);
  lib_.format_set_text_wrap(sentence);
  lib_.format_set_align(sentence, LXW_ALIGN_VERTICAL_TOP);
  lib_.format_set_font_color(better, 0x006100);
  lib_.format_set_bg_color(better, 0xC6EFCE);
  lib_.format_set_font_color(worse, 0x9C0006);
  lib_.format_set_bg_color(worse, 0xFFC7CE);
  lib_.format_set_font_color(other, 0x7F6000);
  lib_.format_set_bg_color(other, 0xFFEB9C);
}

lxw_format* WorkbookFormats::format_of(const Column& column) {
  const char* const text = number_format(column);
  if (text == nullptr)
    return nullptr;
  lxw_format*& format = numbers_[text];
  if (format == nullptr) {
    format = lib_.workbook_add_format(book_);
    lib_.format_set_num_format(format, text);
  }
  return format;
}

void explain_headers(const SheetInMaking& s, lxw_row_t header_row) {
  constexpr std::size_t kMaxMessage = 255; // Excel's limit in characters
  std::vector<std::string> meanings;
  for (const Column& column : s.table.columns())
    meanings.push_back(column_meaning(column));
  for (std::size_t c = 0, next = 0; c < meanings.size(); c = next) {
    next = c + 1;
    while (next < meanings.size() && meanings[next] == meanings[c])
      ++next;
    std::string help = cell_text(meanings[c]);
    if (help.empty() || help.size() > kMaxMessage)
      continue;
    lxw_data_validation rule = {};
    rule.validate = LXW_VALIDATION_TYPE_ANY;
    rule.input_message = help.data();
    s.lib.worksheet_data_validation_range(s.sheet, header_row, static_cast<lxw_col_t>(c),
                                          header_row, static_cast<lxw_col_t>(next - 1), &rule);
  }
}

void colour_by_sign(const SheetInMaking& s, std::size_t c, RowRange rows) {
  double reach = 0;
  for (std::size_t r = rows.first; r < rows.last; ++r)
    if (const double v = s.table.at(r, c).number(); std::isfinite(v))
      reach = std::max(reach, std::fabs(v));
  if (reach == 0)
    return;
  lxw_conditional_format rule = {};
  rule.type = LXW_CONDITIONAL_3_COLOR_SCALE;
  rule.min_rule_type = rule.mid_rule_type = rule.max_rule_type = LXW_CONDITIONAL_RULE_TYPE_NUMBER;
  rule.min_value = -reach;
  rule.mid_value = 0;
  rule.max_value = reach;
  rule.min_color = 0xF8696B;
  rule.mid_color = 0xFFFFFF;
  rule.max_color = 0x63BE7B;
  s.lib.worksheet_conditional_format_range(s.sheet, 1, static_cast<lxw_col_t>(c),
                                           static_cast<lxw_row_t>(rows.last - rows.first),
                                           static_cast<lxw_col_t>(c), &rule);
}

void colour_by_other(const SheetInMaking& s, std::size_t c, std::size_t status,
                     lxw_row_t last_row) {
  std::string letters;
  for (std::size_t n = status + 1; n > 0; n = (n - 1) / 26)
    letters.insert(letters.begin(), static_cast<char>('A' + (n - 1) % 26));
  const std::pair<const char*, lxw_format*> rules[] = {{"Better", s.formats.better},
                                                       {"Worse", s.formats.worse}};
  for (const auto& [text, format] : rules) {
    std::string formula = "=LEFT($" + letters + "2," + std::to_string(std::string(text).size()) +
                          ")=\"" + text + "\"";
    lxw_conditional_format rule = {};
    rule.type = LXW_CONDITIONAL_TYPE_FORMULA;
    rule.value_string = formula.data();
    rule.format = format;
    s.lib.worksheet_conditional_format_range(s.sheet, 1, static_cast<lxw_col_t>(c), last_row,
                                             static_cast<lxw_col_t>(c), &rule);
  }
}

void colour_by_status(const SheetInMaking& s, CellPlace last) {
  const std::pair<const char*, lxw_format*> rules[] = {{"Better", s.formats.better},
                                                       {"Worse", s.formats.worse},
                                                       {"New", s.formats.other},
                                                       {"only in", s.formats.other}};
  for (const auto& [text, format] : rules) {
    lxw_conditional_format rule = {};
    rule.type = LXW_CONDITIONAL_TYPE_TEXT;
    rule.criteria = LXW_CONDITIONAL_CRITERIA_TEXT_BEGINS_WITH;
    rule.value_string = const_cast<char*>(text); // older versions of the library need a char*
    rule.format = format;
    s.lib.worksheet_conditional_format_range(s.sheet, 1, last.col, last.row, last.col, &rule);
  }
}

void style_as_table(const SheetInMaking& s, lxw_row_t last) {
  std::set<std::string> used;
  std::vector<std::string> headers;
  for (const Column& column : s.table.columns()) {
    std::string header = cell_text(column.name.empty() ? "column" : column.name);
    const std::string base = header;
    for (int i = 2; !used.insert(lowercase(header)).second; ++i)
      header = base + "~" + std::to_string(i);
    headers.push_back(std::move(header));
  }
  std::vector<lxw_table_column> columns(headers.size());
  std::vector<lxw_table_column*> pointers;
  for (std::size_t c = 0; c < headers.size(); ++c) {
    columns[c].header = headers[c].data();
    columns[c].header_format = s.formats.header;
    columns[c].format = s.formats.format_of(s.table.columns()[c]);
    pointers.push_back(&columns[c]);
  }
  pointers.push_back(nullptr);
  std::string name = "Table" + std::to_string(++s.formats.tables);
  lxw_table_options options = {};
  options.name = name.data();
  options.style_type = LXW_TABLE_STYLE_TYPE_MEDIUM;
  options.style_type_number = 2;
  options.columns = pointers.data();
  s.lib.worksheet_add_table(s.sheet, 0, 0, last, static_cast<lxw_col_t>(headers.size() - 1),
                            &options);
}

namespace {

std::uint8_t chart_type(Chart::Kind kind) {
  switch (kind) {
  case Chart::Kind::kBars:
    return LXW_CHART_BAR;
  case Chart::Kind::kPoints:
    return LXW_CHART_SCATTER;
  case Chart::Kind::kColumns:
    break;
  }
  return LXW_CHART_COLUMN;
}

/// Adds a series with the rows `rows` of the table: labels from the label column of the chart,
/// values from one value column.
lxw_chart_series* add_series(const SheetInMaking& s, const std::string& name, lxw_chart* chart,
                             const Chart& hint, std::size_t value_column, RowRange rows) {
  lxw_chart_series* const series = s.lib.chart_add_series(chart, nullptr, nullptr);
  const auto top = static_cast<lxw_row_t>(rows.first + 1); // the first row below the header
  const auto bottom = static_cast<lxw_row_t>(rows.last);
  const auto label = static_cast<lxw_col_t>(hint.label_column);
  const auto value = static_cast<lxw_col_t>(value_column);
  s.lib.chart_series_set_categories(series, name.c_str(), top, label, bottom, label);
  s.lib.chart_series_set_values(series, name.c_str(), top, value, bottom, value);
  return series;
}

/// Adds points and lines on logarithmic axes. A part of the chart without rows is left out.
void add_points(const SheetInMaking& s, const std::string& name, lxw_chart* chart,
                const Chart& hint) {
  std::size_t first = hint.first_row;
  for (const Chart::Part& part : hint.parts) {
    const std::size_t last = first + std::min(part.rows, hint.last_row - first);
    for (const std::size_t c : hint.value_columns) {
      if (last == first)
        continue;
      lxw_chart_series* const series = add_series(s, name, chart, hint, c, {first, last});
      const bool formula = part.name.starts_with('='); // Excel would treat the name as a formula
      s.lib.chart_series_set_name(series, cell_text((formula ? " " : "") + part.name).c_str());
      if (!part.line)
        continue;
      lxw_chart_line line = {};
      line.width = 1.5;
      s.lib.chart_series_set_line(series, &line);
      s.lib.chart_series_set_marker_type(series, LXW_CHART_MARKER_NONE);
    }
    first = last;
  }
  constexpr std::uint16_t kDecades = 10;
  s.lib.chart_axis_set_log_base(chart->x_axis, kDecades);
  s.lib.chart_axis_set_log_base(chart->y_axis, kDecades);
  s.lib.chart_axis_set_name(chart->x_axis, hint.label_title.c_str());
}

} // namespace

void add_charts(const SheetInMaking& s, const std::string& name, std::size_t last, CellPlace at) {
  std::uint32_t left = 0;
  for (const Chart& hint : s.table.charts) {
    if (hint.first_row >= hint.last_row || hint.last_row > last)
      continue;
    const bool bars = hint.kind == Chart::Kind::kBars;
    const bool points = hint.kind == Chart::Kind::kPoints;
    lxw_chart* const chart = s.lib.workbook_add_chart(s.book, chart_type(hint.kind));
    if (chart == nullptr)
      return;
    if (points)
      add_points(s, name, chart, hint);
    else
      for (const std::size_t c : hint.value_columns)
        s.lib.chart_series_set_name_range(
            add_series(s, name, chart, hint, c, {hint.first_row, hint.last_row}), name.c_str(), 0,
            static_cast<lxw_col_t>(c));
    s.lib.chart_title_set_name(chart, hint.title.c_str());
    s.lib.chart_axis_set_name(bars ? chart->x_axis : chart->y_axis, hint.value_title.c_str());
    s.lib.chart_legend_set_position(chart, points || hint.value_columns.size() > 1
                                               ? LXW_CHART_LEGEND_BOTTOM
                                               : LXW_CHART_LEGEND_NONE);
    if (bars) { // show the first row at the top, and the labels away from negative bars
      s.lib.chart_axis_set_reverse(chart->y_axis);
      s.lib.chart_axis_set_label_position(chart->y_axis, LXW_CHART_AXIS_LABEL_POSITION_LOW);
    }
    lxw_chart_options options = {};
    options.x_offset = static_cast<std::int32_t>(left);
    options.x_scale = options.y_scale = 1.3;
    s.lib.worksheet_insert_chart_opt(s.sheet, at.row, at.col, chart, &options);
    left += 640;
  }
}

} // namespace rankscope
