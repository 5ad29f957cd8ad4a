// The marks of points, and the legend that explains them.
#pragma once

#include "writers/plots/canvas.h"

#include <string>
#include <vector>

namespace rankscope {

enum class LegendMark { kRule, kDashes, kRing, kDot, kSquare, kUp, kDown, kPatch };

struct LegendEntry {
  std::string label;
  LegendMark mark = LegendMark::kRule;
  PlotInk ink;
};

/// Draws the mark of a point. kRule and kDashes are lines and have no mark.
void draw_mark(Canvas& canvas, LegendMark mark, Spot at, PlotInk ink);

/// Draws the entries between `left` and `right`, right-aligned, on as many lines as needed, from
/// `top` downwards. Returns the height of the legend.
double draw_legend(Canvas& canvas, const std::vector<LegendEntry>& entries, double left,
                   double right, double top);

} // namespace rankscope
