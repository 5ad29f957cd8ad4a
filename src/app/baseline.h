// Saved baselines: the data of a run that a comparison needs, in one small file (docs/baseline.md).
#pragma once

#include "analyses/collectives/collective_facts.h"
#include "analyses/compare/compared_run.h"
#include "base/result.h"
#include "engine/session.h"
#include "readers/discovery.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace rankscope {

struct SavedBaseline {
  std::string made_by;  ///< "rankscope 0.1.0"
  std::string source;   ///< the run's folder, as given
  bool complete = true; ///< no rank and no event was lost
  ComparedRun run; ///< samples as means and variances; the label is empty if the user gave none
};

struct BaselineSaveRequest {
  std::string folder; ///< with rank traces or reports
  std::string output; ///< file
  std::string label;  ///< for check and history; empty = the name of the file
  DiscoverOptions discover;
  bool reports_only = false;
  AlignMode align = AlignMode::kCollectives;
};

struct BaselineSaved {
  SavedBaseline baseline;
  std::size_t bytes = 0; ///< size of the file
};

/// Reads the run once and writes its baseline. Errors: kUsage for an output that does not end
/// in .rsb, those of load_compared_run(), kOutput.
Result<BaselineSaved> save_baseline(Session& session, const BaselineSaveRequest& request);

/// Encodes a baseline to bytes, and decodes it. Errors: kUnreadable, with the byte offset, for
/// damaged bytes or another version.
[[nodiscard]] std::string baseline_bytes(const SavedBaseline& baseline);
[[nodiscard]] Result<SavedBaseline> baseline_of(std::string_view bytes);

/// Returns whether a file begins like a baseline; it may be compressed (gzip, zstd).
[[nodiscard]] bool is_baseline(const std::string& path);
/// Returns whether the only input of a run is a saved baseline.
[[nodiscard]] inline bool is_one_baseline(const std::vector<std::string>& inputs) {
  return inputs.size() == 1 && is_baseline(inputs.front());
}
/// Errors: kUnreadable.
Result<SavedBaseline> load_baseline(const std::string& path);
/// Returns the label that was given to a saved baseline; an empty text without one and for any
/// other path.
[[nodiscard]] std::string saved_label(const std::string& path);

} // namespace rankscope
