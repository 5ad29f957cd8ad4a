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

/// Draws the mark of a point; draws nothing for kRule and kDashes.
void draw_mark(Canvas& canvas, LegendMark mark, Spot at, PlotInk ink);

/// Draws the entries, right-aligned and in as many lines as they need between `left` and `right`,
/// from `top` down. Returns their height.
double draw_legend(Canvas& canvas, const std::vector<LegendEntry>& entries, double left,
                   double right, double top);

} // namespace rankscope
