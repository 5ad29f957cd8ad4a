// One self-contained HTML page: no network, no script, light and dark, printable.
#pragma once

#include "core/table.h"

#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Whether a difference is significant: without an interval it has no colour, and without
/// significance it is grey.
enum class Told { kNoInterval, kAlike, kDiffers };

/// A row with one number per series; NaN where a series lacks it.
struct HtmlRow {
  std::string label;
  std::vector<double> values;
  std::vector<Told> told = {}; ///< per series, against the first; empty: no intervals
};

struct HtmlImage {
  std::string label;
  std::string svg; ///< text of the file
};

/// A line chart of one value over a sequence.
struct HtmlTrend {
  struct Point {
    std::string label;
    double value = 0;      ///< NaN: the line has a gap
    std::string mark = {}; ///< why the point is marked; empty: it is not
  };
  std::string title; ///< with the unit
  std::vector<Point> points;
};

/// A heading and any of: a note, line charts, images, bars and a table of rows by series with
/// differences to the first series, complete tables.
struct HtmlSection {
  std::string title;
  int level = 2;                   ///< 2 or 3
  std::string note;                ///< plain text under the title
  std::vector<std::string> points; ///< a list of sentences under it
  std::vector<HtmlTrend> trends;
  std::vector<HtmlImage> images;
  bool side_by_side = false; ///< images next to each other where the page is wide
  std::string unit;          ///< of every value in rows, e.g. "ms"
  std::vector<HtmlRow> rows;
  bool bars = true;              ///< of rows, on one shared axis
  bool higher_is_better = false; ///< turns the sign of the differences: positive is better
  std::vector<Table> tables;     ///< delta and status columns are coloured
};

struct HtmlReport {
  std::string title;
  std::vector<std::string> series;  ///< labels of the sides, the first is the baseline
  std::vector<std::string> summary; ///< sentences
  double refresh_s = 0;             ///< seconds after which the browser reloads the page; 0: never
  std::vector<HtmlSection> sections;
};

/// Returns the page; every text is escaped.
[[nodiscard]] std::string html_page(const HtmlReport& report);

} // namespace rankscope
