// The frame of a panel: ticks with their texts, titles, and the scales of the axes.
#pragma once

#include "writers/plots/canvas.h"

#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// Maps a range of values to a length in the plot.
struct Scale {
  double low = 0, high = 1; ///< range of values
  double from = 0, to = 1;  ///< positions of low and high, in inches
  [[nodiscard]] double at(double value) const {
    return from + (value - low) / (high - low) * (to - from);
  }
};

/// Returns the distance between ticks: 1, 2 or 5 times a power of ten, such that a range has about
/// `wanted` ticks.
[[nodiscard]] double tick_step(double range, int wanted);
/// Returns the multiples of `step` from low to high, with their texts.
[[nodiscard]] std::vector<std::pair<double, std::string>> ticks_between(double low, double high,
                                                                        double step);
/// Returns about `wanted` ticks at round values of a scale.
[[nodiscard]] std::vector<std::pair<double, std::string>> ticks_of(const Scale& scale, int wanted);

/// How names are placed along an axis: all names, only every `step`th name (if names differ only in
/// a number), or all names turned.
struct NameSteps {
  std::size_t step = 1;
  bool turned = false;
};
/// Returns the placement of names. Each name needs `horizontal` inches, or `turned` inches if it is
/// turned, and has `each` inches.
[[nodiscard]] NameSteps name_steps(const std::vector<std::string>& names, double horizontal,
                                   double turned, double each);

struct NameAxis : NameSteps {
  double height = 0; ///< height needed below the axis, in inches
};
/// Returns the axis for these names. `each`: distance between two names in inches.
[[nodiscard]] NameAxis name_axis(const std::vector<std::string>& names, double each);
/// Draws the names below the axis at height y. The first name is at `from`.
void draw_names(Canvas& canvas, const NameAxis& axis, const std::vector<std::string>& names,
                double from, double each, double y);

/// The size of names to the left of rows.
struct RowNames {
  double em = kTextEm; ///< letter size: normal, or smaller if a name would be too wide
  double width = 0;    ///< width in inches
};
/// Returns the size of the names. `most`: their maximum width in inches.
[[nodiscard]] RowNames row_names(const std::vector<std::string>& names, double most);
/// Draws the names. `first`: right end of the first name, at the middle of its height.
void draw_row_names(Canvas& canvas, const RowNames& shape, const std::vector<std::string>& names,
                    Spot first, double each);

/// Draws a title of one or more lines, centred at x, with the first baseline at y. Letters are
/// smaller if a line would be wider than `width`.
void draw_title(Canvas& canvas, const std::string& text, double x, double y, double em,
                double width);

inline constexpr PlotInk kGridInk = {0xCC, 0xCC, 0xCC};
inline constexpr PlotInk kTextInk = {0x22, 0x22, 0x22};
inline constexpr double kLineHeight = 0.24;
/// Line widths in inches, for a plot that is seen at arm's length.
inline constexpr double kThinLine = 0.007;
inline constexpr double kLine = 0.0134;
inline constexpr double kThickLine = 0.02;

} // namespace rankscope
