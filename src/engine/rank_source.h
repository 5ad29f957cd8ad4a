// Where commands over ranks find their runs: folders of traces, or the parts of them that
// `partial` or the processes of a job have made (Session::source).
#pragma once

#include "base/noncopyable.h"
#include "base/result.h"
#include "engine/session.h"
#include "readers/discovery.h"

#include <string>
#include <vector>

namespace rankscope {

/// Runs of parts, by the inputs that they were made of.
class RankSource : public Interface {
public:
  /// As discover_run() and discover_sweep() of these inputs said it where the traces are.
  virtual Result<RunPlan> run(const std::vector<std::string>& inputs, bool require_all_ranks,
                              Diagnostics& diag) = 0;
  virtual Result<std::vector<RunPlan>> sweep(const std::vector<std::string>& inputs,
                                             bool require_all_ranks, Diagnostics& diag) = 0;
  /// Whether they were one trace, not a folder.
  virtual bool one_file(const std::vector<std::string>& inputs) = 0;
};

/// discover_run() and discover_sweep(), or what the session's source knows.
Result<RunPlan> find_run(const Session& session, const std::vector<std::string>& inputs,
                         const DiscoverOptions& options, Diagnostics& diag);
Result<std::vector<RunPlan>> find_sweep(const Session& session, const std::string& root,
                                        const DiscoverOptions& options, Diagnostics& diag);

} // namespace rankscope
