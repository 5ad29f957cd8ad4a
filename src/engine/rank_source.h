// Finds the runs for a command: in folders of traces, or in parts that were made by `partial` or by
// the processes of a job (Session::source).
#pragma once

#include "base/noncopyable.h"
#include "base/result.h"
#include "engine/session.h"
#include "readers/discovery.h"

#include <string>
#include <vector>

namespace rankscope {

/// The runs whose parts are available, by the inputs from which the parts were made.
class RankSource : public Interface {
public:
  /// Return the results of discover_run() and discover_sweep() for these inputs, which were
  /// recorded when the parts were made.
  virtual Result<RunPlan> run(const std::vector<std::string>& inputs, bool require_all_ranks,
                              Diagnostics& diag) = 0;
  virtual Result<std::vector<RunPlan>> sweep(const std::vector<std::string>& inputs,
                                             bool require_all_ranks, Diagnostics& diag) = 0;
  /// Returns whether the inputs were a single trace, not a folder.
  virtual bool one_file(const std::vector<std::string>& inputs) = 0;
};

/// Call discover_run() and discover_sweep(), or the functions of the session's source if it is set.
Result<RunPlan> find_run(const Session& session, const std::vector<std::string>& inputs,
                         const DiscoverOptions& options, Diagnostics& diag);
Result<std::vector<RunPlan>> find_sweep(const Session& session, const std::string& root,
                                        const DiscoverOptions& options, Diagnostics& diag);

} // namespace rankscope
