// PartSet: the parts of a run in one folder, or in several folders that were copied together. Finds
// which shards left parts, which ranks of which configurations they contain, and where the part of
// each rank is. Only this class decides which files are used.
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
  /// Opens the parts of one run in `folders` and `files`. The session's diagnostics name parts that
  /// are missing, damaged, duplicate or from another run. Errors: kUnreadable if no shard left
  /// parts.
  static Result<std::shared_ptr<PartSet>> open(Session& session,
                                               const std::vector<std::string>& folders,
                                               const std::vector<PartFile>& files);

  /// Returns the shards that wrote no parts: "shard 1 of 4 wrote no parts"; "" = all wrote parts.
  [[nodiscard]] const std::string& absent_shards() const { return absent_shards_; }
  /// Returns the ranks of all shards as one run, with the same result and diagnostics as
  /// discover_run() on all traces.
  Result<RunPlan> run_plan(Diagnostics& diag) const;
  /// Returns the configurations of all shards, with the same result as discover_sweep() on all
  /// traces.
  Result<std::vector<RunPlan>> sweep_plans(Diagnostics& diag) const;

  [[nodiscard]] Result<RankParts> parts_of(const RunPlan& plan,
                                           const RankFile& file) const override;
  [[nodiscard]] Result<void> copy_report(const RankFile& file, std::string_view kind,
                                         const std::string& path) const override;
  [[nodiscard]] std::int64_t modified_ns(const RankFile& file) const override;
  [[nodiscard]] const ShardFile& facts() const override { return facts_; }

private:
  /// The location of a file.
  struct Place {
    std::string path;                 ///< for messages and for reading
    const PartFile* memory = nullptr; ///< set if the file is in memory
  };
  struct FoundShard {
    Place place;
    ShardFile shard;
    std::int64_t written_ns = 0; ///< when the file was written; 0 in memory
  };

  PartSet() = default;
  [[nodiscard]] static Result<std::string> bytes_of(const Place& place);
  [[nodiscard]] Result<RankParts> read(const Place& place) const;
  [[nodiscard]] bool is_current(const RankParts& parts, const std::string& name) const;
  static std::vector<FoundShard> read_shards(Session& session, const std::vector<Place>& places);
  static std::vector<FoundShard> shards_of_run(Session& session, std::vector<FoundShard> shards);
  void unite(Session& session, std::vector<FoundShard> shards, const std::vector<Place>& ranks);
  std::vector<FoundShard> finished_by(const std::set<std::uint64_t>& there,
                                      const std::vector<Place>& places, const ShardFile& like);
  void unite_local(Session& session, std::vector<FoundShard>& shards);
  void choose_ranks(Session& session, const std::vector<Place>& places);
  [[nodiscard]] RunPlan planned(Diagnostics& diag, const KnownPlan& known) const;

  ShardFile facts_;
  std::string absent_shards_;
  /// For nodes with local traces: when the trace of each part was changed. The key is the part's
  /// name, which several traces may share.
  std::map<std::string, std::set<std::int64_t>, std::less<>> changed_ns_;
  std::map<std::string, Place, std::less<>> ranks_;                    ///< part files by name
  std::map<std::string, std::vector<Place>, std::less<>> other_files_; ///< other files, by name
};

} // namespace rankscope
