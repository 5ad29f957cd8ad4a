// Boxes, violins and lines, drawn on a canvas.
#pragma once

#include "writers/plot.h"
#include "writers/plots/canvas.h"

namespace rankscope {

/// Whether this plot is drawn here: boxes, violins and lines. Others are gnuplot's.
[[nodiscard]] bool drawn_here(const PlotSpec& spec);

/// All panels with their title, on a canvas of the plot's size.
void draw_plot(const PlotSpec& spec, Canvas& canvas);

} // namespace rankscope
