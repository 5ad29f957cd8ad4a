// RunTables: the tables of runs that SQL can name: records of the traces, and sheets of the
// reports. A table is made when a statement names it. Each trace is parsed once for all tables of a
// statement.
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
  std::string gpu_arch;           ///< same values as for report
  std::int64_t gpus_per_node = 0; ///< 0: number of devices in the trace header
  std::uint64_t memory_bytes = 0; ///< for traces in memory; 0 = half of the free memory
  bool keep_traces = false;       ///< keep traces in memory, for further statements
};

/// One entry in the list of tables.
struct RunTableInfo {
  std::string name, help;
  std::string kind; ///< "record", "sheet of report", "sheet of collectives", ...
  std::vector<Column> columns = {};
};

/// Returns the runs of the inputs: one run, or the configurations of a sweep. Errors: those of
/// discover_run().
Result<std::vector<RunPlan>> plans_of(Session& session, const RunTablesRequest& request);

/// Returns the run's value in the column `run`.
[[nodiscard]] std::string run_label(const RunPlan& plan);
/// Returns the place of a rank. Its node is rank / `per_node`, or rank / `devices` if `per_node` is
/// 0; node 0 if both are unknown.
[[nodiscard]] RecordPlace place_of(const RunPlan& plan, std::int64_t rank, std::int64_t devices,
                                   std::int64_t per_node);

/// Returns the records of one trace as a part of the table with that name; `record` must outlive
/// it.
[[nodiscard]] SqlPart events_part(const RecordTrace& record);
[[nodiscard]] SqlPart kernels_part(const RecordTrace& record);
[[nodiscard]] SqlPart operators_part(const RecordTrace& record);

class RunTables final : public SqlSource {
public:
  static Result<std::unique_ptr<RunTables>> open(Session& session, RunTablesRequest request);
  RunTables(Session& session, RunTablesRequest request, std::vector<RunPlan> plans);
  ~RunTables() override;

  [[nodiscard]] bool has(const std::string& name) const override;
  Result<std::shared_ptr<const SqlTable>> table(const std::string& name) override;

  /// Makes the facts for these tables in one pass over the traces; ignores unknown names. The
  /// session's diagnostics name lost ranks. Errors: kUnreadable if no rank could be read.
  Result<void> need(const std::set<std::string>& names);

  /// Returns the number of traces parsed so far: the number of ranks, if each rank was parsed once
  /// and no facts were cached.
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
  Result<void> take_top(std::size_t index, TopParts& parts, const CollectiveFacts* collectives);
  [[nodiscard]] std::shared_ptr<const SqlTable> make(const std::string& name) const;
  [[nodiscard]] static std::optional<SqlPart> rank_part(const std::string& name, const Rank& rank);
  [[nodiscard]] SqlPart collectives_part(const Run& run) const;
  [[nodiscard]] SqlTable record_table(const std::string& name) const;
  [[nodiscard]] SqlTable sheet_table(const RunTableInfo& info) const;

  Session& session_;
  RunTablesRequest request_;
  std::vector<RunPlan> plans_;
  std::vector<std::unique_ptr<Run>> runs_;
  std::vector<std::unique_ptr<Rank>> ranks_; ///< by run, ascending
  std::vector<Finding> sweep_findings_;      ///< of all runs together
  std::map<std::string, std::shared_ptr<const SqlTable>> made_;
  std::set<std::string> ready_; ///< names of tables whose rows exist
  std::size_t traces_read_ = 0;
};

/// Returns every table that a query may name, records first.
[[nodiscard]] const std::vector<RunTableInfo>& run_table_list();
/// Returns the tables of traces, the views (app/query_views.h) and the tables of sheets. Views have
/// no columns.
[[nodiscard]] std::vector<RunTableInfo> tables_and_views();
/// Returns tables_and_views() as a table: name, kind, help.
[[nodiscard]] Table query_tables();

} // namespace rankscope
