#include "app/export_dataset.h"

#include "analyses/collectives/collective_facts.h"
#include "base/percent_encoding.h"
#include "engine/run_ranks.h"
#include "os/output_file.h"
#include "sql/database.h"
#include "sql/statements.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <set>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Tables at hand under their names.
class HeldTables final : public SqlSource {
public:
  void add(SqlTable table) {
    std::string name = table.name;
    tables_[std::move(name)] = std::make_shared<const SqlTable>(std::move(table));
  }
  [[nodiscard]] bool has(const std::string& name) const override { return tables_.count(name) > 0; }
  Result<std::shared_ptr<const SqlTable>> table(const std::string& name) override {
    return tables_.at(name);
  }

private:
  std::map<std::string, std::shared_ptr<const SqlTable>> tables_;
};

template <class Row> SqlTable table_of(const Schema<Row>& schema, std::vector<Row> rows) {
  SqlTable out = table_of(schema);
  out.parts.push_back(part_of(schema, std::move(rows)));
  return out;
}

/// What is kept of a rank until its run is written.
struct RankSummary {
  std::vector<RankRecordRow> rank;
  std::vector<StepRecord> steps;
  std::vector<IdleRecord> idle;
  RankCollectives collectives;
};

class Export {
public:
  Export(Session& session, const ExportRequest& request, const std::vector<RunPlan>& plans)
      : session_(session), request_(request), plans_(plans),
        wanted_(request.tables.begin(), request.tables.end()), summaries_(plans.size()) {
    if (wanted_.empty())
      wanted_.insert(export_tables().begin(), export_tables().end());
  }

  Result<ExportResult> operator()() {
    RS_CHECK(check_new());
    std::vector<const RunPlan*> plans;
    for (const RunPlan& plan : plans_)
      plans.push_back(&plan);
    RankRun run;
    run.memory_bytes = request_.traces.memory_bytes;
    run.link = wanted_.size() > 1 || wanted_.count("events") == 0;
    run.progress = true;
    RankSteps<RankSummary> steps;
    steps.extract = [this](const RankItem& item, const LoadedTrace& trace) {
      return one_rank(item, trace);
    };
    steps.take = [this](const RankItem& item, const LoadedTrace& trace,
                        RankSummary summary) -> Result<void> {
      session_.diagnostics.merge(trace.trace.diagnostics);
      summaries_[item.plan_index].push_back(std::move(summary));
      const std::lock_guard lock(mutex_);
      ++out_.ranks;
      out_.input_bytes += trace.trace.input_bytes;
      return {};
    };
    steps.finished = [this](std::size_t plan) { return run_files(plan); };
    RS_CHECK(run_ranks<RankSummary>(session_, plans, run, std::move(steps)));
    if (out_.ranks == 0)
      return Error{ErrorCode::kUnreadable, plans_.front().folder, "no rank could be read", ""};
    remove_old();
    std::sort(out_.files.begin(), out_.files.end());
    return std::move(out_);
  }

private:
  [[nodiscard]] std::string run_folder(const std::string& table, const std::string& run) const {
    return fmt::format("{}/{}/run={}", request_.folder, table, hive_value(run));
  }
  [[nodiscard]] std::string path_of(const std::string& table, const RecordPlace& place,
                                    const std::string& file) const {
    return fmt::format("{}/node={}/{}.parquet", run_folder(table, place.run), place.node, file);
  }

  Result<void> check_new() {
    RS_CHECK(make_folder(request_.folder));
    std::set<std::string> seen;
    for (const RunPlan& plan : plans_) {
      const std::string label = run_label(plan);
      if (!seen.insert(label).second)
        return Error{ErrorCode::kUsage, plan.folder, "two runs have the name " + label, ""};
      for (const std::string& table : wanted_) {
        std::error_code ec;
        const std::string folder = run_folder(table, label);
        if (!fs::exists(folder, ec))
          continue;
        if (!request_.replace)
          return Error{ErrorCode::kUsage, folder, "the dataset has this run already",
                       "--replace writes it anew"};
        for (const auto& entry : fs::recursive_directory_iterator(folder, ec))
          if (entry.path().extension() == ".parquet")
            old_.insert(entry.path().string());
      }
    }
    return {};
  }

  /// One SELECT over these tables as a file.
  Result<void> write(HeldTables& tables, const std::string& select, const std::string& path) {
    RS_CHECK(make_folder(fs::path(path).parent_path().string()));
    RS_TRY(TempName temporary, TempName::reserve(path));
    SqlOptions options;
    options.allow_files = true; // the statement is ours
    RS_TRY(const std::unique_ptr<SqlDatabase> database, SqlDatabase::open(tables, options));
    RS_TRY(const Table count,
           database->query(fmt::format("COPY ({}) TO {} (FORMAT parquet, COMPRESSION zstd, "
                                       "COMPRESSION_LEVEL 1, USE_TMP_FILE false)",
                                       select, sql_text(temporary.temp_path()))));
    RS_CHECK(temporary.commit());
    std::error_code ec;
    const std::uint64_t bytes = fs::file_size(path, ec);
    const std::lock_guard lock(mutex_);
    out_.files.push_back(path);
    out_.bytes += ec ? 0 : bytes;
    return {};
  }

  Result<RankSummary> one_rank(const RankItem& item, const LoadedTrace& trace) {
    RankSummary out;
    const RecordPlace place =
        place_of(item.plan, item.file.rank, trace.trace, request_.traces.gpus_per_node);
    const std::shared_ptr<const LoadedTrace> view(&trace, [](const LoadedTrace*) {});
    const RecordTrace record = record_trace(place, view, true);
    const auto add = [&](const char* name, const Schema<EventRecord>& schema,
                         SqlPart part) -> Result<void> {
      if (wanted_.count(name) == 0)
        return {};
      const auto rows = static_cast<std::int64_t>(part.rows);
      HeldTables tables;
      SqlTable table = table_of(schema);
      table.parts.push_back(std::move(part));
      tables.add(std::move(table));
      RS_CHECK(write(tables, fmt::format("SELECT * EXCLUDE (run, node) FROM {}", name),
                     path_of(name, place, fmt::format("rank_{:06}", item.file.rank))));
      const std::lock_guard lock(mutex_);
      out_.rows += rows;
      return {};
    };
    RS_CHECK(add("events", event_record_schema(), events_part(record)));
    RS_CHECK(add("kernels", kernel_record_schema(), kernels_part(record)));
    RS_CHECK(add("operators", operator_record_schema(), operators_part(record)));
    if (wanted_.count("ranks") > 0)
      out.rank = {rank_record(trace, place)};
    else
      out.rank = {RankRecordRow{}};
    out.rank.front().place = place;
    if (wanted_.count("steps") > 0)
      out.steps = step_records(trace, place);
    if (wanted_.count("idle") > 0)
      out.idle = idle_records(trace, place);
    if (wanted_.count("collectives") > 0)
      out.collectives = extract_collectives(trace);
    return out;
  }

  /// The tables that have one file for each node of a run.
  Result<void> run_files(std::size_t plan) {
    std::vector<RankSummary> ranks = std::move(summaries_[plan]);
    std::vector<RankRecordRow> rank_rows;
    std::vector<StepRecord> steps;
    std::vector<IdleRecord> idle;
    std::vector<RankCollectives> collectives;
    std::map<std::int64_t, std::int64_t> nodes;
    for (RankSummary& rank : ranks) {
      nodes[rank.rank.front().place.rank] = rank.rank.front().place.node;
      rank_rows.insert(rank_rows.end(), rank.rank.begin(), rank.rank.end());
      steps.insert(steps.end(), rank.steps.begin(), rank.steps.end());
      idle.insert(idle.end(), rank.idle.begin(), rank.idle.end());
      collectives.push_back(std::move(rank.collectives));
    }
    if (ranks.empty())
      return {};
    const std::string label = run_label(plans_[plan]);
    RS_CHECK(by_node(table_of(rank_record_schema(), std::move(rank_rows)), nodes, label, "rank"));
    RS_CHECK(
        by_node(table_of(step_record_schema(), std::move(steps)), nodes, label, "rank, start_ns"));
    RS_CHECK(by_node(table_of(idle_record_schema(), std::move(idle)), nodes, label, "rank"));
    const Result<CollectiveFacts> facts = collective_facts(collectives, {});
    std::vector<CollectiveRecord> rows;
    if (facts)
      for (const CollectiveKernel& kernel : facts->kernels)
        rows.push_back({&label, nodes[kernel.rank->rank], &kernel});
    return by_node(table_of(collective_record_schema(), std::move(rows)), nodes, label,
                   "rank, start_ns");
  }

  Result<void> by_node(SqlTable table, const std::map<std::int64_t, std::int64_t>& nodes,
                       const std::string& label, const char* order) {
    if (wanted_.count(table.name) == 0 || table.rows() == 0)
      return {};
    {
      const std::lock_guard lock(mutex_);
      out_.rows += static_cast<std::int64_t>(table.rows());
    }
    const std::string name = table.name;
    HeldTables tables;
    tables.add(std::move(table));
    std::set<std::int64_t> each;
    for (const auto& [rank, node] : nodes)
      each.insert(node);
    for (const std::int64_t node : each)
      RS_CHECK(write(tables,
                     fmt::format("SELECT * EXCLUDE (run, node) FROM {} WHERE node = {} ORDER BY {}",
                                 name, node, order),
                     path_of(name, {label, 0, node}, "ranks")));
    return {};
  }

  /// Files of a run that was there before and that this one has not written again.
  void remove_old() {
    for (const std::string& file : out_.files)
      old_.erase(file);
    std::error_code ec;
    for (const std::string& file : old_)
      fs::remove(file, ec);
  }

  Session& session_;
  const ExportRequest& request_;
  const std::vector<RunPlan>& plans_;
  std::set<std::string> wanted_;
  std::vector<std::vector<RankSummary>> summaries_; ///< by run, ascending by rank
  std::set<std::string> old_;
  std::mutex mutex_; ///< of out_
  ExportResult out_;
};

} // namespace

const std::vector<std::string>& export_tables() {
  static const std::vector<std::string> all = {"events", "kernels", "operators", "collectives",
                                               "steps",  "ranks",   "idle"};
  return all;
}

std::string hive_value(std::string_view value) {
  std::string out = percent_encoded(value, is_plain_in_names);
  return out.empty() || out == "." || out == ".." ? "_" + out : out;
}

Result<ExportResult> export_dataset(Session& session, const ExportRequest& request) {
  RS_CHECK(DuckDbLibrary::get());
  RS_TRY(const std::vector<RunPlan> plans, plans_of(session, request.traces));
  return Export(session, request, plans)();
}

} // namespace rankscope
