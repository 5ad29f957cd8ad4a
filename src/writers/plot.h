// Plots: box plots with quartiles computed here, violin plots (Gaussian KDE), lines, grouped bars
// and heat maps. plots/draw_panel.h draws them.
#pragma once

#include "base/result.h"
#include "os/output_file.h"
#include "os/tasks.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// The samples of one box or violin.
struct PlotGroup {
  std::string label;
  std::vector<double> values;
};

struct PlotLine {
  std::string label;
  std::vector<std::pair<double, double>> points; ///< sorted by x
};

/// One value per category (kBars) or column (kHeatMap). NaN leaves a gap.
struct PlotSeries {
  std::string label;
  std::vector<double> values;
  std::vector<std::pair<double, double>> intervals =
      {};                      ///< bars only: low and high; NaN or absent: no interval
  std::vector<bool> grey = {}; ///< without colour (no significant difference); absent: all coloured
};

struct PlotPanel {
  enum class Kind { kBox, kViolin, kLines, kBars, kSideBars, kHeatMap } kind = Kind::kBox;
  std::string title, x_label, y_label;
  std::vector<PlotGroup> groups;       ///< kBox, kViolin; empty groups are left out
  std::vector<PlotLine> lines;         ///< kLines
  std::vector<std::string> categories; ///< kBars, kSideBars, columns of kHeatMap
  std::vector<PlotSeries> series;      ///< bars side by side, or rows of kHeatMap
  std::vector<std::string> colours;    ///< "#rrggbb" by group or series; empty: defaults
  bool by_sign = false;                ///< colour bars green from 0 up, red below
  std::optional<std::pair<double, double>> y_range; ///< for plots with a common axis
};

struct PlotSpec {
  std::string title;
  double width_in = 10, height_in = 6;
  std::vector<PlotPanel> panels;
  std::size_t columns = 0; ///< number of panels in a row; 0: all in one row
};

/// Plots that are being drawn by the pool, while this thread can do other work.
class Drawing {
public:
  /// Starts to draw the plots as PNG (300 dots per inch), or as SVG if the name ends in .svg. Tasks
  /// of the pool draw them; without a pool they are drawn at once. The pool must outlive the
  /// drawing. Errors: kOutput.
  static Result<Drawing> begin(const std::vector<std::pair<std::string, PlotSpec>>& plots,
                               TaskPool* pool = nullptr);
  Drawing(Drawing&& other) noexcept;
  Drawing& operator=(Drawing&& other) noexcept;
  ~Drawing(); ///< unfinished plots leave no file
  /// Waits for the plots. Files get their final names only if all plots are drawn. Errors:
  /// kMissingTool when a PNG needs Cairo or libpng but one of them is missing; kOutput.
  Result<void> finish();

private:
  Drawing();
  struct Own;
  Result<void> begin_one(const std::string& path, const PlotSpec& spec);

  std::unique_ptr<Own> own_;
};

/// Calls begin() and finish().
Result<void> write_plots(const std::vector<std::pair<std::string, PlotSpec>>& plots,
                         TaskPool* pool = nullptr);

/// Returns a plot as the text of an SVG file.
[[nodiscard]] std::string plot_svg(const PlotSpec& spec);

} // namespace rankscope
