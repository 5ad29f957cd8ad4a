#include "findings/compose.h"

#include "base/display_text.h"
#include "base/invariant.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace rankscope {
namespace {

/// Returns the number of decimals with which `value` has three significant digits.
int decimals3(double value) {
  const double size = std::fabs(value);
  if (!(size > 0) || !std::isfinite(size))
    return 0;
  return std::clamp(2 - static_cast<int>(std::floor(std::log10(size) + 1e-9)), 0, 6);
}

} // namespace

std::span<const FindingRule> finding_rules() {
  static constexpr FindingRule kAll[] = {
#define RANKSCOPE_RULE(name, id, kind, meaning) rules::name,
#include "findings/rules.def"
#undef RANKSCOPE_RULE
  };
  return kAll;
}

Finding finding_of(const FindingRule& rule, std::string subject_kind, std::string subject) {
  Finding out;
  out.rule = rule.id;
  out.kind = rule.kind;
  out.subject_kind = std::move(subject_kind);
  out.subject = std::move(subject);
  return out;
}

void set_headline(Finding& finding, std::string text) {
  if (display_width(text) <= kHeadlineWidth) {
    finding.headline = std::move(text);
    return;
  }
  std::string_view kept = first_columns(text, kHeadlineWidth - 3);
  const bool inside_a_word = text[kept.size()] != ' ';
  if (const std::size_t space = kept.rfind(' ');
      inside_a_word && space != std::string_view::npos && space >= kept.size() / 2)
    kept = kept.substr(0, space);
  finding.headline = std::string(kept) + "...";
}

void set_interval(Finding& finding, double value, double half_width, Unit unit) {
  RS_ASSERT(!(half_width < 0));
  finding.value = value;
  finding.unit = unit;
  finding.low = value - half_width;
  finding.high = value + half_width;
}

std::string brief(std::string_view name, std::size_t width) {
  return shown_text(shortened_middle(shown_text(name, true), width, false), true);
}

std::string number3(double value) {
  return number3(value, value);
}

std::string number3(double value, double largest) {
  return with_decimals(value, decimals3(largest));
}

std::string with_decimals(double value, int decimals) {
  if (!(std::fabs(value) < 1e9))
    return fmt::format("{:.3g}", value);
  return fixed_text(value, decimals);
}

std::string size_text(double bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  for (; unit + 1 < kUnits.size() && bytes >= 1024; ++unit)
    bytes /= 1024;
  return (unit == 0 ? with_decimals(bytes, 0) : number3(bytes)) + ' ' + kUnits[unit];
}

std::string range3(double low, double high) {
  const double gap = std::fabs(high - low);
  int decimals = decimals3(std::max(std::fabs(low), std::fabs(high)));
  if (gap > 0 && std::isfinite(gap)) // at least one digit of the difference; at most six decimals
    decimals = std::clamp(-static_cast<int>(std::floor(std::log10(gap) + 1e-9)), decimals, 6);
  const std::string first = with_decimals(low, decimals), last = with_decimals(high, decimals);
  return first == last ? number3(low) : first + " to " + last;
}

std::string range3(const MeanDifference& d) {
  return range3(d.difference - d.half_width, d.difference + d.half_width);
}

std::string amounts3(const MeanDifference& d) {
  return range3({std::fabs(d.difference), d.half_width});
}

std::string percent_text(double percent) {
  return with_decimals(percent, std::fabs(percent) < 1 ? 2 : 1) + " %";
}

std::string per_step_text(std::size_t steps, std::size_t ranks) {
  const std::string out =
      steps > 0 ? "per step (" + counted(steps, "step", "steps") : "in all (no steps in the trace";
  return ranks > 1 ? fmt::format("{} of {} ranks", out, ranks) : out;
}

std::string level_text(std::size_t comparisons) {
  return comparisons > 1 ? fmt::format("95 % CI over {} comparisons", comparisons) : "95 % CI";
}

std::string joined(const std::vector<std::string>& names, std::string_view last) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    out += (i == 0 ? "" : i + 1 == names.size() ? fmt::format(" {} ", last) : ", ") + names[i];
  return out;
}

bool has_finding(const std::vector<Finding>& findings, const Finding& like) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
    return f.rule == like.rule && f.subject_kind == like.subject_kind && f.subject == like.subject;
  });
}

std::string capital(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return text;
}

void add_findings(std::vector<Finding>& to, std::vector<Finding> more) {
  for (Finding& f : more)
    if (!has_finding(to, f))
      to.push_back(std::move(f));
}

} // namespace rankscope
