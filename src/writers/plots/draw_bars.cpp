#include "writers/plots/panel.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr PlotInk kGrey = {0xC4, 0xC4, 0xC4};
constexpr PlotInk kBetter = {0x2E, 0xCC, 0x71};
constexpr PlotInk kWorse = {0xE7, 0x4C, 0x3C};
constexpr double kGap = 0.06; ///< distance in inches between a bar and its number

bool is_grey(const PlotSeries& series, std::size_t i) {
  return i < series.grey.size() && series.grey[i];
}

PlotInk bar_ink(const PlotPanel& panel, std::size_t s, std::size_t i) {
  if (is_grey(panel.series[s], i))
    return kGrey;
  if (!panel.by_sign)
    return plot_colour(panel, s);
  return panel.series[s].values[i] < 0 ? kWorse : kBetter;
}

/// Returns the interval of a value; if it has no interval, both ends are equal to the value.
std::pair<double, double> interval_of(const PlotSeries& series, std::size_t i) {
  const double v = series.values[i];
  if (i >= series.intervals.size())
    return {v, v};
  const auto [low, high] = series.intervals[i];
  return std::isfinite(low) && std::isfinite(high) ? std::pair(low, high) : std::pair(v, v);
}

/// Calls body(series, category, value) for each bar that has a value.
template <class Body> void each_bar(const PlotPanel& panel, const Body& body) {
  for (std::size_t s = 0; s < panel.series.size(); ++s)
    for (std::size_t i = 0; i < panel.series[s].values.size(); ++i)
      if (std::isfinite(panel.series[s].values[i]))
        body(s, i, panel.series[s].values[i]);
}

/// Returns the range of the bars and their intervals, extended to contain 0.
std::pair<double, double> bar_range(const PlotPanel& panel) {
  std::pair<double, double> out{0, 0};
  each_bar(panel, [&](std::size_t s, std::size_t i, double v) {
    const auto [low, high] = interval_of(panel.series[s], i);
    out.first = std::min({out.first, v, low});
    out.second = std::max({out.second, v, high});
  });
  return out;
}

/// Returns the legend if there are several series. The colour of an entry is that of the first
/// coloured bar; if all bars are grey, it is grey.
std::vector<LegendEntry> bar_legend(const PlotPanel& panel) {
  std::vector<LegendEntry> out;
  for (std::size_t s = 0; s < panel.series.size() && panel.series.size() > 1; ++s) {
    const PlotSeries& series = panel.series[s];
    std::optional<PlotInk> ink;
    for (std::size_t i = 0; i < series.values.size() && ink.value_or(kGrey) == kGrey; ++i)
      if (std::isfinite(series.values[i]))
        ink = bar_ink(panel, s, i);
    if (ink && !series.label.empty())
      out.push_back({series.label, LegendMark::kPatch, *ink});
  }
  return out;
}

std::string number_text(double v) {
  return fmt::format("{:.1f}", v);
}

/// The positions of bars: values along one axis, categories along the other one.
struct BarPlaces {
  Scale values;
  double first, each; ///< start of the first category, and length of each category
  bool sideways;

  [[nodiscard]] Spot at(double along, double value) const {
    return sideways ? Spot{values.at(value), along} : Spot{along, values.at(value)};
  }
};

/// Draws the bars of all series next to each other, with their intervals. For horizontal bars, the
/// numbers are written too.
void draw_bars(Canvas& canvas, const PlotPanel& panel, const BarPlaces& places) {
  const double width = share_of(0.8 * places.each, panel.series.size());
  each_bar(panel, [&](std::size_t s, std::size_t i, double v) {
    const double from = places.first + places.each * (static_cast<double>(i) + 0.1) +
                        width * static_cast<double>(s);
    const double middle = from + width / 2;
    edged_bar(canvas, places.at(from, 0), places.at(from + width, v), bar_ink(panel, s, i));
    const auto [low, high] = interval_of(panel.series[s], i);
    if (high > low) {
      const double half = std::min(width * 0.3, 0.06);
      rule(canvas, places.at(middle, low), places.at(middle, high), kLine, kEdgeInk);
      for (const double end : {low, high})
        rule(canvas, places.at(middle - half, end), places.at(middle + half, end), kLine, kEdgeInk);
    }
    if (places.sideways) {
      const double em = std::min(kTextEm, width * 0.9);
      const Spot end = places.at(middle, std::max({v, 0.0, high}));
      canvas.text({end.x + kGap, end.y + em * 0.36}, number_text(v), Anchor::kStart, em, 0,
                  kTextInk);
    }
  });
}

constexpr PlotInk kLowest = {0xD7, 0x30, 0x27};
constexpr PlotInk kMiddle = {0xFF, 0xFF, 0xBF};
constexpr PlotInk kHighest = {0x1A, 0x98, 0x50};

PlotInk heat_ink(double v, double reach) {
  const double share = std::clamp(v / reach, -1.0, 1.0);
  return mixed(kMiddle, share < 0 ? kLowest : kHighest, std::fabs(share));
}

/// Returns the absolute value that gets the full colour: the largest one, unless a few values are
/// much larger than the others. `sizes` must be ascending.
double colour_reach(const std::vector<double>& sizes) {
  if (sizes.empty())
    return 1;
  // small values, which are mostly noise, stay pale
  const double usual = std::max(5.0, sizes[sizes.size() * 4 / 5]);
  const double most = sizes.back();
  return most > 3 * usual ? usual : most > 0 ? most : 1;
}

/// Returns the texts next to the colour key. If there are values beyond the range of the colours,
/// the texts at its ends show this.
std::vector<std::pair<double, std::string>> key_ticks(double reach, double most) {
  auto out = ticks_of({-reach, reach}, 7);
  if (most <= reach)
    return out;
  std::erase_if(out, [reach](const auto& tick) { return std::fabs(tick.first) > 0.9 * reach; });
  out.emplace_back(-reach, fmt::format("<= {:.3g}", -reach));
  out.emplace_back(reach, fmt::format(">= {:.3g}", reach));
  return out;
}

double widest_text(const std::vector<std::pair<double, std::string>>& ticks) {
  double out = 0;
  for (const auto& [value, text] : ticks)
    out = std::max(out, text_width(text, kTextEm));
  return out;
}

constexpr double kKeyWidth = 0.25; ///< width in inches of the colour key next to a heat map

} // namespace

void PanelDrawing::bars() {
  const auto [low, high] = bar_range(panel_);
  top_of(bar_legend(panel_));
  const double each = category_axes(panel_.categories, panel_.x_label, low, high);
  draw_bars(canvas_, panel_, {up_, frame_.left, each, false});
  rule(canvas_, {frame_.left, up_.at(0)}, {frame_.right, up_.at(0)}, kThinLine, kEdgeInk);
}

void PanelDrawing::side_bars() {
  const auto [low, high] = bar_range(panel_);
  top_of(bar_legend(panel_));
  const double half = (frame_.right - frame_.left) / 2;
  const RowNames names = row_names(panel_.categories, half);
  left_of(names.width);
  bottom_of(kLineHeight, panel_.x_label);
  double widest = 0; // width of the numbers next to the bars
  each_bar(panel_, [&](std::size_t, std::size_t, double v) {
    widest = std::max(widest, text_width(number_text(v), kTextEm));
  });
  const double width = frame_.right - frame_.left;
  const int ticks = std::clamp(static_cast<int>(width / 0.9), 2, 7);
  Scale across = value_scale(low, high, ticks);
  across.from = frame_.left;
  across.to = frame_.right - std::min(widest + 2 * kGap, width / 2);
  const double each = share_of(frame_.bottom - frame_.top, panel_.categories.size());
  draw_row_names(canvas_, names, panel_.categories, {frame_.left - 0.1, frame_.top + each / 2},
                 each);
  for (const auto& [value, text] : ticks_of(across, ticks)) {
    const double x = across.at(value);
    rule(canvas_, {x, frame_.top}, {x, frame_.bottom}, kThinLine, kGridInk);
    canvas_.text({x, frame_.bottom + 0.75 * kLineHeight}, text, Anchor::kMiddle, kTextEm, 0,
                 kTextInk);
  }
  border();
  draw_bars(canvas_, panel_, {across, frame_.top, each, true});
  rule(canvas_, {across.at(0), frame_.top}, {across.at(0), frame_.bottom}, kThinLine, kEdgeInk);
}

void PanelDrawing::heat_map() {
  std::vector<std::string> rows;
  for (const PlotSeries& series : panel_.series)
    rows.push_back(series.label);
  std::vector<double> sizes;
  double widest = 0;
  each_bar(panel_, [&](std::size_t s, std::size_t i, double v) {
    if (!is_grey(panel_.series[s], i)) // grey cells do not affect the range of colours
      sizes.push_back(std::fabs(v));
    widest = std::max(widest, text_width(number_text(v), kTextEm));
  });
  std::sort(sizes.begin(), sizes.end());
  const double reach = colour_reach(sizes);
  const auto ticks = key_ticks(reach, sizes.empty() ? 0 : sizes.back());
  top_of({});
  const RowNames names = row_names(rows, (frame_.right - frame_.left) / 2);
  left_of(names.width);
  frame_.right -= 0.3 + kKeyWidth + widest_text(ticks);
  const double width = share_of(frame_.right - frame_.left, panel_.categories.size());
  const NameAxis axis = name_axis(panel_.categories, width);
  bottom_of(axis.height, panel_.x_label);
  const double height = share_of(frame_.bottom - frame_.top, rows.size());
  draw_names(canvas_, axis, panel_.categories, frame_.left + width / 2, width, frame_.bottom);
  draw_row_names(canvas_, names, rows, {frame_.left - 0.1, frame_.top + height / 2}, height);
  const double em = std::min({kTextEm, kTextEm * width * 0.95 / widest, height * 0.8});
  const auto corner = [&](std::size_t row, std::size_t column) {
    return Spot{frame_.left + width * static_cast<double>(column),
                frame_.top + height * static_cast<double>(row)};
  };
  each_bar(panel_, [&](std::size_t s, std::size_t i, double v) {
    const Spot from = corner(s, i);
    canvas_.bar(from, corner(s + 1, i + 1),
                is_grey(panel_.series[s], i) ? kGrey : heat_ink(v, reach));
    if (panel_.categories.size() <= 32)
      canvas_.text({from.x + width / 2, from.y + height / 2 + em * 0.36}, number_text(v),
                   Anchor::kMiddle, em, 0, kTextInk);
  });
  border();
  colour_key(reach, ticks);
}

void PanelDrawing::colour_key(double reach,
                              const std::vector<std::pair<double, std::string>>& ticks) {
  constexpr int kStripes = 64;
  const Scale up{-reach, reach, frame_.bottom, frame_.top};
  const double left = frame_.right + 0.2;
  for (int i = 0; i < kStripes; ++i) {
    const double high = reach * (1 - 2.0 * i / kStripes);
    const double low = reach * (1 - 2.0 * (i + 1) / kStripes);
    canvas_.bar({left, up.at(high)}, {left + kKeyWidth, up.at(low)},
                heat_ink((low + high) / 2, reach));
  }
  for (const auto& [value, text] : ticks)
    canvas_.text({left + kKeyWidth + 0.08, up.at(value) + kTextEm * 0.36}, text, Anchor::kStart,
                 kTextEm, 0, kTextInk);
}

} // namespace rankscope
