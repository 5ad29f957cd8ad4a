// PartSet: the folder of parts of a run, or several that were brought together: which shards left
// something, which ranks of which configurations they make, and where each rank's part is. Files
// are judged here only.
#pragma once

#include "app/part_file.h"
#include "base/result.h"
#include "engine/rank_parts.h"
#include "engine/session.h"
#include "engine/shard_file.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace rankscope {

class PartSet final : public PartSource, public std::enable_shared_from_this<PartSet> {
public:
  /// `folders` and `files` are one run's. What is absent, damaged, of another run or there twice is
  /// named in the session's diagnostics. Errors: kUnreadable when no shard left anything.
  static Result<std::shared_ptr<PartSet>> open(Session& session,
                                               const std::vector<std::string>& folders,
                                               const std::vector<PartFile>& files);

  /// Which shards left nothing: "shard 1 of 4 left no parts"; "" = none.
  [[nodiscard]] const std::string& absent_shards() const { return absent_shards_; }
  /// The ranks of all shards as one run, as discover_run() of all traces says and names them.
  Result<RunPlan> run_plan(Diagnostics& diag) const;
  /// The same of discover_sweep().
  Result<std::vector<RunPlan>> sweep_plans(Diagnostics& diag) const;

  [[nodiscard]] Result<RankParts> parts_of(const RunPlan& plan,
                                           const RankFile& file) const override;
  [[nodiscard]] Result<void> copy_report(const RankFile& file, std::string_view kind,
                                         const std::string& path) const override;
  [[nodiscard]] std::int64_t modified_ns(const RankFile& file) const override;
  [[nodiscard]] const ShardFile& facts() const override { return facts_; }

private:
  /// Where a file is.
  struct Place {
    std::string path;                 ///< for messages, and to be read
    const PartFile* memory = nullptr; ///< it is there
  };
  struct FoundShard {
    Place place;
    ShardFile shard;
    std::int64_t written_ns = 0; ///< when its file was, 0 in memory
  };

  PartSet() = default;
  [[nodiscard]] static Result<std::string> bytes_of(const Place& place);
  [[nodiscard]] Result<RankParts> read(const Place& place) const;
  [[nodiscard]] bool is_current(const RankParts& parts, const std::string& name) const;
  static std::vector<FoundShard> read_shards(Session& session, const std::vector<Place>& places);
  static std::vector<FoundShard> of_one_run(Session& session, std::vector<FoundShard> shards);
  void unite(Session& session, std::vector<FoundShard> shards, const std::vector<Place>& ranks);
  std::vector<FoundShard> finished_by(const std::set<std::uint64_t>& there,
                                      const std::vector<Place>& places, const ShardFile& like);
  void unite_local(Session& session, std::vector<FoundShard>& shards);
  void choose_ranks(Session& session, const std::vector<Place>& places);
  [[nodiscard]] RunPlan planned(Diagnostics& diag, const KnownPlan& known) const;

  ShardFile facts_;
  std::string absent_shards_;
  /// When the trace of a part was changed, of nodes' own traces: by name, which may be that of
  /// several.
  std::map<std::string, std::set<std::int64_t>, std::less<>> changed_ns_;
  std::map<std::string, Place, std::less<>> ranks_;               ///< by name
  std::map<std::string, std::vector<Place>, std::less<>> beside_; ///< other files, by name
};

} // namespace rankscope
