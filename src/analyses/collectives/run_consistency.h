// Run consistency: whether the traces given as the ranks of one run are those ranks, and of one
// run. Every use case with several ranks asks here and names what it is told (exit code 4).
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

/// A process group as a rank knows it.
struct KnownGroup {
  std::string name;
  RankSet ranks;
  bool operator<(const KnownGroup& o) const {
    return std::tie(name, ranks) < std::tie(o.name, o.ranks);
  }
};

/// What a trace says of the run that it belongs to, wherever in the file it stands.
struct RankIdentity {
  std::int64_t rank = 0; ///< as it was given, by name
  std::optional<std::int64_t> header_rank, world_size;
  std::vector<KnownGroup> groups;  ///< of the header and the collectives; those that list members
  std::int64_t largest_group = 0;  ///< "Group size" of the collectives
  std::vector<std::int64_t> steps; ///< ProfilerStep numbers, ascending
  std::string device;              ///< name of the first board
  std::vector<std::string> launch; ///< grids and blocks of collectives that synchronise, sorted
  std::uint64_t gpu_events = 0;
  std::uint64_t content = 0;             ///< hash of names, times and durations of the GPU's events
  std::int64_t start_ns = 0, end_ns = 0; ///< of the GPU's events, unix; both 0 without a unix clock
};

/// One pass over the events.
[[nodiscard]] RankIdentity identity_of(const Trace& trace, std::int64_t rank);

struct RunProblem {
  enum class Kind {
    kMissing, ///< ranks of the world without a trace
    kCopy,    ///< two ranks with the same events
    kRank,    ///< two traces that say that they are the same rank, or one beyond the world
    kWorld,   ///< headers disagree on the number of ranks
    kGroups,  ///< process groups that contradict each other
    kWindow,  ///< other profiler steps, or windows shifted against each other
    kForeign, ///< another board, time or configuration, or ends that do not fit: another run
  };
  Kind kind = Kind::kMissing;
  std::vector<std::int64_t> ranks; ///< that are missing or do not fit
  std::string text;                ///< one line
  bool operator==(const RunProblem&) const = default;
};

struct RunExpectation {
  /// Ranks that were named as missing before, or that nobody asked for.
  std::span<const std::int64_t> known_missing = {};
  bool all_ranks = true; ///< false: a choice of ranks, none of the others is missing
};

/// In the order of RunProblem::Kind. `ranks` ascending by rank. `clocks` and `problems` as of
/// CollectiveFacts, where collectives were matched; else empty. A trace alone is only asked for
/// ranks missing beside it. Where ranks disagree, most of them are right.
[[nodiscard]] std::vector<RunProblem> check_run(std::span<const RankIdentity> ranks,
                                                const RunExpectation& expected,
                                                std::span<const ClockOffset> clocks = {},
                                                std::span<const CollectiveProblem> problems = {});

/// The offsets and problems of facts, for check_run().
[[nodiscard]] std::vector<RunProblem> check_run(std::span<const RankIdentity> ranks,
                                                const RunExpectation& expected,
                                                const CollectiveFacts& facts);

/// Where nothing else needs the collectives: matches them for their ends and windows. `collectives`
/// ascending by rank, described_collectives() is enough.
[[nodiscard]] std::vector<RunProblem> check_run(std::span<const RankIdentity> ranks,
                                                const RunExpectation& expected,
                                                const std::vector<RankCollectives>& collectives);

} // namespace rankscope
