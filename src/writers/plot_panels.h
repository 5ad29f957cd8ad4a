// The gnuplot scripts of single panels; inside of plot.cpp.
#pragma once

#include "writers/plot.h"

#include <string>

namespace rankscope {

/// "#rrggbb" of a group, line or series.
[[nodiscard]] std::string plot_colour(const PlotPanel& panel, std::size_t i);

/// A gnuplot text: double quotes, with what would be markup or an escape taken out.
[[nodiscard]] std::string gnuplot_quoted(const std::string& text);

/// Adds the panel's data blocks (their names end in `id`) to `data` and its commands to `body`.
/// `width_in`: of the panel, inches.
void panel_script(const PlotPanel& panel, const std::string& title, const std::string& id,
                  double width_in, std::string& data, std::string& body);

} // namespace rankscope
