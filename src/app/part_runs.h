// PartRuns: the source of the session (engine/rank_source.h) for a command whose runs are read from
// parts. `partial` or the processes of a job have made the parts.
#pragma once

#include "app/part_set.h"
#include "app/partial.h"
#include "engine/rank_source.h"

#include <memory>
#include <string>
#include <vector>

namespace rankscope {

class PartRuns final : public RankSource {
public:
  /// Adds a run of the command that `request` names, from folders of parts or from files in memory.
  /// The files must outlive this object. Calls `request.opened` with the facts of the parts.
  /// Errors: those of PartSet::open(), kUsage if the parts were made for another command or other
  /// options.
  Result<void> add(Session& session, const PartialRequest& request,
                   const std::vector<std::string>& folders, const std::vector<PartFile>& files);

  Result<RunPlan> run(const std::vector<std::string>& inputs, bool require_all_ranks,
                      Diagnostics& diag) override;
  Result<std::vector<RunPlan>> sweep(const std::vector<std::string>& inputs, bool require_all_ranks,
                                     Diagnostics& diag) override;
  bool one_file(const std::vector<std::string>& inputs) override;

private:
  struct Run {
    std::shared_ptr<const PartSet> parts;
    std::size_t asked = 0;
  };
  Run* find(const std::vector<std::string>& inputs);
  Result<std::shared_ptr<const PartSet>> next(const std::vector<std::string>& inputs);

  std::vector<Run> runs_;
};

} // namespace rankscope
