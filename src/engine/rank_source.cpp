#include "engine/rank_source.h"

namespace rankscope {

Result<RunPlan> find_run(const Session& session, const std::vector<std::string>& inputs,
                         const DiscoverOptions& options, Diagnostics& diag) {
  return session.source != nullptr ? session.source->run(inputs, options.require_all_ranks, diag)
                                   : discover_run(inputs, options, diag);
}

Result<std::vector<RunPlan>> find_sweep(const Session& session, const std::string& root,
                                        const DiscoverOptions& options, Diagnostics& diag) {
  return session.source != nullptr ? session.source->sweep({root}, options.require_all_ranks, diag)
                                   : discover_sweep(root, options, diag);
}

} // namespace rankscope
