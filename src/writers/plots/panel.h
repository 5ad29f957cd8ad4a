// One panel of a plot: its frame (panel.cpp), boxes, violins and lines (draw_panel.cpp), bars and
// heat maps (draw_bars.cpp).
#pragma once

#include "writers/plot.h"
#include "writers/plots/axes.h"
#include "writers/plots/legend.h"

#include <string>
#include <vector>

namespace rankscope {

struct Frame {
  double left, top, right, bottom; ///< edges in inches
};

inline constexpr PlotInk kEdgeInk = {0x33, 0x33, 0x33};

/// Returns the colour of a group, line or series.
[[nodiscard]] PlotInk plot_colour(const PlotPanel& panel, std::size_t i);

/// Draws a filled rectangle with a thin edge; a and b are opposite corners.
void edged_bar(Canvas& canvas, Spot a, Spot b, PlotInk ink);

/// Returns the length of each of `parts` equal parts; for 0 parts, the total length.
[[nodiscard]] inline double share_of(double length, std::size_t parts) {
  return length / static_cast<double>(parts > 0 ? parts : 1);
}

class PanelDrawing {
public:
  PanelDrawing(Canvas& canvas, const PlotPanel& panel, const std::string& title, const Frame& frame)
      : canvas_(canvas), panel_(panel), title_(title), frame_(frame) {}

  void draw();

private:
  void groups();
  void box(const PlotGroup& group, double x, double half, PlotInk ink);
  void violin(const PlotGroup& group, double x, double half, PlotInk ink);
  void lines();
  /// Draws ticks at `places`. If they are too close to each other, draws only ticks that fit.
  void place_ticks(const Scale& across, const std::vector<double>& places);
  void bars();
  void side_bars();
  void heat_map();
  /// Draws the colour key of a heat map and its values at the right of the heat map.
  void colour_key(double reach, const std::vector<std::pair<double, std::string>>& ticks);

  /// Draws title and legend. The frame begins below them.
  void top_of(const std::vector<LegendEntry>& legend);
  /// Reserves space at the left for texts of this width and for the name of the left axis.
  void left_of(double widest);
  /// Reserves space for names of this height and the label below them; draws the label and the name
  /// of the left axis.
  void bottom_of(double names, const std::string& label);
  /// Returns the scale of the values: the range that the panel sets, or else a range that contains
  /// all values and begins and ends at one of about `ticks` ticks. If no value is negative, the
  /// range begins at 0.
  [[nodiscard]] Scale value_scale(double low, double high, int ticks) const;
  /// Reserves space for the texts of a vertical value axis.
  void left_of_values(double low, double high);
  /// Draws a vertical value axis with its grid.
  void values_up(double low, double high);
  /// Draws a vertical value axis, the names below the frame, and their label. Returns the width per
  /// name.
  double category_axes(const std::vector<std::string>& names, const std::string& label, double low,
                       double high);
  /// Draws the left and the lower edge of the frame.
  void border();

  Canvas& canvas_;
  const PlotPanel& panel_;
  const std::string& title_;
  Frame frame_;
  Scale up_;
  double name_left_ = 0;
};

} // namespace rankscope
