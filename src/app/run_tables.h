// RunTables: the tables of runs that SQL can name: records of the traces, sheets of the reports. A
// table is made when it is named. Each trace is parsed once for all tables of a statement.
#pragma once

#include "analyses/records/records.h"
#include "app/rank_needs.h"
#include "app/top_parts.h"
#include "base/result.h"
#include "engine/session.h"
#include "readers/discovery.h"
#include "sql/table_scan.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rankscope {

struct RunTablesRequest {
  std::vector<std::string> inputs; ///< a trace ("-": standard input), folders of ranks, a sweep
  DiscoverOptions discover;
  std::string gpu_arch;           ///< as report takes it
  std::int64_t gpus_per_node = 0; ///< 0: the devices that a trace names
  std::uint64_t memory_bytes = 0; ///< for traces in flight, 0 = half of the free
  bool keep_traces = false;       ///< more statements will come
};

/// A table, in a list of them.
struct RunTableInfo {
  std::string name, help;
  std::string kind; ///< "record", "sheet of report", "sheet of collectives", ...
  std::vector<Column> columns = {};
};

/// The runs behind the inputs: one, or the configurations of a sweep. Errors: those of
/// discover_run().
Result<std::vector<RunPlan>> plans_of(Session& session, const RunTablesRequest& request);

/// What a run is called in the column `run`.
[[nodiscard]] std::string run_label(const RunPlan& plan);
/// rank / `per_node`, or the devices that its trace names; 0 where neither is known.
[[nodiscard]] RecordPlace place_of(const RunPlan& plan, std::int64_t rank, std::int64_t devices,
                                   std::int64_t per_node);

/// The records of one trace as a table of the SqlSource of its name; `of` outlives it.
[[nodiscard]] SqlPart events_part(const RecordTrace& of);
[[nodiscard]] SqlPart kernels_part(const RecordTrace& of);
[[nodiscard]] SqlPart operators_part(const RecordTrace& of);

class RunTables final : public SqlSource {
public:
  static Result<std::unique_ptr<RunTables>> open(Session& session, RunTablesRequest request);
  RunTables(Session& session, RunTablesRequest request, std::vector<RunPlan> plans);
  ~RunTables() override;

  [[nodiscard]] bool has(const std::string& name) const override;
  Result<std::shared_ptr<const SqlTable>> table(const std::string& name) override;

  /// Makes the facts for these tables, in one pass over the traces; unknown names are ignored.
  /// Lost ranks are in the session's diagnostics. Errors: kUnreadable when no rank could be read.
  Result<void> need(const std::set<std::string>& names);

  /// How often traces were parsed so far: the number of ranks, when all went well and nothing was
  /// cached.
  [[nodiscard]] std::size_t traces_read() const { return traces_read_; }

private:
  struct Rank;
  struct Run;
  struct Wanted;

  [[nodiscard]] Wanted wanted(const std::set<std::string>& names) const;
  struct Pass;
  [[nodiscard]] bool needs_traces(const Wanted& wanted) const;
  Result<void> pass_over_traces(const Wanted& wanted, const Pass& pass);
  Result<void> pass_over_facts(const Pass& pass);
  Result<void> extract(Rank& rank, const Wanted& wanted, const Pass& pass) const;
  Result<void> after(const Wanted& wanted, const Pass& pass);
  Result<void> take_top(std::size_t of, TopParts& parts);
  [[nodiscard]] std::shared_ptr<const SqlTable> make(const std::string& name) const;
  [[nodiscard]] static std::optional<SqlPart> rank_part(const std::string& name, const Rank& rank);
  [[nodiscard]] SqlPart collectives_part(const Run& run) const;
  [[nodiscard]] static std::vector<FindingRecord> finding_records(const Run& run);
  [[nodiscard]] SqlTable record_table(const std::string& name) const;
  [[nodiscard]] SqlTable sheet_table(const RunTableInfo& info) const;

  Session& session_;
  RunTablesRequest request_;
  std::vector<RunPlan> plans_;
  std::vector<std::unique_ptr<Run>> runs_;
  std::vector<std::unique_ptr<Rank>> ranks_; ///< by run, ascending
  std::map<std::string, std::shared_ptr<const SqlTable>> made_;
  std::set<std::string> ready_; ///< names whose rows are there
  std::size_t traces_read_ = 0;
};

/// Every table that a query may name, records first.
[[nodiscard]] const std::vector<RunTableInfo>& run_table_list();

} // namespace rankscope
