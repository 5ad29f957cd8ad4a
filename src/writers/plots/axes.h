// The frame of a panel: ticks, their texts, titles, and the places of values.
#pragma once

#include "writers/plots/canvas.h"

#include <string>
#include <utility>
#include <vector>

namespace rankscope {

/// A length of the paper for a range of values.
struct Scale {
  double low = 0, high = 1; ///< values
  double from = 0, to = 1;  ///< where they are, inches
  [[nodiscard]] double at(double value) const {
    return from + (value - low) / (high - low) * (to - from);
  }
};

/// 1, 2 or 5 times a power of ten, so that a range has about `wanted` ticks.
[[nodiscard]] double tick_step(double range, int wanted);
/// Multiples of `step` from low to high, with their texts.
[[nodiscard]] std::vector<std::pair<double, std::string>> ticks_between(double low, double high,
                                                                        double step);
/// About `wanted` round ticks of a scale.
[[nodiscard]] std::vector<std::pair<double, std::string>> ticks_of(const Scale& scale, int wanted);

/// How names are placed along an axis: all of them side by side; every `step`th, when they differ
/// in their number only; or turned.
struct NameSteps {
  std::size_t step = 1;
  bool turned = false;
};
/// For names that need `beside` inches each, or `turned` when turned, and get `each`.
[[nodiscard]] NameSteps name_steps(const std::vector<std::string>& names, double beside,
                                   double turned, double each);

struct NameAxis : NameSteps {
  double height = 0; ///< below the axis, inches
};
/// `each`: inches from a name to the next.
[[nodiscard]] NameAxis name_axis(const std::vector<std::string>& names, double each);
/// Draws the names, the first at `from`, below the axis at y.
void draw_names(Canvas& canvas, const NameAxis& axis, const std::vector<std::string>& names,
                double from, double each, double y);

/// Names at the left of rows.
struct RowNames {
  double em = kTextEm; ///< normal letters, or smaller ones where a name would be too wide
  double width = 0;    ///< inches
};
/// `most`: inches that they may be wide.
[[nodiscard]] RowNames row_names(const std::vector<std::string>& names, double most);
/// Draws the names; the first ends at `first`, which is in the middle of its height.
void draw_row_names(Canvas& canvas, const RowNames& shape, const std::vector<std::string>& names,
                    Spot first, double each);

/// A text of one or more lines about x, the first one's baseline at y; smaller where it would be
/// wider than `width`.
void draw_title(Canvas& canvas, const std::string& text, double x, double y, double em,
                double width);

inline constexpr PlotInk kGridInk = {0xCC, 0xCC, 0xCC};
inline constexpr PlotInk kTextInk = {0x22, 0x22, 0x22};
inline constexpr double kLineHeight = 0.24;
/// Lines as the eye takes them at arm's length.
inline constexpr double kThinLine = 0.007;
inline constexpr double kLine = 0.0134;
inline constexpr double kThickLine = 0.02;

} // namespace rankscope
