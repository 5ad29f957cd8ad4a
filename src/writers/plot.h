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

/// One box or violin with its samples.
struct PlotGroup {
  std::string label;
  std::vector<double> values;
};

struct PlotLine {
  std::string label;
  std::vector<std::pair<double, double>> points; ///< sorted by x
};

/// A value for each category (kBars) or column (kHeatMap). NaN: there is no value.
struct PlotSeries {
  std::string label;
  std::vector<double> values;
  std::vector<std::pair<double, double>> intervals =
      {};                      ///< only for bars: low and high end; NaN or no entry: no interval
  std::vector<bool> grey = {}; ///< show grey because the difference is not significant; no entry:
                               ///< coloured
};

struct PlotPanel {
  enum class Kind { kBox, kViolin, kLines, kBars, kSideBars, kHeatMap } kind = Kind::kBox;
  std::string title, x_label, y_label;
  std::vector<PlotGroup> groups;       ///< kBox, kViolin; empty groups are left out
  std::vector<PlotLine> lines;         ///< kLines
  std::vector<std::string> categories; ///< kBars, kSideBars, columns of kHeatMap
  std::vector<PlotSeries> series;      ///< series of bars, or rows of kHeatMap
  std::vector<std::string> colours;    ///< "#rrggbb" for each group or series; empty: default
                                       ///< colours
  bool by_sign = false;                ///< colour of bars: green from 0 up, red below 0
  std::optional<std::pair<double, double>> y_range; ///< range of the y axis, for several plots with
                                                    ///< the same range
};

struct PlotSpec {
  std::string title;
  double width_in = 10, height_in = 6;
  std::vector<PlotPanel> panels;
  std::size_t columns = 0; ///< number of panels per row; 0: all panels in one row
};

/// Draws plots on the threads of a pool, while this thread does other work.
class Drawing {
public:
  /// Starts to draw the plots as PNG (300 dots per inch), or as SVG if the name ends in .svg. They
  /// are drawn by tasks of the pool or, without a pool, before the function returns. The pool must
  /// outlive this object. Errors: kOutput.
  static Result<Drawing> begin(const std::vector<std::pair<std::string, PlotSpec>>& plots,
                               TaskPool* pool = nullptr);
  Drawing(Drawing&& other) noexcept;
  Drawing& operator=(Drawing&& other) noexcept;
  ~Drawing(); ///< removes unfinished plots
  /// Waits for the plots. The files get their final names only if all plots were drawn. Errors:
  /// kMissingTool if Cairo or libpng is needed for a PNG but missing; kOutput.
  Result<void> finish();

private:
  Drawing();
  struct State;
  Result<void> begin_one(const std::string& path, const PlotSpec& spec);

  std::unique_ptr<State> state_;
};

/// Returns a plot as the text of an SVG file.
[[nodiscard]] std::string plot_svg(const PlotSpec& spec);

} // namespace rankscope
