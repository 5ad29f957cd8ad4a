// Plots through gnuplot: box plots with quartiles computed here, violins (Gaussian KDE), lines. The
// program gets an argument list and its script on standard input, never a shell string.
#pragma once

#include "base/result.h"

#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// Samples of one box or violin.
struct PlotGroup {
  std::string label;
  std::vector<double> values;
};

struct PlotLine {
  std::string label;
  std::vector<std::pair<double, double>> points; ///< x ascending
};

struct PlotPanel {
  enum class Kind { kBox, kViolin, kLines } kind = Kind::kBox;
  std::string title, x_label, y_label;
  std::vector<PlotGroup> groups; ///< kBox, kViolin; empty ones are left out
  std::vector<PlotLine> lines;   ///< kLines
};

struct PlotSpec {
  std::string title;
  double width_in = 10, height_in = 6;
  std::vector<PlotPanel> panels; ///< side by side
};

/// Quartiles by linear interpolation, whiskers to the last sample within 1.5 interquartile ranges
/// (sweep-and-compare.md 5). Example: 1 2 3 4 100: q1 2, median 3, q3 4, whiskers 1 and 4.
struct BoxStats {
  double q1 = 0, median = 0, q3 = 0, low = 0, high = 0, mean = 0;
  std::vector<double> outliers;
};
[[nodiscard]] BoxStats box_stats(std::vector<double> values);

/// Gaussian kernel density with Scott's bandwidth at `count` points from minimum to maximum. Empty
/// for fewer than two distinct values.
[[nodiscard]] std::vector<std::pair<double, double>>
kernel_density(const std::vector<double>& values, int count = 100);

/// Writes PNG (300 dots per inch) or, when the name ends in .svg, SVG. Errors: kMissingTool without
/// gnuplot, kOutput.
Result<void> write_plot(const PlotSpec& spec, const std::string& path);

} // namespace rankscope
