// One self-contained HTML page: no network, no script, light and dark, printable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// A row with one number per series; NaN where a series lacks it.
struct HtmlRow {
  std::string label;
  std::vector<double> values;
};

/// A table of rows by series, with differences to the first series, and bars on one shared axis.
struct HtmlSection {
  std::string title;
  std::string unit; ///< of every value, e.g. "ms"
  std::string note; ///< plain text under the title
  std::vector<HtmlRow> rows;
  bool bars = true;
};

struct HtmlImage {
  std::string label;
  std::string png; ///< the file's bytes
};

struct HtmlReport {
  std::string title;
  std::vector<std::string> series;  ///< labels of the sweeps, the first is the baseline
  std::vector<std::string> summary; ///< sentences
  std::vector<HtmlSection> sections;
  std::vector<HtmlImage> images;
};

[[nodiscard]] std::string html_escaped(std::string_view text);
/// The page; every text is escaped. A lower value counts as better (green).
[[nodiscard]] std::string html_page(const HtmlReport& report);

} // namespace rankscope
