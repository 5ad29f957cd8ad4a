#include "writers/plots/panel.h"

#include <algorithm>
#include <cmath>

namespace rankscope {
namespace {

constexpr int kTicksUp = 7;

} // namespace

PlotInk plot_colour(const PlotPanel& panel, std::size_t i) {
  static const char* const kColours[] = {"#4477AA", "#EE6677", "#228833", "#CCBB44",
                                         "#66CCEE", "#AA3377", "#777777", "#000000"};
  return ink_of(panel.colours.empty() ? kColours[i % 8] : panel.colours[i % panel.colours.size()]);
}

void edged_bar(Canvas& canvas, Spot a, Spot b, PlotInk ink) {
  const Spot from{std::min(a.x, b.x), std::min(a.y, b.y)};
  const Spot to{std::max(a.x, b.x), std::max(a.y, b.y)};
  canvas.bar(from, to, ink);
  for (const double edge : {from.y, to.y})
    rule(canvas, {from.x, edge}, {to.x, edge}, kThinLine, kEdgeInk);
  for (const double edge : {from.x, to.x})
    rule(canvas, {edge, from.y}, {edge, to.y}, kThinLine, kEdgeInk);
}

void PanelDrawing::draw() {
  switch (panel_.kind) {
  case PlotPanel::Kind::kBox:
  case PlotPanel::Kind::kViolin:
    return groups();
  case PlotPanel::Kind::kLines:
    return lines();
  case PlotPanel::Kind::kBars:
    return bars();
  case PlotPanel::Kind::kSideBars:
    return side_bars();
  case PlotPanel::Kind::kHeatMap:
    return heat_map();
  }
}

void PanelDrawing::top_of(const std::vector<LegendEntry>& legend) {
  const double middle = (frame_.left + frame_.right) / 2;
  if (!title_.empty()) {
    draw_title(canvas_, title_, middle, frame_.top + 0.3, kTextEm * 1.1,
               (frame_.right - frame_.left) * 0.96);
    const auto lines = 1 + std::count(title_.begin(), title_.end(), '\n');
    frame_.top += 0.12 + kLineHeight * static_cast<double>(lines);
  }
  frame_.top += 0.1;
  frame_.top += draw_legend(canvas_, legend, frame_.left + 0.3, frame_.right - 0.2, frame_.top);
}

void PanelDrawing::left_of(double widest) {
  frame_.right -= 0.2;
  if (!panel_.y_label.empty())
    frame_.left += 0.35;
  name_left_ = frame_.left - 0.1;
  frame_.left += widest + 0.2;
}

void PanelDrawing::bottom_of(double names, const std::string& label) {
  if (!label.empty())
    canvas_.text({(frame_.left + frame_.right) / 2, frame_.bottom - 0.15}, label, Anchor::kMiddle,
                 kTextEm, 0, kTextInk);
  frame_.bottom -= names + 0.2 + (label.empty() ? 0 : kLineHeight);
  frame_.bottom = std::max(frame_.bottom, frame_.top + 0.2);
  if (!panel_.y_label.empty())
    canvas_.text({name_left_, (frame_.top + frame_.bottom) / 2}, panel_.y_label, Anchor::kMiddle,
                 kTextEm, -90, kTextInk);
}

Scale PanelDrawing::value_scale(double low, double high, int ticks) const {
  Scale out{low, high, frame_.bottom, frame_.top};
  if (panel_.y_range) {
    std::tie(out.low, out.high) = *panel_.y_range;
  } else {
    const double margin = high > low ? (high - low) * 0.05 : std::max(std::fabs(high) * 0.05, 0.5);
    out.low = low >= 0 ? 0 : low - margin;
    out.high = high + margin;
    const double step = tick_step(out.high - out.low, ticks);
    out.low = std::floor(out.low / step + 1e-9) * step;
    out.high = std::ceil(out.high / step - 1e-9) * step;
  }
  if (!(out.high > out.low) || !std::isfinite(out.high - out.low))
    std::tie(out.low, out.high) = std::pair(0.0, 1.0);
  return out;
}

void PanelDrawing::left_of_values(double low, double high) {
  double widest = 0;
  for (const auto& [value, text] : ticks_of(value_scale(low, high, kTicksUp), kTicksUp))
    widest = std::max(widest, text_width(text, kTextEm));
  left_of(widest);
}

double PanelDrawing::category_axes(const std::vector<std::string>& names, const std::string& label,
                                   double low, double high) {
  left_of_values(low, high);
  const double each = share_of(frame_.right - frame_.left, names.size());
  const NameAxis axis = name_axis(names, each);
  bottom_of(axis.height, label);
  values_up(low, high);
  draw_names(canvas_, axis, names, frame_.left + each / 2, each, frame_.bottom);
  return each;
}

void PanelDrawing::values_up(double low, double high) {
  up_ = value_scale(low, high, kTicksUp);
  for (const auto& [value, text] : ticks_of(up_, kTicksUp)) {
    const double y = up_.at(value);
    rule(canvas_, {frame_.left, y}, {frame_.right, y}, kThinLine, kGridInk);
    rule(canvas_, {frame_.left, y}, {frame_.left + 0.06, y}, kThinLine, kEdgeInk);
    canvas_.text({frame_.left - 0.08, y + kTextEm * 0.36}, text, Anchor::kEnd, kTextEm, 0,
                 kTextInk);
  }
  border();
}

void PanelDrawing::border() {
  rule(canvas_, {frame_.left, frame_.top}, {frame_.left, frame_.bottom}, kThinLine, kEdgeInk);
  rule(canvas_, {frame_.left, frame_.bottom}, {frame_.right, frame_.bottom}, kThinLine, kEdgeInk);
}

} // namespace rankscope
