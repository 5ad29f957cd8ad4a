// A plot on a canvas.
#pragma once

#include "writers/plot.h"
#include "writers/plots/canvas.h"

namespace rankscope {

/// All panels with their title, on a canvas of the plot's size.
void draw_plot(const PlotSpec& spec, Canvas& canvas);

} // namespace rankscope
