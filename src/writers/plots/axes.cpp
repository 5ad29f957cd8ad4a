#include "writers/plots/axes.h"

#include "base/ascii.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numbers>

namespace rankscope {
namespace {

constexpr double kTurn = 35; ///< angle of turned names in degrees

double widest_of(const std::vector<std::string_view>& lines) {
  double out = 0;
  for (const std::string_view line : lines)
    out = std::max(out, text_width(line, kTextEm));
  return out;
}

/// Returns the smallest number of 1, 2, 5, 10, ... names that together have at least `needed`
/// inches, if each name has `each` inches.
std::size_t round_step(double needed, double each) {
  for (std::size_t scale = 1;; scale *= 10)
    for (const std::size_t round : {1U, 2U, 5U})
      if (static_cast<double>(round * scale) * each >= needed || scale > 100'000)
        return round * scale;
}

} // namespace

double tick_step(double range, int wanted) {
  const double rough = range / wanted;
  if (!(rough > 0) || !std::isfinite(rough))
    return 1;
  const double scale = std::pow(10, std::floor(std::log10(rough)));
  for (const double round : {1.0, 2.0, 5.0})
    if (round * scale >= rough * 0.999)
      return round * scale;
  return 10 * scale;
}

std::vector<std::pair<double, std::string>> ticks_between(double low, double high, double step) {
  std::vector<std::pair<double, std::string>> out;
  const double slack = step * 1e-6;
  const double first = std::ceil((low - slack) / step);
  const double last = std::floor((high + slack) / step);
  const int digits = step >= 1 ? 0 : static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
  for (double n = first; n <= last && out.size() < 100; ++n) {
    const double value = n == 0 ? 0 : n * step;
    const bool plain = std::fabs(high) < 1e7 && std::fabs(low) < 1e7 && digits <= 5;
    out.emplace_back(value,
                     plain ? fmt::format("{:.{}f}", value, digits) : fmt::format("{:g}", value));
  }
  return out;
}

std::vector<std::pair<double, std::string>> ticks_of(const Scale& scale, int wanted) {
  return ticks_between(scale.low, scale.high, tick_step(scale.high - scale.low, wanted));
}

NameSteps name_steps(const std::vector<std::string>& names, double horizontal, double turned,
                     double each) {
  const auto without_digits = [](std::string name) {
    std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
    return name;
  };
  const bool numbered = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return without_digits(name) == without_digits(names.front());
  });
  NameSteps out;
  out.turned = horizontal > each && !numbered;
  out.step = round_step(out.turned ? turned : horizontal, each);
  return out;
}

NameAxis name_axis(const std::vector<std::string>& names, double each) {
  double widest = 0;
  std::size_t lines = 1;
  for (const std::string& name : names) {
    const auto parts = split(name, '\n');
    widest = std::max(widest, widest_of(parts));
    lines = std::max(lines, parts.size());
  }
  const double high = kLineHeight * static_cast<double>(lines);
  NameAxis out{name_steps(names, widest + kTextEm / 2, high, each), 0};
  const double down = std::sin(kTurn / 180 * std::numbers::pi);
  out.height = out.turned ? widest * down + kLineHeight : high;
  return out;
}

void draw_names(Canvas& canvas, const NameAxis& axis, const std::vector<std::string>& names,
                double from, double each, double y) {
  for (std::size_t i = 0; i < names.size(); i += axis.step) {
    const double x = from + each * static_cast<double>(i);
    double baseline = y + 0.75 * kLineHeight;
    for (const std::string_view line : split(names[i], '\n')) {
      canvas.text({x, baseline}, line, axis.turned ? Anchor::kStart : Anchor::kMiddle, kTextEm,
                  axis.turned ? kTurn : 0, kTextInk);
      baseline += kLineHeight;
    }
  }
}

RowNames row_names(const std::vector<std::string>& names, double most) {
  RowNames out;
  for (const std::string& name : names)
    out.width = std::max(out.width, widest_of(split(name, '\n')));
  if (out.width > most)
    out = {kTextEm * most / out.width, most};
  return out;
}

void draw_row_names(Canvas& canvas, const RowNames& shape, const std::vector<std::string>& names,
                    Spot first, double each) {
  const double line_height = kLineHeight * shape.em / kTextEm;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::vector<std::string_view> lines = split(names[i], '\n');
    double baseline = first.y + each * static_cast<double>(i) + shape.em * 0.36 -
                      line_height * static_cast<double>(lines.size() - 1) / 2;
    for (const std::string_view line : lines) {
      canvas.text({first.x, baseline}, line, Anchor::kEnd, shape.em, 0, kTextInk);
      baseline += line_height;
    }
  }
}

void draw_title(Canvas& canvas, const std::string& text, double x, double y, double em,
                double width) {
  const std::vector<std::string_view> lines = split(text, '\n');
  const double widest = widest_of(lines) * em / kTextEm;
  const double fitting = widest > width ? em * width / widest : em;
  for (const std::string_view line : lines) {
    canvas.text({x, y}, line, Anchor::kMiddle, fitting, 0, kTextInk);
    y += kLineHeight;
  }
}

} // namespace rankscope
