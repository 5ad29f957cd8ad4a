// Draws a plot on a canvas.
#pragma once

#include "writers/plot.h"
#include "writers/plots/canvas.h"

namespace rankscope {

/// Draws all panels and the title. The canvas must have the size of the plot.
void draw_plot(const PlotSpec& spec, Canvas& canvas);

} // namespace rankscope
