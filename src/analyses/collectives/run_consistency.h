// Run consistency: checks that the traces given as the ranks of a run are those ranks and come from
// one run. Every use case with several ranks calls this and reports the problems (exit code 4).
#pragma once

#include "analyses/collectives/clock_alignment.h"
#include "analyses/collectives/collective_facts.h"
#include "core/rank_set.h"
#include "core/trace.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace rankscope {

/// A process group in the trace of one rank.
struct KnownGroup {
  std::string name;
  RankSet ranks;
  bool operator<(const KnownGroup& o) const {
    return std::tie(name, ranks) < std::tie(o.name, o.ranks);
  }
};

/// The run metadata of a trace, from anywhere in the file.
struct RankIdentity {
  std::int64_t rank = 0; ///< as given, e.g. by the file name
  std::optional<std::int64_t> header_rank, world_size;
  std::vector<KnownGroup> groups;  ///< from the header and collectives; only with lists of members
  std::int64_t largest_group = 0;  ///< largest "Group size" of the collectives
  std::vector<std::int64_t> steps; ///< ProfilerStep numbers, ascending
  std::string device;              ///< name of the first GPU
  std::vector<std::string> launch; ///< grids and blocks of collectives that synchronise, sorted
  std::uint64_t gpu_events = 0;
  std::uint64_t content = 0;             ///< hash of the names, times and durations of GPU events
  std::int64_t start_ns = 0, end_ns = 0; ///< unix times of GPU events; both 0 without a unix clock
};

/// Returns the identity of a rank's trace, in one pass over the events.
[[nodiscard]] RankIdentity identity_of(const Trace& trace, std::int64_t rank);

/// Returns the number of ranks in the job: the largest world size or process group that a trace
/// names; 0: unknown.
[[nodiscard]] std::int64_t job_ranks(std::span<const RankIdentity> ranks);

struct RunProblem {
  enum class Kind {
    kMissing, ///< ranks of the world without a trace
    kCopy,    ///< two ranks with the same events
    kRank,    ///< two traces with the same header rank, or a rank beyond the world size
    kWorld,   ///< headers disagree on the number of ranks
    kGroups,  ///< process groups that contradict each other
    kWindow,  ///< different profiler steps, or windows shifted against each other
    kForeign, ///< another run: different GPU, time, configuration or ends of collectives
  };
  Kind kind = Kind::kMissing;
  std::vector<std::int64_t> ranks; ///< ranks that are missing or do not fit
  std::string text;                ///< one line
  bool operator==(const RunProblem&) const = default;
};

struct RunExpectation {
  /// Ranks that were already reported as missing, or that were not requested.
  std::span<const std::int64_t> known_missing = {};
  bool all_ranks = true; ///< false: only selected ranks; the others are not missing
};

/// Returns the problems in the order of RunProblem::Kind. `ranks` must be ascending by rank.
/// `clocks` and `problems` are as in CollectiveFacts if collectives were matched, else empty. A
/// single trace is only checked for missing ranks. If ranks disagree, the majority is right.
[[nodiscard]] std::vector<RunProblem> check_run(std::span<const RankIdentity> ranks,
                                                const RunExpectation& expected,
                                                std::span<const ClockOffset> clocks = {},
                                                std::span<const CollectiveProblem> problems = {});

/// Calls check_run() with the offsets and problems of the facts.
[[nodiscard]] std::vector<RunProblem> check_run(std::span<const RankIdentity> ranks,
                                                const RunExpectation& expected,
                                                const CollectiveFacts& facts);

/// Matches the collectives to check their ends and windows, for callers that do not need the
/// matches. `collectives` must be ascending by rank; described_collectives() is enough.
[[nodiscard]] std::vector<RunProblem> check_run(std::span<const RankIdentity> ranks,
                                                const RunExpectation& expected,
                                                const std::vector<RankCollectives>& collectives);

} // namespace rankscope
