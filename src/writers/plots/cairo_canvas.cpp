#include "writers/plots/cairo_canvas.h"

#include "base/utf8.h"
#include "writers/plots/png.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rankscope {
namespace {

constexpr double kMostPixels = 32767;

std::size_t pixels_of(double inches, double dots_per_inch) {
  return static_cast<std::size_t>(std::clamp(std::round(inches * dots_per_inch), 1.0, kMostPixels));
}

} // namespace

Result<std::unique_ptr<CairoCanvas>> CairoCanvas::create(double width_in, double height_in,
                                                         double dots_per_inch) {
  RS_TRY(const CairoLibrary* const cairo, CairoLibrary::get());
  return std::unique_ptr<CairoCanvas>(new CairoCanvas(*cairo, width_in, height_in, dots_per_inch));
}

CairoCanvas::CairoCanvas(const CairoLibrary& cairo, double width_in, double height_in,
                         double dots_per_inch)
    : cairo_(cairo), dots_per_inch_(dots_per_inch), width_(pixels_of(width_in, dots_per_inch)),
      height_(pixels_of(height_in, dots_per_inch)),
      // rows of 32-bit pixels have no padding, so pixels() is one block
      surface_(cairo.cairo_image_surface_create(CAIRO_FORMAT_ARGB32, static_cast<int>(width_),
                                                static_cast<int>(height_))),
      context_(cairo.cairo_create(surface_)) {
  colour({255, 255, 255});
  cairo_.cairo_paint(context_);
  cairo_.cairo_set_line_join(context_, CAIRO_LINE_JOIN_ROUND);
  cairo_.cairo_select_font_face(context_, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                                CAIRO_FONT_WEIGHT_NORMAL);
  // Newer versions of Cairo colour the edges of text for the pixels of a screen.
  cairo_font_options_t* const text = cairo_.cairo_font_options_create();
  cairo_.cairo_font_options_set_antialias(text, CAIRO_ANTIALIAS_GRAY);
  cairo_.cairo_set_font_options(context_, text);
  cairo_.cairo_font_options_destroy(text);
}

CairoCanvas::~CairoCanvas() {
  cairo_.cairo_destroy(context_);
  cairo_.cairo_surface_destroy(surface_);
}

void CairoCanvas::colour(PlotInk ink) {
  cairo_.cairo_set_source_rgb(context_, ink.red / 255.0, ink.green / 255.0, ink.blue / 255.0);
}

void CairoCanvas::path(const Outline& outline) {
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const auto to = i == 0 ? cairo_.cairo_move_to : cairo_.cairo_line_to;
    to(context_, outline[i].x * dots_per_inch_, outline[i].y * dots_per_inch_);
  }
}

void CairoCanvas::fill(const std::vector<Outline>& outlines, PlotInk ink) {
  for (const Outline& outline : outlines) {
    path(outline);
    cairo_.cairo_close_path(context_);
  }
  colour(ink);
  cairo_.cairo_fill(context_);
}

void CairoCanvas::stroke(const Outline& line, double width, PlotInk ink) {
  path(line);
  colour(ink);
  cairo_.cairo_set_line_width(context_, width * dots_per_inch_);
  cairo_.cairo_stroke(context_);
}

void CairoCanvas::bar(Spot from, Spot to, PlotInk ink) {
  const double left = std::round(from.x * dots_per_inch_);
  const double top = std::round(from.y * dots_per_inch_);
  // at least one pixel, so that the smallest bar is visible
  const double right = std::max(std::round(to.x * dots_per_inch_), left + 1);
  const double bottom = std::max(std::round(to.y * dots_per_inch_), top + 1);
  cairo_.cairo_rectangle(context_, left, top, right - left, bottom - top);
  colour(ink);
  cairo_.cairo_fill(context_);
}

void CairoCanvas::text(Spot at, std::string_view line, Anchor anchor, double em, double degrees,
                       PlotInk ink) {
  std::string shown = repaired_utf8(line); // Cairo stops at a byte that is not valid UTF-8
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  cairo_.cairo_save(context_);
  cairo_.cairo_set_font_size(context_, em * dots_per_inch_);
  cairo_text_extents_t extents = {};
  cairo_.cairo_text_extents(context_, shown.c_str(), &extents);
  const double before = anchor == Anchor::kStart ? 0
                        : anchor == Anchor::kEnd ? extents.x_advance
                                                 : extents.x_advance / 2;
  cairo_.cairo_translate(context_, at.x * dots_per_inch_, at.y * dots_per_inch_);
  cairo_.cairo_rotate(context_, degrees / 180 * std::numbers::pi);
  cairo_.cairo_move_to(context_, -before, 0);
  colour(ink);
  cairo_.cairo_show_text(context_, shown.c_str());
  cairo_.cairo_restore(context_);
}

std::span<std::uint32_t> CairoCanvas::pixels() {
  cairo_.cairo_surface_flush(surface_);
  unsigned char* const data = cairo_.cairo_image_surface_get_data(surface_);
  if (data == nullptr ||
      static_cast<std::size_t>(cairo_.cairo_image_surface_get_stride(surface_)) != width_ * 4)
    return {};
  return {reinterpret_cast<std::uint32_t*>(data), width_ * height_};
}

Result<std::string> CairoCanvas::png() {
  const std::span<std::uint32_t> drawn = pixels();
  if (const cairo_status_t status = cairo_.cairo_status(context_);
      status != CAIRO_STATUS_SUCCESS || drawn.empty())
    return Error{ErrorCode::kOutput, "",
                 std::string("Cairo: ") + cairo_.cairo_status_to_string(status), ""};
  return png_of({width_, height_, drawn});
}

} // namespace rankscope
