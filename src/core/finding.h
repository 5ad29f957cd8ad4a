// One record for what a command concludes. JSON, SQL, workbooks and pages show its fields; the
// console prints its three lines. The texts are composed in src/findings and nowhere else.
#pragma once

#include "core/schema.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

enum class FindingKind : std::uint8_t {
  kClaim,  ///< what the data show
  kCause,  ///< why
  kAdvice, ///< what to try
  kNote,   ///< what the other findings leave out, or could not have shown
};
[[nodiscard]] std::string_view finding_kind_name(FindingKind kind);

/// Where a finding is valid.
enum class FindingScope : std::uint8_t {
  kTheseSteps,   ///< describes the recorded steps
  kThisRun,      ///< a test over the steps was passed
  kThisHardware, ///< seen in two runs on the same GPU, node or link
};
[[nodiscard]] std::string_view finding_scope_name(FindingScope scope);

/// The longest headline, in columns of a terminal.
inline constexpr std::size_t kHeadlineWidth = 100;

/// One kind of finding. The id is a stable name with hyphens.
struct FindingRule {
  std::string_view id;
  FindingKind kind = FindingKind::kClaim;
  std::string_view meaning; ///< one line for the docs
};

/// Where to look in a trace, on the clock of its file.
struct FindingPlace {
  std::int64_t rank = 0, start_ns = 0, end_ns = 0;
  bool operator==(const FindingPlace&) const = default;
};

/// No two findings of one command have the same rule and subject.
struct Finding {
  std::string_view rule; ///< FindingRule::id
  FindingKind kind = FindingKind::kClaim;
  std::string subject_kind; ///< "run", "rank", "configuration", ...
  std::string subject;      ///< its name; empty for a run
  std::optional<double> value;
  Unit unit = Unit::kNone; ///< of value, low, high and detectable
  std::optional<double> low, high;
  std::size_t steps = 0; ///< smallest number of steps behind the value; 0: no test over steps
  FindingScope scope = FindingScope::kTheseSteps;
  std::optional<double> cost_ms;    ///< per step
  std::optional<double> detectable; ///< the smallest effect that the data could have shown
  std::optional<FindingPlace> place;
  std::string headline; ///< the effect, at most kHeadlineWidth columns, without a full stop
  std::string evidence; ///< the numbers behind it
  std::string action;   ///< what to do about it; may be empty

  bool operator==(const Finding&) const = default;
  /// The three in one line: "Headline. Evidence. Action."
  [[nodiscard]] std::string sentence() const;
};

[[nodiscard]] std::vector<std::string> sentences_of(std::span<const Finding> findings);

/// The columns of findings, the same in every output.
[[nodiscard]] const Schema<Finding>& finding_schema();

} // namespace rankscope
