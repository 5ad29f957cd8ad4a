// The surface of a plot: shapes in inches from the upper left corner, y downwards. cairo_canvas.h
// makes a PNG of them, svg_canvas.h an SVG.
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

/// "#rrggbb"; black for anything else.
[[nodiscard]] PlotInk ink_of(std::string_view text);
/// From one colour to another: share 0 is the first, 1 the second.
[[nodiscard]] PlotInk mixed(PlotInk from, PlotInk to, double share);
/// A share of the colour over white.
[[nodiscard]] PlotInk paler(PlotInk ink, double share);

/// Where the given place is in a line of text; it is on the baseline.
enum class Anchor { kStart, kMiddle, kEnd };

/// Letters of normal text: 12 points.
inline constexpr double kTextEm = 12.0 / 72;

class Canvas : public Interface {
public:
  /// Fills the inside of the outlines (winding number not zero); outlines close by themselves.
  virtual void fill(const std::vector<Outline>& outlines, PlotInk ink) = 0;
  /// A line through the points.
  virtual void stroke(const Outline& path, double width, PlotInk ink) = 0;
  /// A rectangle with sharp edges. `to` is to the right of and below `from`.
  virtual void bar(Spot from, Spot to, PlotInk ink) = 0;
  /// One line of text, turned clockwise by `degrees` about `at`.
  virtual void text(Spot at, std::string_view line, Anchor anchor, double em, double degrees,
                    PlotInk ink) = 0;
};

/// A level line of dashes.
void dashes(Canvas& canvas, double left, double right, double y, double width, PlotInk ink);
/// An upright or level line with sharp edges.
void rule(Canvas& canvas, Spot from, Spot to, double width, PlotInk ink);
[[nodiscard]] Outline circle(Spot centre, double radius);
/// The edge of a disc.
void ring(Canvas& canvas, Spot centre, double radius, double width, PlotInk ink);

/// How long a line of UTF-8 is about, in inches where `em` is: by kinds of letters of DejaVu Sans.
/// For where things go, which does not depend on the fonts that are installed.
[[nodiscard]] double text_width(std::string_view line, double em);

} // namespace rankscope
