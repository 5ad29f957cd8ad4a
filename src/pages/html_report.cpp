// One self-contained HTML page. Plots are SVG in base64.
#include "pages/html_report.h"

#include "base/base64.h"
#include "base/number_text.h"
#include "base/xml_text.h"

#include "base/statistics.h"
#include "findings/compose.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace rankscope {
namespace {

constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--line:#d0d7de;--head:#f3f5f7;--good:#116329;
--bad:#b3261e;--s0:#3366aa;--s1:#e07b00;--s2:#2a9d6a;--s3:#8a4fbf}
@media (prefers-color-scheme:dark){:root{--bg:#14171b;--fg:#e6e9ec;--line:#3a4149;--head:#20252b;
--good:#5fd38a;--bad:#ff8a80;--s0:#7aa7e8;--s1:#ffb04d;--s2:#6fd6a6;--s3:#c79bf0}}
body{background:var(--bg);color:var(--fg);font:15px/1.45 system-ui,sans-serif;max-width:70rem;
margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;margin:.6rem 0}
th,td{border:1px solid var(--line);padding:.25rem .6rem;text-align:right}th{background:var(--head)}
th:first-child,td:first-child,td.text{text-align:left;overflow-wrap:anywhere}
.good{color:var(--good)}.bad{color:var(--bad)}.alike{color:#8a8a8a}.wide{overflow-x:auto}.wide th,.wide td{white-space:nowrap}
.wide td.text{max-width:32rem;overflow:hidden;text-overflow:ellipsis}figure{margin:.6rem 0}
.side{display:grid;grid-template-columns:repeat(auto-fit,minmax(24rem,1fr));gap:.6rem}
figcaption{font-size:.9em}svg text{fill:var(--fg);font:12px system-ui,sans-serif}
svg,img{max-width:100%;height:auto}
@media print{:root{--bg:#fff;--fg:#000}body{margin:0;max-width:none}section{break-inside:avoid}}
)";

std::string number(double value) {
  return std::isnan(value) ? "" : fmt::format("{:.3f}", value);
}

std::string difference(double base, double value, bool higher_is_better,
                       Significance significance) {
  if (std::isnan(base) || std::isnan(value))
    return "<td></td>";
  const std::optional<double> percent =
      improvement_percent(base, value, higher_is_better ? Better::kHigher : Better::kLower);
  if (!percent)
    return "<td>new</td>";
  const std::string text = fixed_text(*percent, 2, Plus::kWritten) + " %";
  if (text == "0.00 %")
    return "<td>0.00 %</td>";
  if (significance == Significance::kNoInterval)
    return fmt::format("<td>{}</td>", text);
  return fmt::format("<td class=\"{}\">{}</td>",
                     significance == Significance::kAlike ? "alike"
                     : *percent > 0                       ? "good"
                                                          : "bad",
                     text);
}

std::string cell_text(const Value& v, const Column& column) {
  return v.kind == CellKind::kText ? xml_escaped(v.text) : shown_value(v, column);
}

const char* cell_class(const Value& v, const Column& column) {
  if (column.delta && !v.is_null() && v.number() != 0)
    return v.number() > 0 ? "good" : "bad";
  if (column.status && v.text == "Better")
    return "good text";
  if (column.status && v.text == "Worse")
    return "bad text";
  return v.kind == CellKind::kText ? "text" : "";
}

std::string full_table(const Table& t) {
  constexpr std::size_t kMostRows = 200;
  std::string out = "<div class=\"wide\"><table><thead><tr>";
  for (const Column& c : t.columns())
    if (!c.hidden)
      out += fmt::format("<th>{}</th>", xml_escaped(c.name));
  out += "</tr></thead><tbody>\n";
  for (std::size_t r = 0; r < std::min(t.rows(), kMostRows); ++r) {
    out += "<tr>";
    for (std::size_t c = 0; c < t.cols(); ++c) {
      const Column& column = t.columns()[c];
      if (column.hidden)
        continue;
      const Value v = t.at(r, c);
      const std::string style = cell_class(v, column);
      out += style.empty() ? "<td>" : fmt::format("<td class=\"{}\">", style);
      out += cell_text(v, column) + "</td>";
    }
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  if (t.rows() > kMostRows)
    out += fmt::format("<p>{} more rows are in the table's file.</p>\n", t.rows() - kMostRows);
  for (const std::string& note : t.notes)
    out += fmt::format("<p>{}</p>\n", xml_escaped(note));
  return out;
}

std::string images(const HtmlSection& section) {
  std::string out = section.side_by_side ? "<div class=\"side\">" : "";
  for (const HtmlImage& image : section.images) {
    const std::string label = xml_escaped(image.label);
    out += fmt::format("<figure><img alt=\"{0}\" src=\"data:image/svg+xml;base64,{1}\">"
                       "<figcaption>{0}</figcaption></figure>\n",
                       label, base64(image.svg));
  }
  return out + (section.side_by_side ? "</div>\n" : "");
}

std::string list(const std::vector<std::string>& sentences) {
  std::string out = "<ul>\n";
  for (const std::string& sentence : sentences)
    out += fmt::format("<li>{}</li>\n", xml_escaped(sentence));
  return out + "</ul>";
}

std::string table(const HtmlReport& report, const HtmlSection& section) {
  std::string out = "<table><thead><tr><th></th>";
  for (std::size_t s = 0; s < report.series.size(); ++s) {
    const std::string label = xml_escaped(report.series[s]);
    out += fmt::format("<th>{} ({})</th>", label, xml_escaped(section.unit));
    if (s > 0)
      out += fmt::format("<th>{} against {} ({})</th>", label, xml_escaped(report.series[0]),
                         kImprovementSign);
  }
  out += "</tr></thead><tbody>\n";
  for (const HtmlRow& row : section.rows) {
    out += fmt::format("<tr><td>{}</td>", xml_escaped(row.label));
    for (std::size_t s = 0; s < row.values.size(); ++s) {
      out += fmt::format("<td>{}</td>", number(row.values[s]));
      if (s > 0)
        out += difference(row.values[0], row.values[s], section.higher_is_better,
                          s < row.significance.size() ? row.significance[s]
                                                      : Significance::kNoInterval);
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table>\n";
}

std::string bars(const HtmlReport& report, const HtmlSection& section) {
  double top = 0;
  for (const HtmlRow& row : section.rows)
    for (const double v : row.values)
      if (!std::isnan(v))
        top = std::max(top, v);
  if (top <= 0)
    return "";
  std::string marks;
  double y = 22;
  for (std::size_t s = 0; s < report.series.size(); ++s)
    marks += fmt::format("<rect x=\"{}\" y=\"4\" width=\"10\" height=\"10\" fill=\"var(--s{})\"/>"
                         "<text x=\"{}\" y=\"13\">{}</text>\n",
                         220 + 180 * s, s % 4, 234 + 180 * s, xml_escaped(report.series[s]));
  for (const HtmlRow& row : section.rows) {
    marks += fmt::format("<text x=\"210\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>\n", y + 12,
                         xml_escaped(row.label.substr(0, 32)));
    for (std::size_t s = 0; s < row.values.size(); ++s, y += 16) {
      if (std::isnan(row.values[s]))
        continue;
      const double width = 560 * std::max(0.0, row.values[s]) / top;
      marks += fmt::format("<rect x=\"220\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"13\" "
                           "fill=\"var(--s{})\"/><text x=\"{:.1f}\" y=\"{:.0f}\">{}</text>\n",
                           y, width, s % 4, 226 + width, y + 11, number(row.values[s]));
    }
    y += 8;
  }
  return fmt::format("<svg role=\"img\" viewBox=\"0 0 880 {0:.0f}\" width=\"880\" "
                     "height=\"{0:.0f}\">\n{1}</svg>\n",
                     y, marks);
}

/// Returns a chart of the points. Lines join neighbours that both have a value; marked points are
/// on top. Returns "" when no point has a value.
std::string trend_chart(const HtmlTrend& trend) {
  constexpr double kLeft = 70;
  constexpr double kWidth = 790;
  constexpr double kTop = 24;
  constexpr double kHeight = 96;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const HtmlTrend::Point& p : trend.points)
    if (std::isfinite(p.value)) {
      low = std::min(low, p.value);
      high = std::max(high, p.value);
    }
  if (!(low <= high))
    return "";
  const double span = high > low ? high - low : 1;
  const auto last = static_cast<double>(std::max<std::size_t>(trend.points.size(), 2) - 1);
  std::string lines;
  std::string dots;
  std::string marks;
  bool joined = false;
  for (std::size_t i = 0; i < trend.points.size(); ++i) {
    const HtmlTrend::Point& p = trend.points[i];
    const bool there = std::isfinite(p.value);
    if (there) {
      const double x = kLeft + kWidth * static_cast<double>(i) / last;
      const double y = kTop + kHeight * (1 - (p.value - low) / span);
      lines += fmt::format("{}{:.1f} {:.1f}", joined ? "L" : "M", x, y);
      const bool marked = !p.mark.empty();
      (marked ? marks : dots) += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"var(--{})\"><title>{}: {}{}</title>"
          "</circle>\n",
          x, y, marked ? 6 : 3, marked ? "bad" : "s0", xml_escaped(p.label), number(p.value),
          marked ? ": " + xml_escaped(p.mark) : "");
    }
    joined = there;
  }
  return fmt::format("<svg role=\"img\" viewBox=\"0 0 880 150\" width=\"880\" height=\"150\">"
                     "<text x=\"{0}\" y=\"13\">{1}</text>\n"
                     "<text x=\"{2}\" y=\"{3}\" text-anchor=\"end\">{4}</text>"
                     "<text x=\"{2}\" y=\"{5}\" text-anchor=\"end\">{6}</text>"
                     "<text x=\"{0}\" y=\"144\">{7}</text>"
                     "<text x=\"{8}\" y=\"144\" text-anchor=\"end\">{9}</text>\n"
                     "<path d=\"{10}\" fill=\"none\" stroke=\"var(--s0)\" "
                     "stroke-width=\"1.5\"/>\n{11}{12}</svg>\n",
                     kLeft, xml_escaped(trend.title), kLeft - 8, kTop + 4, number3(high),
                     kTop + kHeight + 4, number3(low), xml_escaped(trend.points.front().label),
                     kLeft + kWidth, xml_escaped(trend.points.back().label), lines, dots, marks);
}

} // namespace

std::string html_page(const HtmlReport& report) {
  const std::string title = xml_escaped(report.title);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">{}<title>{}</title>\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<link rel=\"icon\" href=\"data:,\"><style>{}</style></head>\n<body><h1>{}</h1>\n",
      report.refresh_s > 0 ? fmt::format("<meta http-equiv=\"refresh\" content=\"{:.0f}\">",
                                         std::max(1.0, report.refresh_s))
                           : std::string(),
      title, kStyle, title);
  out += "<section><h2>Summary</h2>" + list(report.summary) + "</section>\n";
  for (const HtmlSection& section : report.sections) {
    out += fmt::format("<section><h{0}>{1}</h{0}>", section.level == 3 ? 3 : 2,
                       xml_escaped(section.title));
    if (!section.note.empty())
      out += fmt::format("<p>{}</p>\n", xml_escaped(section.note));
    if (!section.points.empty())
      out += list(section.points);
    for (const HtmlTrend& trend : section.trends)
      out += trend_chart(trend);
    out += images(section);
    if (!section.rows.empty()) {
      if (section.bars)
        out += bars(report, section);
      out += table(report, section);
    }
    for (const Table& t : section.tables)
      out += full_table(t);
    out += "</section>\n";
  }
  return out + "</body></html>\n";
}

} // namespace rankscope
