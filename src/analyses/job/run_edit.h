// What a user would change in a run: "kernels=REGEX x 0.5", "ranks=3: as median", "hide
// collectives" (docs/whatif.md), as changes of the replay.
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

/// GPU time per step and rank in ns, collectives aside, by operator and shapes of its inputs.
using TimesByOperator = std::map<std::pair<std::string, std::string>, double>;
[[nodiscard]] TimesByOperator operator_times(const JobRun& run);

/// One change. With several factors it is a question for each.
struct RunEdit {
  enum class Of : std::uint8_t {
    kKernels,     ///< GPU kernels but collectives, by name
    kCollectives, ///< transfers, by name
    kBandwidth,   ///< transfers, by name, at another bus bandwidth
    kOperators,   ///< GPU work, by operator
    kAsInRun,     ///< GPU work, by operator, with the time that another run has for it
    kHost,        ///< the host between calls, and calls that do not wait for the GPU
    kDelays,      ///< time that the graph does not explain
    kRanks,       ///< all activities of ranks
    kHidden,      ///< collectives: nothing waits for them
  };
  std::string text; ///< as the user wrote it
  Of of = Of::kKernels;
  std::optional<std::regex> pattern; ///< none: all
  std::vector<std::int64_t> ranks;   ///< of kRanks
  /// Of durations; kBandwidth: GB/s; empty: kRanks, kHidden and kAsInRun.
  std::vector<double> factors;
  std::string other;     ///< kAsInRun: the other run, as the user named it
  TimesByOperator times; ///< kAsInRun: of the other run; the caller reads it
};

/// Errors: kUsage, with the forms there are.
[[nodiscard]] Result<RunEdit> parse_run_edit(std::string_view text);

/// Applies it to `edit`; `factor`: one of its factors. Returns the number of activities that it
/// changes. Errors: kUsage when there are no such activities, or a rank that the run does not have.
[[nodiscard]] Result<std::size_t> apply_run_edit(const JobRun& run, const RunEdit& change,
                                                 double factor, JobEdit& edit);

/// The run with some changes.
struct EditAnswer {
  std::string text; ///< of the changes, with the factor
  std::size_t activities = 0;
  double after_ms = 0; ///< mean time of a step
  double change_ms = 0;
  std::optional<double> low_ms, high_ms; ///< 95 % interval of the change over the steps
  std::vector<PathRow> path;             ///< of the changed run
};

/// One answer for each change and factor, in the order of `changes`, and where there are several
/// changes one for all of them, each with its first factor. `last`: of the last answer.
[[nodiscard]] Result<std::vector<EditAnswer>> edit_answers(const JobRun& run,
                                                           const CountedSteps& clock,
                                                           const std::vector<RunEdit>& changes,
                                                           JobEdit& last);

} // namespace rankscope
