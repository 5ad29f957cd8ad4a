// PartSet: the folder of parts of a run, or several that were brought together: which shards left
// something, which ranks of which configurations they make, and where each rank's part is. Files
// are judged here only.
#pragma once

#include "app/partial.h"
#include "base/result.h"
#include "engine/rank_parts.h"
#include "engine/shard_file.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

class PartSet final : public PartSource {
public:
  /// `folders` and `files` are one run's. What is absent, damaged, of another run or there twice is
  /// named in the session's diagnostics. Errors: kUnreadable when no shard left anything.
  static Result<std::unique_ptr<PartSet>> open(Session& session,
                                               const std::vector<std::string>& folders,
                                               const std::vector<PartFile>& files);

  [[nodiscard]] const ShardFile& facts() const { return facts_; }
  /// The ranks of all shards as one run, as discover_run() of all traces says and names them.
  Result<RunPlan> run_plan(Session& session) const;
  /// The same of discover_sweep().
  Result<std::vector<RunPlan>> sweep_plans(Session& session) const;

  [[nodiscard]] Result<RankParts> parts_of(const RunPlan& plan,
                                           const RankFile& file) const override;
  [[nodiscard]] std::int64_t modified_ns(const RankFile& file) const override;

private:
  /// Where a file is.
  struct Place {
    std::string path;                 ///< for messages, and to be read
    const PartFile* memory = nullptr; ///< it is there
  };
  struct FoundShard {
    Place place;
    ShardFile shard;
  };

  PartSet() = default;
  [[nodiscard]] static Result<std::string> bytes_of(const Place& place);
  [[nodiscard]] Result<RankParts> read(const Place& place) const;
  static std::vector<FoundShard> read_shards(Session& session, const std::vector<Place>& places);
  static std::vector<FoundShard> of_one_run(Session& session, std::vector<FoundShard> shards);
  void unite(Session& session, std::vector<FoundShard> shards);
  void unite_local(Session& session, std::vector<FoundShard>& shards);
  void choose_ranks(Session& session, const std::vector<Place>& places);

  ShardFile facts_;
  std::map<std::string, Place, std::less<>> ranks_; ///< by name
};

} // namespace rankscope
