// The surface on which a plot is drawn. Positions are in inches from the upper left corner; y
// increases downwards. cairo_canvas.h draws a PNG, svg_canvas.h an SVG.
#pragma once

#include "base/noncopyable.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace rankscope {

struct Spot {
  double x = 0, y = 0;
};

using Outline = std::vector<Spot>;

struct PlotInk {
  std::uint8_t red = 0, green = 0, blue = 0;
  friend bool operator==(const PlotInk&, const PlotInk&) = default;
};

/// Returns the colour of a text "#rrggbb"; black for other texts.
[[nodiscard]] PlotInk ink_of(std::string_view text);
/// Returns a mixture of two colours: `share` 0 gives `from`, 1 gives `to`.
[[nodiscard]] PlotInk mixed(PlotInk from, PlotInk to, double share);
/// Returns a mixture of the colour and white; `share` is the part of the colour.
[[nodiscard]] PlotInk paler(PlotInk ink, double share);

/// Which point on the baseline of a line of text is at the given position.
enum class Anchor { kStart, kMiddle, kEnd };

/// The letter size of normal text: 12 points.
inline constexpr double kTextEm = 12.0 / 72;

class Canvas : public Interface {
public:
  /// Fills the inside of the outlines (all points with a winding number other than zero). Outlines
  /// are closed automatically.
  virtual void fill(const std::vector<Outline>& outlines, PlotInk ink) = 0;
  /// Draws a line through the points.
  virtual void stroke(const Outline& path, double width, PlotInk ink) = 0;
  /// Draws a rectangle with sharp edges. `to` is to the right of and below `from`.
  virtual void bar(Spot from, Spot to, PlotInk ink) = 0;
  /// Draws one line of text, turned clockwise by `degrees` around `at`.
  virtual void text(Spot at, std::string_view line, Anchor anchor, double em, double degrees,
                    PlotInk ink) = 0;
};

/// Draws a horizontal dashed line.
void dashes(Canvas& canvas, double left, double right, double y, double width, PlotInk ink);
/// Draws a vertical or horizontal line with sharp edges.
void rule(Canvas& canvas, Spot from, Spot to, double width, PlotInk ink);
[[nodiscard]] Outline circle(Spot centre, double radius);
/// Draws the outline of a circle.
void ring(Canvas& canvas, Spot centre, double radius, double width, PlotInk ink);

/// Returns the approximate length of a line of UTF-8 text in inches; `em` is the letter size. The
/// length is computed from classes of letters in DejaVu Sans, so the layout does not depend on the
/// installed fonts.
[[nodiscard]] double text_width(std::string_view line, double em);

} // namespace rankscope
