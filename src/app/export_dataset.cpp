#include "app/export_dataset.h"

#include "analyses/collectives/collective_facts.h"
#include "base/percent_encoding.h"
#include "base/pointers.h"
#include "engine/run_ranks.h"
#include "os/output_file.h"
#include "sql/database.h"
#include "sql/statements.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mutex>
#include <set>
#include <span>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

using TablesByName = std::map<std::string, std::shared_ptr<const SqlTable>>;

TablesByName only(SqlTable table) {
  const std::string name = table.name;
  return {{name, std::make_shared<const SqlTable>(std::move(table))}};
}

class MemoryTables final : public SqlSource {
public:
  void set(TablesByName tables) { tables_ = std::move(tables); }
  [[nodiscard]] bool has(const std::string& name) const override { return tables_.count(name) > 0; }
  Result<std::shared_ptr<const SqlTable>> table(const std::string& name) override {
    return tables_.at(name);
  }

private:
  TablesByName tables_;
};

/// Databases that write files, each used by one thread at a time. They are reused, because opening
/// a database takes longer than writing a small file.
class ExportDatabases {
public:
  /// Writes the result of one SELECT over these tables as a file.
  Result<void> write(TablesByName tables, const std::string& select, const std::string& path) {
    RS_CHECK(make_folder(fs::path(path).parent_path().string()));
    RS_TRY(TempName temporary, TempName::reserve(path));
    RS_TRY(std::unique_ptr<Writer> writer, take());
    writer->tables.set(std::move(tables));
    const Result<Table> count = writer->database->query(
        fmt::format("COPY ({}) TO {} (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, "
                    "USE_TMP_FILE false)",
                    select, sql_text(temporary.temp_path())));
    writer->tables.set({});
    give_back(std::move(writer));
    if (!count)
      return count.error();
    return temporary.commit();
  }

private:
  struct Writer {
    MemoryTables tables;
    std::unique_ptr<SqlDatabase> database;
  };

  Result<std::unique_ptr<Writer>> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<Writer> writer = std::move(free_.back());
        free_.pop_back();
        return writer;
      }
    }
    auto writer = std::make_unique<Writer>();
    SqlOptions options;
    options.allow_files = true; // rankscope wrote the statements
    RS_TRY(writer->database, SqlDatabase::open(writer->tables, options));
    return writer;
  }
  void give_back(std::unique_ptr<Writer> writer) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(writer));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Writer>> free_;
};

template <class Row> SqlTable table_of(const Schema<Row>& schema, std::vector<Row> rows) {
  SqlTable out = table_of(schema);
  out.parts.push_back(part_of(schema, std::move(rows)));
  return out;
}

/// The rows of a rank that are written together with those of its run.
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
    RankRun run;
    run.memory_bytes = request_.traces.memory_bytes;
    run.link = wanted_.size() > 1 || wanted_.count("events") == 0;
    run.progress = true;
    RankSteps<RankSummary> steps;
    steps.extract = [this](const RankItem& item, const LoadedTrace& trace) {
      return export_rank(item, trace);
    };
    steps.consume = [this](const RankItem& item, const LoadedTrace& trace,
                           RankSummary summary) -> Result<void> {
      session_.diagnostics.merge(trace.trace.diagnostics);
      summaries_[item.plan_index].push_back(std::move(summary));
      const std::lock_guard lock(mutex_);
      ++out_.ranks;
      out_.input_bytes += trace.trace.input_bytes;
      return {};
    };
    steps.finished = [this](std::size_t plan) { return run_files(plan); };
    RS_CHECK(run_ranks<RankSummary>(session_, pointers_to(plans_), run, std::move(steps)));
    if (out_.ranks == 0)
      return no_rank_left(session_, plans_.front().folder);
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
                       "--replace writes it again"};
        for (const auto& entry : fs::recursive_directory_iterator(folder, ec))
          if (entry.path().extension() == ".parquet")
            old_.insert(entry.path().string());
      }
    }
    return {};
  }

  Result<std::uint64_t> write(TablesByName tables, const std::string& select,
                              const std::string& path) {
    RS_CHECK(databases_.write(std::move(tables), select, path));
    std::error_code ec;
    const std::uint64_t size = fs::file_size(path, ec);
    const std::uint64_t bytes = ec ? 0 : size;
    const std::lock_guard lock(mutex_);
    out_.files.push_back(path);
    out_.bytes += bytes;
    return bytes;
  }

  Result<RankSummary> export_rank(const RankItem& item, const LoadedTrace& trace) {
    RankSummary out;
    const RecordPlace place = place_of(item.plan, item.file.rank,
                                       static_cast<std::int64_t>(trace.trace.header.devices.size()),
                                       request_.traces.gpus_per_node);
    const std::shared_ptr<const LoadedTrace> view(&trace, [](const LoadedTrace*) {});
    const RecordTrace record = record_trace(place, view, true);
    const auto add = [&](const char* name, const Schema<EventRecord>& schema,
                         SqlPart part) -> Result<void> {
      if (wanted_.count(name) == 0)
        return {};
      const auto rows = static_cast<std::int64_t>(part.rows);
      SqlTable table = table_of(schema);
      table.parts.push_back(std::move(part));
      const std::string path = path_of(name, place, fmt::format("rank_{:06}", item.file.rank));
      RS_TRY(const std::uint64_t bytes,
             write(only(std::move(table)),
                   fmt::format("SELECT * EXCLUDE (run, node) FROM {}", name), path));
      const std::lock_guard lock(mutex_);
      out_.rows += rows;
      rank_files_[fs::path(path).parent_path().string()].push_back({item.file.rank, path, bytes});
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

  /// Writes the tables that have one file for each node of a run.
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
    for (const char* table : {"events", "kernels", "operators"})
      for (const std::int64_t node : nodes_of(nodes))
        RS_CHECK(join_small_files(
            fs::path(path_of(table, {label, 0, node}, "ranks")).parent_path().string()));
    RS_CHECK(
        write_by_node(table_of(rank_record_schema(), std::move(rank_rows)), nodes, label, "rank"));
    RS_CHECK(write_by_node(table_of(step_record_schema(), std::move(steps)), nodes, label,
                           "rank, start_ns"));
    RS_CHECK(write_by_node(table_of(idle_record_schema(), std::move(idle)), nodes, label, "rank"));
    const Result<CollectiveFacts> facts = collective_facts(collectives, {});
    std::vector<CollectiveRecord> rows;
    if (facts)
      for (const CollectiveKernel& kernel : facts->kernels)
        rows.push_back({&label, nodes[kernel.rank->rank], &kernel});
    return write_by_node(table_of(collective_record_schema(), std::move(rows)), nodes, label,
                         "rank, start_ns");
  }

  static std::set<std::int64_t> nodes_of(const std::map<std::int64_t, std::int64_t>& nodes) {
    std::set<std::int64_t> out;
    for (const auto& [rank, node] : nodes)
      out.insert(node);
    return out;
  }

  /// A written file with the rows of one rank.
  struct WrittenRank {
    std::int64_t rank = 0;
    std::string path;
    std::uint64_t bytes = 0;
  };

  /// Joins small files of ranks in a folder. For thousands of ranks, a reader would need more time
  /// to open the files than to read their rows.
  Result<void> join_small_files(const std::string& folder) {
    constexpr std::uint64_t kMostBytes = std::uint64_t{32} << 20U;
    std::vector<WrittenRank> files = std::move(rank_files_[folder]);
    rank_files_.erase(folder);
    std::ranges::sort(files, {}, &WrittenRank::rank);
    for (std::size_t first = 0, end = 0; first < files.size(); first = end) {
      std::uint64_t bytes = 0;
      for (end = first;
           end < files.size() && (end == first || bytes + files[end].bytes <= kMostBytes); ++end)
        bytes += files[end].bytes;
      if (end - first > 1)
        RS_CHECK(join(std::span(files).subspan(first, end - first), folder));
    }
    return {};
  }

  /// Joins the files, in their order, into one file named after the first and last rank.
  Result<void> join(std::span<const WrittenRank> files, const std::string& folder) {
    std::vector<std::string> paths;
    for (const WrittenRank& file : files)
      paths.push_back(sql_text(file.path));
    RS_CHECK(write({},
                   fmt::format("SELECT * FROM read_parquet([{}], hive_partitioning = false)",
                               fmt::join(paths, ", ")),
                   fmt::format("{}/ranks_{:06}-{:06}.parquet", folder, files.front().rank,
                               files.back().rank)));
    const std::lock_guard lock(mutex_);
    std::set<std::string> joined;
    for (const WrittenRank& file : files) {
      std::error_code ec;
      fs::remove(file.path, ec);
      joined.insert(file.path);
      out_.bytes -= file.bytes;
    }
    std::erase_if(out_.files,
                  [&joined](const std::string& path) { return joined.count(path) > 0; });
    return {};
  }

  Result<void> write_by_node(SqlTable table, const std::map<std::int64_t, std::int64_t>& nodes,
                             const std::string& label, const char* order) {
    if (wanted_.count(table.name) == 0 || table.rows() == 0)
      return {};
    {
      const std::lock_guard lock(mutex_);
      out_.rows += static_cast<std::int64_t>(table.rows());
    }
    const std::string name = table.name;
    const TablesByName tables = only(std::move(table));
    for (const std::int64_t node : nodes_of(nodes))
      RS_CHECK(write(tables,
                     fmt::format("SELECT * EXCLUDE (run, node) FROM {} WHERE node = {} ORDER BY {}",
                                 name, node, order),
                     path_of(name, {label, 0, node}, "ranks")));
    return {};
  }

  /// Removes old files of a replaced run that this export has not written again.
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
  ExportDatabases databases_;
  std::mutex mutex_;                                           ///< guards the members below
  std::map<std::string, std::vector<WrittenRank>> rank_files_; ///< by folder
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
