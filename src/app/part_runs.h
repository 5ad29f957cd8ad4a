// PartRuns: the runs of a command that come from parts, which `partial` or the processes of a job
// have made: the source of the session (engine/rank_source.h).
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
  /// A run of the command that `of` names, in folders of parts or as files in memory, which outlive
  /// this. Calls `of.opened` with what was found. Errors: those of PartSet::open(), kUsage when the
  /// parts were made for something else.
  Result<void> add(Session& session, const PartialRequest& of,
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
