#include "writers/plots/draw_panel.h"

#include "base/statistics.h"
#include "writers/plots/panel.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr PlotInk kMeanInk = {0xFF, 0x7F, 0x0E};
constexpr PlotInk kRed = {0xD0, 0, 0};
constexpr PlotInk kBlack = {0, 0, 0};

/// Returns the groups that have samples that can be drawn, with only these samples.
std::vector<PlotGroup> filled_groups(const PlotPanel& panel) {
  std::vector<PlotGroup> out;
  for (const PlotGroup& group : panel.groups) {
    PlotGroup kept{group.label, {}};
    std::copy_if(group.values.begin(), group.values.end(), std::back_inserter(kept.values),
                 [](double v) { return std::isfinite(v); });
    if (!kept.values.empty())
      out.push_back(std::move(kept));
  }
  return out;
}

/// Returns the names of groups with their numbers of samples. If all numbers are equal, the number
/// is not added to the names; it is returned separately, for the text below the axis.
std::pair<std::vector<std::string>, std::string> group_names(const PlotPanel& panel,
                                                             const std::vector<PlotGroup>& groups) {
  const bool equal = groups.size() > 1 && std::ranges::all_of(groups, [&](const PlotGroup& g) {
                       return g.values.size() == groups.front().values.size();
                     });
  std::vector<std::string> names;
  for (const PlotGroup& g : groups)
    names.push_back(equal ? g.label : fmt::format("{} (n={})", g.label, g.values.size()));
  std::string label = panel.x_label;
  if (equal)
    label += fmt::format("{}n={} each", label.empty() ? "" : ", ", groups.front().values.size());
  return {std::move(names), std::move(label)};
}

LegendMark line_mark(std::size_t i) {
  constexpr LegendMark kMarks[] = {LegendMark::kSquare, LegendMark::kDot, LegendMark::kUp,
                                   LegendMark::kDown};
  return kMarks[i % 4];
}

} // namespace

void PanelDrawing::groups() {
  const std::vector<PlotGroup> groups = filled_groups(panel_);
  const bool violins = panel_.kind == PlotPanel::Kind::kViolin;
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  bool outliers = false;
  for (const PlotGroup& g : groups) {
    const auto [least, most] = std::minmax_element(g.values.begin(), g.values.end());
    low = std::min(low, *least);
    high = std::max(high, *most);
    outliers = outliers || (!violins && !box_stats(g.values).outliers.empty());
  }
  auto [names, label] = group_names(panel_, groups);
  std::vector<LegendEntry> legend;
  if (violins)
    legend = {{"median", LegendMark::kDot, kBlack}, {"mean", LegendMark::kUp, kRed}};
  else
    legend = {{"median", LegendMark::kRule, kBlack}, {"mean", LegendMark::kDashes, kMeanInk}};
  if (outliers)
    legend.push_back({"outliers", LegendMark::kRing, {0x55, 0x55, 0x55}});
  top_of(legend);
  const double each = category_axes(names, label, low, high);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const double x = frame_.left + each * (static_cast<double>(i) + 0.5);
    const PlotInk ink = plot_colour(panel_, i);
    violins ? violin(groups[i], x, each * 0.4, ink) : box(groups[i], x, each * 0.25, ink);
  }
}

void PanelDrawing::lines() {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  std::vector<double> places;
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < panel_.lines.size(); ++i) {
    legend.push_back({panel_.lines[i].label, line_mark(i), plot_colour(panel_, i)});
    for (const auto& [x, y] : panel_.lines[i].points)
      if (std::isfinite(x) && std::isfinite(y)) {
        low = std::min(low, y);
        high = std::max(high, y);
        places.push_back(x);
      }
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  top_of(legend);
  left_of_values(low, high);
  bottom_of(kLineHeight, panel_.x_label);
  values_up(low, high);
  if (places.empty())
    return;
  const double range = places.back() - places.front();
  const double margin = range > 0 ? range * 0.08 : 1;
  const Scale across{places.front() - margin, places.back() + margin, frame_.left, frame_.right};
  place_ticks(across, places);
  for (std::size_t i = 0; i < panel_.lines.size(); ++i) {
    Outline path;
    for (const auto& [x, y] : panel_.lines[i].points)
      if (std::isfinite(x) && std::isfinite(y))
        path.push_back({across.at(x), up_.at(y)});
    const PlotInk ink = plot_colour(panel_, i);
    canvas_.stroke(path, kLine, ink);
    for (const Spot& p : path)
      draw_mark(canvas_, line_mark(i), p, ink);
  }
}

void PanelDrawing::place_ticks(const Scale& across, const std::vector<double>& places) {
  double free = -HUGE_VAL;
  for (const double x : places) {
    const std::string text = fmt::format("{:g}", x);
    const double half = text_width(text, kTextEm) / 2;
    const double at = across.at(x);
    rule(canvas_, {at, frame_.bottom - 0.06}, {at, frame_.bottom}, kThinLine, kEdgeInk);
    if (at - half < free)
      continue;
    canvas_.text({at, frame_.bottom + 0.75 * kLineHeight}, text, Anchor::kMiddle, kTextEm, 0,
                 kTextInk);
    free = at + half + kTextEm / 2;
  }
}

void PanelDrawing::box(const PlotGroup& group, double x, double half, PlotInk ink) {
  const BoxStats b = box_stats(group.values);
  const double top = up_.at(b.q3);
  const double bottom = up_.at(b.q1);
  rule(canvas_, {x, up_.at(b.high)}, {x, top}, kThinLine, kEdgeInk);
  rule(canvas_, {x, bottom}, {x, up_.at(b.low)}, kThinLine, kEdgeInk);
  for (const double end : {b.low, b.high})
    rule(canvas_, {x - half / 2, up_.at(end)}, {x + half / 2, up_.at(end)}, kThinLine, kEdgeInk);
  edged_bar(canvas_, {x - half, top}, {x + half, bottom}, paler(ink, 0.65));
  const double median = up_.at(b.median);
  rule(canvas_, {x - half, median}, {x + half, median}, kLine, kBlack);
  dashes(canvas_, x - half, x + half, up_.at(b.mean), kThickLine, kMeanInk);
  for (const double v : b.outliers)
    draw_mark(canvas_, LegendMark::kRing, {x, up_.at(v)}, {0x55, 0x55, 0x55});
}

void PanelDrawing::violin(const PlotGroup& group, double x, double half, PlotInk ink) {
  const auto density = kernel_density(group.values);
  double peak = 0;
  for (const auto& [v, d] : density)
    peak = std::max(peak, d);
  if (peak > 0) {
    Outline outline; // from the bottom up on the left side, then down on the right side
    for (const auto& [v, d] : density)
      outline.push_back({x - half * d / peak, up_.at(v)});
    for (auto at = density.rbegin(); at != density.rend(); ++at)
      outline.push_back({x + half * at->second / peak, up_.at(at->first)});
    canvas_.fill({outline}, paler(ink, 0.7));
    outline.push_back(outline.front());
    canvas_.stroke(outline, kThinLine / 2, {0x55, 0x55, 0x55});
  }
  const auto [low, high] = std::minmax_element(group.values.begin(), group.values.end());
  rule(canvas_, {x, up_.at(*high)}, {x, up_.at(*low)}, kThinLine, kEdgeInk);
  const BoxStats b = box_stats(group.values);
  draw_mark(canvas_, LegendMark::kDot, {x, up_.at(b.median)}, kBlack);
  draw_mark(canvas_, LegendMark::kUp, {x, up_.at(b.mean)}, kRed);
}

void draw_plot(const PlotSpec& spec, Canvas& canvas) {
  const std::size_t panels = spec.panels.size();
  if (panels == 0)
    return;
  const std::size_t columns = spec.columns > 0 ? spec.columns : panels;
  const std::size_t rows = (panels + columns - 1) / columns;
  double top = 0;
  if (panels > 1 && !spec.title.empty()) {
    draw_title(canvas, spec.title, spec.width_in / 2, 0.32, kTextEm * 1.2, spec.width_in * 0.96);
    top = 0.3;
  }
  const double width = spec.width_in / static_cast<double>(columns);
  const double height = (spec.height_in - top) / static_cast<double>(rows);
  for (std::size_t i = 0; i < panels; ++i) {
    const PlotPanel& panel = spec.panels[i];
    const double left = width * static_cast<double>(i % columns);
    const double above = top + height * static_cast<double>(i / columns);
    PanelDrawing(canvas, panel, panels > 1 ? panel.title : spec.title,
                 {left + 0.1, above, left + width, above + height})
        .draw();
  }
}

} // namespace rankscope
