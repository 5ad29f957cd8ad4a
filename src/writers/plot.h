// Plots: boxes with quartiles computed here, violins (Gaussian KDE), lines, grouped bars and heat
// maps. plots/draw_panel.h draws them.
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

/// Samples of one box or violin.
struct PlotGroup {
  std::string label;
  std::vector<double> values;
};

struct PlotLine {
  std::string label;
  std::vector<std::pair<double, double>> points; ///< x ascending
};

/// One value per category (kBars) or column (kHeatMap); NaN leaves a gap.
struct PlotSeries {
  std::string label;
  std::vector<double> values;
  std::vector<std::pair<double, double>> intervals =
      {};                      ///< bars: low and high; NaN or absent: none
  std::vector<bool> grey = {}; ///< shown without colour (no significant difference); absent: none
};

struct PlotPanel {
  enum class Kind { kBox, kViolin, kLines, kBars, kSideBars, kHeatMap } kind = Kind::kBox;
  std::string title, x_label, y_label;
  std::vector<PlotGroup> groups;                    ///< kBox, kViolin; empty ones are left out
  std::vector<PlotLine> lines;                      ///< kLines
  std::vector<std::string> categories;              ///< kBars, kSideBars, columns of kHeatMap
  std::vector<PlotSeries> series;                   ///< bars side by side, or rows of kHeatMap
  std::vector<std::string> colours;                 ///< "#rrggbb" by group or series; else our own
  bool by_sign = false;                             ///< bars: green from 0 up, red below
  std::optional<std::pair<double, double>> y_range; ///< for plots that must share an axis
};

struct PlotSpec {
  std::string title;
  double width_in = 10, height_in = 6;
  std::vector<PlotPanel> panels;
  std::size_t columns = 0; ///< panels in a row; 0: all side by side
};

/// Plots on their way: drawn by the pool while this thread does something else.
class Drawing {
public:
  /// PNG (300 dots per inch) or, where the name ends in .svg, SVG; drawn by tasks of the pool, or
  /// without one at once. Errors: kOutput. The pool outlives the drawing.
  static Result<Drawing> begin(const std::vector<std::pair<std::string, PlotSpec>>& plots,
                               TaskPool* pool = nullptr);
  Drawing(Drawing&& other) noexcept;
  Drawing& operator=(Drawing&& other) noexcept;
  ~Drawing(); ///< what is unfinished leaves no file
  /// Waits. Nothing appears under a final name unless all are drawn. Errors: kMissingTool where a
  /// PNG needs Cairo or libpng and one of them is absent, kOutput.
  Result<void> finish();

private:
  Drawing();
  struct Own;
  Result<void> begin_one(const std::string& path, const PlotSpec& spec);

  std::unique_ptr<Own> own_;
};

/// begin() and finish().
Result<void> write_plots(const std::vector<std::pair<std::string, PlotSpec>>& plots,
                         TaskPool* pool = nullptr);

/// The plot as the text of an SVG file.
[[nodiscard]] std::string plot_svg(const PlotSpec& spec);

} // namespace rankscope
