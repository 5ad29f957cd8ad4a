#include "writers/plot_panels.h"

#include "writers/plots/axes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace rankscope {
namespace {

std::string data_block(const std::string& name, const std::string& rows) {
  return "$" + name + " << EOD\n" + rows + "EOD\n";
}

/// "name" 1, "name" 2, ...: every `step`th.
std::string tic_list(const std::vector<std::string>& names, std::size_t step = 1) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); i += step)
    out += fmt::format("{}{} {}", i > 0 ? ", " : "", gnuplot_quoted(names[i]), i + 1);
  return out;
}

/// Ticks of named categories along an axis of `width_in` inches: side by side where they fit, else
/// names that differ in their number only (ranks) thinned out to round steps and others turned.
std::string category_tics(const std::vector<std::string>& names, double width_in) {
  constexpr double kCharacterIn = 0.09; // of the fonts that write_plots sets
  constexpr double kLineIn = 0.2;
  std::size_t longest = 0;
  std::size_t lines = 1;
  for (const std::string& name : names) {
    std::size_t line = 0;
    std::size_t breaks = 1;
    for (const char c : name) {
      line = c == '\n' ? 0 : line + 1;
      breaks += c == '\n' ? 1 : 0;
      longest = std::max(longest, line);
    }
    lines = std::max(lines, breaks);
  }
  const double each = 0.75 * width_in / static_cast<double>(std::max<std::size_t>(1, names.size()));
  const NameSteps steps = name_steps(names, static_cast<double>(longest + 1) * kCharacterIn,
                                     kLineIn * static_cast<double>(lines), each);
  std::string out = fmt::format("set xtics ({}){}\n", tic_list(names, steps.step),
                                steps.turned ? " rotate by -35" : "");
  if (!steps.turned && lines > 1) // gnuplot leaves room for one line
    out += fmt::format("set bmargin {}\n", lines + 3);
  return out;
}

constexpr const char* kGrey = "#C4C4C4";

bool is_grey(const PlotSeries& series, std::size_t i) {
  return i < series.grey.size() && series.grey[i];
}

/// Low and high of a value, NaN where it has none.
std::pair<double, double> interval_of(const PlotSeries& series, std::size_t i) {
  return i < series.intervals.size() ? series.intervals[i] : std::pair(std::nan(""), std::nan(""));
}

/// One bar as gnuplot's boxxyerror wants it: centre, then the box.
std::string bar_row(bool sideways, double v, double from, double to) {
  const double middle = (from + to) / 2;
  return sideways ? fmt::format("{0} {1} {2} {3} {4} {5}\n", v / 2, middle, std::min(v, 0.0),
                                std::max(v, 0.0), from, to)
                  : fmt::format("{0} {1} {2} {3} {4} {5}\n", middle, v / 2, from, to,
                                std::min(v, 0.0), std::max(v, 0.0));
}

/// Data of the bars of one panel.
struct BarRows {
  std::vector<std::array<std::string, 3>> boxes; ///< by series: [1] negative ones, where the sign
                                                 ///< has a colour; [2] grey ones
  std::string values, whiskers;
  std::size_t widest_value = 0; ///< characters
  double low = 0, high = 0;
};

BarRows bar_rows(const PlotPanel& panel, bool sideways) {
  BarRows out;
  const double width = 0.8 / static_cast<double>(std::max<std::size_t>(1, panel.series.size()));
  for (const PlotSeries& series : panel.series) {
    const auto place = static_cast<double>(out.boxes.size()) * width;
    auto& boxes = out.boxes.emplace_back();
    for (std::size_t i = 0; i < series.values.size(); ++i) {
      const double v = series.values[i];
      if (std::isnan(v))
        continue;
      const auto [from_v, to_v] = interval_of(series, i);
      out.low = std::fmin(std::min(out.low, v), from_v);
      out.high = std::fmax(std::max(out.high, v), to_v);
      const double from = static_cast<double>(i) + 0.6 + place;
      const double middle = from + width / 2;
      const std::size_t box = is_grey(series, i) ? 2 : panel.by_sign && v < 0 ? 1 : 0;
      boxes[box] += bar_row(sideways, v, from, from + width);
      if (!std::isnan(from_v) && !std::isnan(to_v))
        out.whiskers += sideways ? fmt::format("{} {} {} {}\n", v, middle, from_v, to_v)
                                 : fmt::format("{} {} {} {}\n", middle, v, from_v, to_v);
      if (sideways) {
        const std::string text = fmt::format("{:.1f}", v);
        out.widest_value = std::max(out.widest_value, text.size());
        out.values +=
            fmt::format("{} {} \"{}\"\n", std::fmax(std::max(v, 0.0), to_v), middle, text);
      }
    }
  }
  return out;
}

/// Room at the right of an axis of `width_in` inches for numbers behind the bars, as a share of
/// what the bars span: half of the width is left for these two.
double room_for(std::size_t characters, double width_in) {
  constexpr double kCharacterIn = 0.11;
  const double share =
      static_cast<double>(characters + 2) * kCharacterIn / std::max(0.5 * width_in, 0.1);
  const double most = std::min(share, 0.6);
  return std::max(0.12, most / (1 - most));
}

void bars(const PlotPanel& panel, const std::string& id, double width_in, std::string& data,
          std::string& body) {
  const bool sideways = panel.kind == PlotPanel::Kind::kSideBars;
  const BarRows rows = bar_rows(panel, sideways);
  std::string terms;
  const auto term = [&](const std::string& name, const std::string& boxes, const std::string& fill,
                        const std::string& title) {
    data += data_block(name, boxes);
    terms += fmt::format("{}${} using 1:2:3:4:5:6 with boxxyerror fs solid 0.9 border lc rgb "
                         "'#333333' lc rgb '{}' {}",
                         terms.empty() ? "" : ", ", name, fill, title);
  };
  for (std::size_t s = 0; s < panel.series.size(); ++s) {
    const bool named = panel.series.size() > 1 && !panel.series[s].label.empty();
    // the legend shows the first of its kinds of bars that there is
    std::string title = named ? "title " + gnuplot_quoted(panel.series[s].label) : "notitle";
    const std::string fills[] = {panel.by_sign ? "#2ECC71" : plot_colour(panel, s), "#E74C3C",
                                 kGrey};
    const char* const names[] = {"bar", "neg", "grey"};
    for (std::size_t kind = 0; kind < std::size(fills); ++kind)
      if (!rows.boxes[s][kind].empty())
        term(fmt::format("{}{}_{}", names[kind], id, s), rows.boxes[s][kind], fills[kind],
             std::exchange(title, "notitle"));
  }
  if (!rows.whiskers.empty()) {
    data += data_block("err" + id, rows.whiskers);
    // not errorbars: those leave a white disc around their point, on the end of the bar
    terms += fmt::format(", $err{} using {} with vectors heads size screen 0.004,90 lw 2*S lc rgb "
                         "'#333333' notitle",
                         id, sideways ? "3:2:($4-$3):(0)" : "1:3:(0):($4-$3)");
  }
  if (!rows.values.empty()) {
    data += data_block("val" + id, rows.values);
    terms += fmt::format(", $val{} using 1:2:3 with labels left offset 0.5,0 notitle", id);
  }
  const std::string range = fmt::format("{}.5", panel.categories.size());
  if (sideways)
    body += fmt::format(
        "set yrange [{}:0.5]\nset ytics ({})\nset grid xtics lw 2*S lc rgb '#CCCCCC'\nset "
        "offsets 0,graph {:.3f},0,0\n",
        range, tic_list(panel.categories), room_for(rows.widest_value, width_in));
  else
    body += fmt::format("set xrange [0.5:{}]\n", range) + category_tics(panel.categories, width_in);
  // nothing below 0: the bars stand on it
  if (!sideways && !panel.y_range && rows.low == 0 && rows.high > 0)
    body += "set offsets 0,0,graph 0.05,0\nset yrange [0:*]\n";
  body += fmt::format("{}plot {}\n",
                      sideways ? "set arrow from 0, graph 0 to 0, graph 1 nohead lc rgb '#333333'\n"
                               : "set xzeroaxis lt -1\n",
                      terms.empty() ? "[*:*] [0:1] -1 notitle" : terms); // empty axes
}

/// The size at which colours end: the largest, unless a few dwarf the others.
double colour_reach(std::vector<double> sizes) {
  if (sizes.empty())
    return 1;
  std::sort(sizes.begin(), sizes.end());
  const double usual = std::max(5.0, sizes[sizes.size() * 4 / 5]); // noise stays pale
  const double most = sizes.back();
  return most > 3 * usual ? usual : most > 0 ? most : 1;
}

void heat_map(const PlotPanel& panel, const std::string& id, double width_in, std::string& data,
              std::string& body) {
  std::vector<double> sizes;
  std::string rows;
  std::string grey;
  std::vector<std::string> labels;
  for (std::size_t r = 0; r < panel.series.size(); ++r) {
    labels.push_back(panel.series[r].label);
    for (std::size_t c = 0; c < panel.series[r].values.size(); ++c) {
      const double v = panel.series[r].values[c];
      if (std::isnan(v))
        continue;
      if (!is_grey(panel.series[r], c))
        sizes.push_back(std::fabs(v));
      (is_grey(panel.series[r], c) ? grey : rows) += fmt::format("{} {} {}\n", c + 1, r + 1, v);
    }
  }
  const double most = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
  const double reach = colour_reach(std::move(sizes));
  const std::size_t columns = panel.categories.size();
  body += fmt::format("unset grid\nset xrange [0.5:{}.5]\nset yrange [{}.5:0.5]\n{}set "
                      "ytics ({})\nset cbrange [{}:{}]\nset palette defined (-1 '#D73027', 0 "
                      "'#FFFFBF', 1 '#1A9850')\nunset key\n",
                      columns, panel.series.size(), category_tics(panel.categories, width_in),
                      tic_list(labels), -reach, reach);
  if (most > reach) // the ends of the colours stand for more
    body += fmt::format("set cbtics add ('<= {0:.3g}' {0}, '>= {1:.3g}' {1})\n", -reach, reach);
  const std::string box = "using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5)";
  std::vector<std::string> terms;
  if (!rows.empty())
    terms.push_back(
        fmt::format("$heat{} {}:3 with boxxyerror fs solid lc palette notitle", id, box));
  if (!grey.empty())
    terms.push_back(
        fmt::format("$grey{} {} with boxxyerror fs solid lc rgb '{}' notitle", id, box, kGrey));
  if (columns <= 32)
    for (const char* block : {"heat", "grey"})
      if (!(block[0] == 'h' ? rows : grey).empty())
        terms.push_back(
            fmt::format("${}{} using 1:2:(sprintf('%.1f', $3)) with labels notitle", block, id));
  data += data_block("heat" + id, rows) + data_block("grey" + id, grey);
  body += fmt::format("plot {}",
                      terms.empty() ? "-1 notitle" : fmt::format("{}", fmt::join(terms, ", ")));
  body += "\n";
}

} // namespace

std::string plot_colour(const PlotPanel& panel, std::size_t i) {
  static const char* const kColours[] = {"#4477AA", "#EE6677", "#228833", "#CCBB44",
                                         "#66CCEE", "#AA3377", "#777777", "#000000"};
  return panel.colours.empty() ? kColours[i % 8] : panel.colours[i % panel.colours.size()];
}

std::string gnuplot_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '`')
      out += '\'';
    else if (c == '\n')
      out += "\\n";
    else
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

void panel_script(const PlotPanel& panel, const std::string& title, const std::string& id,
                  double width_in, std::string& data, std::string& body) {
  body += "reset\nset grid ytics lw 2*S lc rgb '#CCCCCC'\nset border 3\nset tics nomirror\n"
          "set key outside top right horizontal\nset offsets 0,0,graph "
          "0.05,graph 0.05\n";
  body += fmt::format("set title {}\nset xlabel {}\nset ylabel {}\n", gnuplot_quoted(title),
                      gnuplot_quoted(panel.x_label), gnuplot_quoted(panel.y_label));
  if (panel.y_range)
    body += fmt::format("set offsets 0,0,0,0\nset yrange [{}:{}]\n", panel.y_range->first,
                        panel.y_range->second);
  switch (panel.kind) {
  case PlotPanel::Kind::kBox:
  case PlotPanel::Kind::kViolin:
  case PlotPanel::Kind::kLines: // drawn without gnuplot (plots/draw_panel.h)
    return;
  case PlotPanel::Kind::kBars:
  case PlotPanel::Kind::kSideBars:
    return bars(panel, id, width_in, data, body);
  case PlotPanel::Kind::kHeatMap:
    return heat_map(panel, id, width_in, data, body);
  }
}

} // namespace rankscope
