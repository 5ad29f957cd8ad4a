// What every finding is composed with: its record, numbers with three significant digits, names
// that fit into a headline.
#pragma once

#include "base/statistics.h"
#include "findings/rules.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Of a difference between runs that was tested over their steps.
inline constexpr const char* kRepeatTheRuns =
    "Repeat the runs to confirm this: differences between runs are not included";

/// A finding of this rule without values and texts.
[[nodiscard]] Finding finding_of(const FindingRule& rule, std::string subject_kind,
                                 std::string subject);

/// Sets the headline, cut where names make it too long.
void set_headline(Finding& finding, std::string text);
/// Sets value, low and high.
void set_interval(Finding& finding, double value, double half_width, Unit unit);

/// The text for a headline: one line, its middle left out where it is wider than `width`.
[[nodiscard]] std::string brief(std::string_view name, std::size_t width);

/// Three significant digits. Examples: 160.83 is "161", 3.3 is "3.30", 0.01234 is "0.0123".
[[nodiscard]] std::string number3(double value);
/// "160.8 to 161.7": as many decimals as both need, and as their difference needs to be read.
[[nodiscard]] std::string range3(double low, double high);
/// The interval of a difference: range3() of its ends.
[[nodiscard]] std::string range3(const MeanDifference& d);
/// The same of amounts, so that the sentence says the direction: -3 to -1 is "1 to 3".
[[nodiscard]] std::string amounts3(const MeanDifference& d);
/// "29.9 %", "0.25 %": one decimal from 1 on, two below.
[[nodiscard]] std::string percent_text(double percent);
/// "3 steps", "1 step".
[[nodiscard]] std::string counted(std::size_t n, std::string_view one, std::string_view many);
/// "per step (6 steps of 8 ranks", "in all (no steps in the trace": the parenthesis is open.
[[nodiscard]] std::string per_step_text(std::size_t steps, std::size_t ranks);
/// "95 % CI", with the number of comparisons where there are several.
[[nodiscard]] std::string level_text(std::size_t comparisons);
/// "a", "a or b", "a, b or c".
[[nodiscard]] std::string joined(const std::vector<std::string>& names, std::string_view last);

/// With a capital first letter.
[[nodiscard]] std::string capital(std::string text);

/// Whether one of them has this rule and subject.
[[nodiscard]] bool has_finding(const std::vector<Finding>& findings, const Finding& like);
/// Appends `more`, except those whose rule and subject are in `to`.
void add_findings(std::vector<Finding>& to, std::vector<Finding> more);

} // namespace rankscope
