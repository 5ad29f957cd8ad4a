#include "writers/plots/legend.h"

#include "writers/plots/axes.h"

namespace rankscope {
namespace {

constexpr double kSample = 0.4; ///< length of the line that is drawn next to a name
constexpr double kLegendGap = 0.15;

double width_of(const LegendEntry& entry) {
  return text_width(entry.label, kTextEm) + 0.08 + kSample + kLegendGap;
}

bool is_series(LegendMark mark) {
  return mark == LegendMark::kSquare || mark == LegendMark::kDown;
}

void draw_entry(Canvas& canvas, const LegendEntry& entry, double left, double y, bool lines) {
  const double label = width_of(entry) - kSample - kLegendGap - 0.08;
  canvas.text({left, y + kTextEm * 0.36}, entry.label, Anchor::kStart, kTextEm, 0, kTextInk);
  const double from = left + label + 0.08;
  const double to = from + kSample;
  if (entry.mark == LegendMark::kDashes)
    return dashes(canvas, from, to, y, kThickLine, entry.ink);
  if (entry.mark == LegendMark::kRule || lines)
    rule(canvas, {from, y}, {to, y}, kLine, entry.ink);
  draw_mark(canvas, entry.mark, {(from + to) / 2, y}, entry.ink);
}

} // namespace

void draw_mark(Canvas& canvas, LegendMark mark, Spot at, PlotInk ink) {
  constexpr double kRadius = 0.035;
  const auto corner = [at](double x, double y) {
    return Spot{at.x + x * kRadius, at.y + y * kRadius};
  };
  switch (mark) {
  case LegendMark::kRing:
    return ring(canvas, at, kRadius * 0.9, kThinLine, ink);
  case LegendMark::kDot:
    return canvas.fill({circle(at, kRadius)}, ink);
  case LegendMark::kSquare:
    return canvas.bar(corner(-1, -1), corner(1, 1), ink);
  case LegendMark::kPatch:
    return canvas.bar(corner(-5, -2), corner(5, 2), ink);
  case LegendMark::kUp:
    return canvas.fill({{corner(0, -1.3), corner(1.2, 0.9), corner(-1.2, 0.9)}}, ink);
  case LegendMark::kDown:
    return canvas.fill({{corner(0, 1.3), corner(1.2, -0.9), corner(-1.2, -0.9)}}, ink);
  case LegendMark::kRule:
  case LegendMark::kDashes:
    return;
  }
}

double draw_legend(Canvas& canvas, const std::vector<LegendEntry>& entries, double left,
                   double right, double top) {
  double y = top;
  bool lines = false; // the entries are for a panel with lines
  for (const LegendEntry& entry : entries)
    lines = lines || is_series(entry.mark);
  for (std::size_t i = 0; i < entries.size();) {
    double width = width_of(entries[i]);
    std::size_t end = i + 1;
    for (; end < entries.size() && width + width_of(entries[end]) <= right - left; ++end)
      width += width_of(entries[end]);
    for (double x = right - width; i < end; ++i) {
      draw_entry(canvas, entries[i], x, y + kLineHeight / 2, lines);
      x += width_of(entries[i]);
    }
    y += kLineHeight;
  }
  return y - top;
}

} // namespace rankscope
