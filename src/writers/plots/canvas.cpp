#include "writers/plots/canvas.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace rankscope {
namespace {

int digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

} // namespace

double text_width(std::string_view line, double em) {
  double ems = 0;
  for (const char c : line) {
    if ((static_cast<unsigned char>(c) & 0xC0U) == 0x80U) // inside a UTF-8 character
      continue;
    const bool narrow = std::string_view(" .,:;'|!()[]ijlftrI/-").find(c) != std::string_view::npos;
    const bool wide =
        (c >= 'A' && c <= 'Z') || std::string_view("mw%@=+<>~_#").find(c) != std::string_view::npos;
    ems += narrow ? 0.36 : wide ? 0.74 : 0.62;
  }
  return ems * em;
}

PlotInk ink_of(std::string_view text) {
  if (text.size() != 7 || text[0] != '#')
    return {};
  int parts[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    const int high = digit(text[1 + 2 * i]);
    const int low = digit(text[2 + 2 * i]);
    if (high < 0 || low < 0)
      return {};
    parts[i] = high * 16 + low;
  }
  return {static_cast<std::uint8_t>(parts[0]), static_cast<std::uint8_t>(parts[1]),
          static_cast<std::uint8_t>(parts[2])};
}

PlotInk mixed(PlotInk from, PlotInk to, double share) {
  const auto part = [share](int a, int b) {
    return static_cast<std::uint8_t>(std::lround(a + (b - a) * share));
  };
  return {part(from.red, to.red), part(from.green, to.green), part(from.blue, to.blue)};
}

PlotInk paler(PlotInk ink, double share) {
  return mixed({255, 255, 255}, ink, share);
}

void dashes(Canvas& canvas, double left, double right, double y, double width, PlotInk ink) {
  constexpr double kDash = 0.06;
  constexpr double kGap = 0.035;
  for (double x = left; x < right; x += kDash + kGap)
    canvas.bar({x, y - width / 2}, {std::min(x + kDash, right), y + width / 2}, ink);
}

void rule(Canvas& canvas, Spot from, Spot to, double width, PlotInk ink) {
  const double half = width / 2;
  canvas.bar({std::min(from.x, to.x) - half, std::min(from.y, to.y) - half},
             {std::max(from.x, to.x) + half, std::max(from.y, to.y) + half}, ink);
}

Outline circle(Spot centre, double radius) {
  constexpr int kCorners = 24;
  Outline out;
  out.reserve(kCorners);
  for (int i = 0; i < kCorners; ++i) {
    const double angle = 2 * std::numbers::pi * i / kCorners;
    out.push_back({centre.x + radius * std::cos(angle), centre.y + radius * std::sin(angle)});
  }
  return out;
}

void ring(Canvas& canvas, Spot centre, double radius, double width, PlotInk ink) {
  Outline hole = circle(centre, radius - width / 2);
  std::reverse(hole.begin(), hole.end());
  canvas.fill({circle(centre, radius + width / 2), std::move(hole)}, ink);
}

} // namespace rankscope
