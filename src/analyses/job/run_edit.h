// Changes that a user requests in a run, as changes of the replay: "kernels=REGEX x 0.5", "ranks=3:
// as median", "hide collectives" (docs/whatif.md).
#pragma once

#include "analyses/job/path_rows.h"
#include "analyses/job/places.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope {

/// GPU time per step and rank in ns, by operator and its input shapes. Collectives are left out.
using TimesByOperator = std::map<std::pair<std::string, std::string>, double>;
[[nodiscard]] TimesByOperator operator_times(const JobRun& run);

/// A change. Each of its factors gives a separate answer.
struct RunEdit {
  enum class Target : std::uint8_t {
    kKernels,     ///< GPU kernels except collectives, by name
    kCollectives, ///< transfers, by name
    kBandwidth,   ///< transfers, by name, at another bus bandwidth
    kOperators,   ///< GPU work, by operator
    kAsInRun,     ///< GPU work, by operator, with its time in another run
    kHost,        ///< the host between calls, and calls that do not wait for the GPU
    kDelays,      ///< time that the graph does not explain
    kRanks,       ///< all activities of ranks
    kHidden,      ///< collectives: nothing waits for them
  };
  std::string text; ///< text as given by the user
  Target target = Target::kKernels;
  std::optional<std::regex> pattern; ///< empty: all names
  std::vector<std::int64_t> ranks;   ///< ranks for kRanks
  /// Factors for durations. kBandwidth: values in GB/s. Empty for kRanks, kHidden and kAsInRun.
  std::vector<double> factors;
  std::string other;     ///< kAsInRun: name of the other run, as given by the user
  TimesByOperator times; ///< kAsInRun: times in the other run, which the caller reads
};

/// Parses a change. Errors: kUsage, with a list of the allowed forms.
[[nodiscard]] Result<RunEdit> parse_run_edit(std::string_view text);

/// The predicted run after some changes.
struct EditAnswer {
  std::string text; ///< text of the changes, with the factor
  std::size_t activities = 0;
  double after_ms = 0; ///< mean time of a step
  double change_ms = 0;
  std::optional<double> low_ms, high_ms; ///< 95 % interval of the change over the steps
  std::vector<PathRow> path;             ///< critical path of the changed run
};

/// Returns an answer for each change and factor, in the order of `changes`. If there are several
/// changes, adds an answer for all changes together, each with its first factor. `last`: set to the
/// edit of the last answer.
[[nodiscard]] Result<std::vector<EditAnswer>> edit_answers(const JobRun& run,
                                                           const CountedSteps& clock,
                                                           const std::vector<RunEdit>& changes,
                                                           JobEdit& last);

} // namespace rankscope
