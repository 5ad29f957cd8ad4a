// One self-contained HTML page without network access or scripts, for light and dark themes and
// print.
#pragma once

#include "core/table.h"

#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Significance of a difference. A difference without an interval has no colour, and one without
/// significance is grey.
enum class Significance { kNoInterval, kAlike, kDiffers };

/// A row with one number per series; NaN if a series has no number.
struct HtmlRow {
  std::string label;
  std::vector<double> values;
  std::vector<Significance> significance =
      {}; ///< per series, compared with the first series; empty: no intervals
};

struct HtmlImage {
  std::string label;
  std::string svg; ///< text of the SVG file
};

/// A line chart of one value over a sequence of points.
struct HtmlTrend {
  struct Point {
    std::string label;
    double value = 0;      ///< NaN: gap in the line
    std::string mark = {}; ///< reason of a mark; empty: no mark
  };
  std::string title; ///< title with the unit
  std::vector<Point> points;
};

/// A heading and optional content: a note, line charts, images, bars and a table of rows by series
/// with differences to the first series, complete tables.
struct HtmlSection {
  std::string title;
  int level = 2;                   ///< 2 or 3
  std::string note;                ///< plain text below the title
  std::vector<std::string> points; ///< list of sentences below the note
  std::vector<HtmlTrend> trends;
  std::vector<HtmlImage> images;
  bool side_by_side = false; ///< images next to each other if the page is wide enough
  std::string unit;          ///< unit of all values in rows, e.g. "ms"
  std::vector<HtmlRow> rows;
  bool bars = true;              ///< draw bars for rows, on one shared axis
  bool higher_is_better = false; ///< inverts the sign of differences: positive is better
  std::vector<Table> tables;     ///< delta and status columns get colours
};

struct HtmlReport {
  std::string title;
  std::vector<std::string> series;  ///< labels of the sides; the first is the baseline
  std::vector<std::string> summary; ///< list of sentences
  double refresh_s = 0;             ///< reload interval of the page in seconds; 0: never
  std::vector<HtmlSection> sections;
};

/// Returns the HTML text of the page. Every text is escaped.
[[nodiscard]] std::string html_page(const HtmlReport& report);

} // namespace rankscope
