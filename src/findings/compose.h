// Functions that compose a finding: they set its fields, format numbers with three significant
// digits, and shorten names for headlines.
#pragma once

#include "base/number_text.h" // counted()
#include "base/statistics.h"
#include "findings/rules.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// The action for a difference between runs that was only tested over their steps.
inline constexpr const char* kRepeatTheRuns =
    "Repeat the runs to confirm the result: the interval does not include differences between runs";

/// Returns a finding of this rule without values and texts.
[[nodiscard]] Finding finding_of(const FindingRule& rule, std::string subject_kind,
                                 std::string subject);

/// Sets the headline. If it is too long, it is cut after a word, or within a word that takes half
/// of the width.
void set_headline(Finding& finding, std::string text);
/// Sets value, low and high.
void set_interval(Finding& finding, double value, double half_width, Unit unit);

/// Returns a one-line text for a headline. If it is wider than `width`, its middle is cut out.
[[nodiscard]] std::string brief(std::string_view name, std::size_t width);

/// Returns a number with three significant digits. Examples: 160.83 is "161", 3.3 is "3.30",
/// 0.01234 is "0.0123".
[[nodiscard]] std::string number3(double value);
/// Returns a number of a list or column, with the decimals that number3() gives the largest of it.
[[nodiscard]] std::string number3(double value, double largest);
/// Returns a number with this number of decimals, or like 1.23e+09 from 1e9 on.
[[nodiscard]] std::string with_decimals(double value, int decimals);
/// Returns a size with three significant digits, in B, KiB, MiB or GiB: "4 B", "352 MiB".
[[nodiscard]] std::string size_text(double bytes);
/// Returns "160.8 to 161.7", with as many decimals as both ends and their difference need; one
/// number if no digit differs.
[[nodiscard]] std::string range3(double low, double high);
/// Returns range3() of the interval of a difference.
[[nodiscard]] std::string range3(const MeanDifference& d);
/// Returns the interval without sign, for sentences that contain the direction: -3 to -1 is "1 to
/// 3".
[[nodiscard]] std::string amounts3(const MeanDifference& d);
/// Returns "29.9 %" or "0.25 %": one decimal if the value is at least 1, else two decimals.
[[nodiscard]] std::string percent_text(double percent);
/// Returns "per step (6 steps of 8 ranks" or "in all (no steps in the trace"; the caller adds the
/// closing parenthesis.
[[nodiscard]] std::string per_step_text(std::size_t steps, std::size_t ranks);
/// Returns "95 % CI", with the number of comparisons if there are several.
[[nodiscard]] std::string level_text(std::size_t comparisons);
/// Returns "a", "a or b" or "a, b or c".
[[nodiscard]] std::string joined(const std::vector<std::string>& names, std::string_view last);

/// Returns the text with its first letter in upper case.
[[nodiscard]] std::string capital(std::string text);

/// Returns whether the list contains a finding with the rule and subject of `like`.
[[nodiscard]] bool has_finding(const std::vector<Finding>& findings, const Finding& like);
/// Appends the findings of `more`, except those whose rule and subject are already in `to`.
void add_findings(std::vector<Finding>& to, std::vector<Finding> more);

} // namespace rankscope
