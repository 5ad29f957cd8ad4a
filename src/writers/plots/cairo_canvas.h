// A bitmap drawn by Cairo.
#pragma once

#include "base/result.h"
#include "writers/plots/cairo_library.h"
#include "writers/plots/canvas.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace rankscope {

class CairoCanvas : public Canvas {
public:
  /// Creates a white bitmap. Width and height are limited to 32,767 pixels by Cairo. Errors:
  /// kMissingTool, kOutput.
  static Result<std::unique_ptr<CairoCanvas>> create(double width_in, double height_in,
                                                     double dots_per_inch);
  ~CairoCanvas() override;

  void fill(const std::vector<Outline>& outlines, PlotInk ink) override;
  void stroke(const Outline& path, double width, PlotInk ink) override;
  void bar(Spot from, Spot to, PlotInk ink) override;
  void text(Spot at, std::string_view line, Anchor anchor, double em, double degrees,
            PlotInk ink) override;

  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::size_t height() const { return height_; }
  /// Returns the pixels row by row as 0xFFRRGGBB; empty if Cairo could not allocate memory. Valid
  /// until the next drawing call.
  [[nodiscard]] std::span<std::uint32_t> pixels();

  /// Returns the content of the PNG file. Call it last, because it overwrites the pixels. Errors:
  /// kMissingTool; kOutput if Cairo could not draw everything.
  [[nodiscard]] Result<std::string> png();

private:
  CairoCanvas(const CairoLibrary& cairo, double width_in, double height_in, double dots_per_inch);
  void colour(PlotInk ink);
  void path(const Outline& outline);

  const CairoLibrary& cairo_;
  double dots_per_inch_;
  std::size_t width_, height_;
  cairo_surface_t* surface_;
  cairo_t* context_;
};

} // namespace rankscope
