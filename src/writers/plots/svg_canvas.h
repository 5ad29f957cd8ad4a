// Draws an SVG: shapes are paths, texts are text elements.
#pragma once

#include "writers/plots/canvas.h"

#include <string>

namespace rankscope {

class SvgCanvas : public Canvas {
public:
  SvgCanvas(double width_in, double height_in);

  void fill(const std::vector<Outline>& outlines, PlotInk ink) override;
  void stroke(const Outline& path, double width, PlotInk ink) override;
  void bar(Spot from, Spot to, PlotInk ink) override;
  void text(Spot at, std::string_view line, Anchor anchor, double em, double degrees,
            PlotInk ink) override;

  /// Returns the text of the SVG file. Nothing can be drawn afterwards.
  [[nodiscard]] std::string svg() &&;

private:
  std::string out_;
};

} // namespace rankscope
