// Parts on disk: what rank analyses extracted of one configuration, with what it depends on, in one
// file. Made by this run, an earlier one or on another machine, they are combined the same way.
#pragma once

#include "analyses/rank_analysis.h"
#include "base/result.h"
#include "core/report.h"
#include "engine/run_ranks.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// The part of one rank, as its analysis encodes it.
struct StoredPart {
  std::string analysis; ///< its name
  std::int64_t rank = 0;
  std::string bytes;
  bool operator==(const StoredPart&) const = default;
};

struct StoredParts {
  /// Of everything that they depend on: versions, options, inputs. Its text is its user's.
  std::string fingerprint;
  Configuration configuration;
  std::vector<StoredPart> parts; ///< by analysis, then ascending by rank
};

/// Extracts the parts of a configuration, each trace loaded once for all the analyses. A lost rank
/// has none and is named in the session's diagnostics.
Result<StoredParts> extract_parts(Session& session, const RunPlan& plan,
                                  const std::vector<const RankAnalysis*>& analyses,
                                  const RankOptions& options, const RankRun& run,
                                  std::string fingerprint);

/// The report that `analysis` makes of its parts. Errors: kUnreadable for a part that is damaged or
/// of another version, what the analysis says.
Result<Report> combine_parts(const RankAnalysis& analysis, const StoredParts& stored,
                             const RankOptions& options);

/// Errors: kOutput.
Result<void> save_parts(const StoredParts& stored, const std::string& path);
/// Errors: kUnreadable when there is no such file or it is damaged.
Result<StoredParts> load_parts(const std::string& path);
/// None when there is no file or it is of another fingerprint: then they are to be made again.
Result<std::optional<StoredParts>> load_parts_of(const std::string& path,
                                                 const std::string& fingerprint);

} // namespace rankscope
