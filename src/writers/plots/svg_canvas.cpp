#include "writers/plots/svg_canvas.h"

#include "base/xml_text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace rankscope {
namespace {

constexpr double kUnits = 90; ///< units per inch

std::string colour(PlotInk ink) {
  return fmt::format("#{:02x}{:02x}{:02x}", ink.red, ink.green, ink.blue);
}

/// Converts inches to units, rounded to a hundredth.
double units(double inches) {
  const double rounded = std::round(inches * kUnits * 100) / 100;
  return rounded == 0 ? 0 : rounded; // avoid -0
}

std::string path_of(const Outline& outline) {
  std::string out;
  for (const Spot& p : outline)
    fmt::format_to(std::back_inserter(out), "{}{} {}", out.empty() ? 'M' : 'L', units(p.x),
                   units(p.y));
  return out;
}

} // namespace

SvgCanvas::SvgCanvas(double width_in, double height_in)
    : out_(fmt::format("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<svg "
                       "xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                       "viewBox=\"0 0 {0} {1}\" font-family=\"DejaVu Sans, sans-serif\">\n<rect "
                       "width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
                       units(width_in), units(height_in))) {}

void SvgCanvas::fill(const std::vector<Outline>& outlines, PlotInk ink) {
  std::string path;
  for (const Outline& outline : outlines)
    if (!outline.empty())
      path += path_of(outline) + 'Z';
  if (!path.empty())
    fmt::format_to(std::back_inserter(out_), "<path fill=\"{}\" d=\"{}\"/>\n", colour(ink), path);
}

void SvgCanvas::stroke(const Outline& path, double width, PlotInk ink) {
  if (!path.empty())
    fmt::format_to(std::back_inserter(out_),
                   "<path fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" d=\"{}\"/>\n",
                   colour(ink), units(width), path_of(path));
}

void SvgCanvas::bar(Spot from, Spot to, PlotInk ink) {
  fmt::format_to(std::back_inserter(out_),
                 "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n",
                 units(from.x), units(from.y), units(to.x - from.x), units(to.y - from.y),
                 colour(ink));
}

void SvgCanvas::text(Spot at, std::string_view line, Anchor anchor, double em, double degrees,
                     PlotInk ink) {
  const char* const anchors[] = {"start", "middle", "end"};
  const std::string turned = degrees == 0 ? ""
                                          : fmt::format(" transform=\"rotate({} {} {})\"", degrees,
                                                        units(at.x), units(at.y));
  fmt::format_to(
      std::back_inserter(out_),
      "<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\" fill=\"{}\"{}>{}</text>\n",
      units(at.x), units(at.y), units(em), anchors[static_cast<int>(anchor)], colour(ink), turned,
      xml_escaped(line));
}

std::string SvgCanvas::svg() && {
  out_ += "</svg>\n";
  return std::move(out_);
}

} // namespace rankscope
