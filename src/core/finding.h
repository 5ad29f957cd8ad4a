// Finding: one conclusion of a command. JSON, SQL, workbooks and pages show its fields; the console
// prints its three texts. Only src/findings composes these texts.
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
  kClaim,  ///< a result that the data support
  kCause,  ///< the cause of a result
  kAdvice, ///< an action to try
  kNote,   ///< data that the other findings leave out, or effects that they could not have shown
};
[[nodiscard]] std::string_view finding_kind_name(FindingKind kind);

/// What a finding is valid for.
enum class FindingScope : std::uint8_t {
  kTheseSteps,   ///< only the recorded steps
  kThisRun,      ///< this run: the effect is significant in a test over the steps
  kThisHardware, ///< this GPU, node or link: two runs show the effect
};
[[nodiscard]] std::string_view finding_scope_name(FindingScope scope);

/// The maximum length of a headline, in columns of a terminal.
inline constexpr std::size_t kHeadlineWidth = 100;

/// One kind of finding. The id is a stable name with hyphens.
struct FindingRule {
  std::string_view id;
  FindingKind kind = FindingKind::kClaim;
  std::string_view meaning; ///< one line for the docs
};

/// The rank and the time range in its trace that show the effect. Times are on the clock of the
/// trace.
struct FindingPlace {
  std::int64_t rank = 0, start_ns = 0, end_ns = 0;
  bool operator==(const FindingPlace&) const = default;
};

/// One conclusion. Two findings of one command never have the same rule and subject.
struct Finding {
  std::string_view rule; ///< FindingRule::id
  FindingKind kind = FindingKind::kClaim;
  std::string subject_kind; ///< "run", "rank", "configuration", ...
  std::string subject;      ///< name of the subject; empty for a run
  std::optional<double> value;
  Unit unit = Unit::kNone; ///< of value, low, high and detectable
  std::optional<double> low, high;
  std::size_t steps = 0; ///< smallest number of steps that the value is based on; 0: no test over
                         ///< steps
  FindingScope scope = FindingScope::kTheseSteps;
  std::optional<double> cost_ms;    ///< per step
  std::optional<double> detectable; ///< smallest effect that the data could have shown
  std::optional<FindingPlace> place;
  std::string headline; ///< the effect, at most kHeadlineWidth columns, without a full stop
  std::string evidence; ///< numbers that support the effect
  std::string action;   ///< the suggested action; may be empty

  bool operator==(const Finding&) const = default;
  /// Returns the three texts on one line: "Headline. Evidence. Action."
  [[nodiscard]] std::string sentence() const;
};

[[nodiscard]] std::vector<std::string> sentences_of(std::span<const Finding> findings);

/// Returns the columns of a table of findings, which are the same in every output.
[[nodiscard]] const Schema<Finding>& finding_schema();

} // namespace rankscope
