#include "app/run_tables.h"

#include "analyses/collectives/collective_report.h"
#include "analyses/gemm/gemm_facts.h"
#include "app/choose_gpu.h"
#include "app/column_dictionary.h"
#include "app/gpu_work.h"
#include "app/query_views.h"
#include "app/sweep_pages.h"
#include "base/ascii.h"
#include "base/pointers.h"
#include "base/snake_case.h"
#include "engine/rank_facts.h"
#include "engine/rank_source.h"
#include "findings/collective_findings.h"
#include "findings/compose.h"
#include "os/tasks.h"

#include <algorithm>
#include <filesystem>

namespace rankscope {
namespace {

ReportOptions top_report(const RunTablesRequest& request) {
  ReportOptions out;
  out.gpu_arch = request.gpu_arch;
  return out;
}

constexpr const char* kRecord = "record";
constexpr const char* kReport = "sheet of report";
constexpr const char* kRunTablesCollectives = "sheet of collectives";
constexpr const char* kGemm = "sheet of gemm";
constexpr const char* kRunTablesTop = "table of top";
constexpr const char* kLists = "list";

class List {
public:
  void add(const std::string& name, const std::string& help, const char* kind,
           const std::vector<Column>& columns) {
    if (names_.insert(name).second)
      all_.push_back({name, help, kind, with_ids(columns)});
  }
  void add_sheets(const std::vector<SheetInfo>& sheets, const char* kind) {
    for (const SheetInfo& sheet : sheets)
      for (const std::string_view name : split(sheet.name, ',')) // "GEMM, SDPA_fwd, ..."
        add(snake_case(trimmed(name)), sheet.help, kind, sheet.columns);
  }
  std::vector<RunTableInfo> take() { return std::move(all_); }

private:
  std::vector<RunTableInfo> all_;
  std::set<std::string> names_;
};

struct NamedColumn {
  const RunTableInfo* table;
  const Column* column;
};

const Schema<RunTableInfo>& table_list_schema() {
  using R = RunTableInfo;
  static const Schema<R> schema(
      "tables", "all tables and views that a query can use",
      {{"name", [](const R& r) { return std::string_view(r.name); }, "name of the table"},
       {"kind", [](const R& r) { return std::string_view(r.kind); },
        "table (from the traces), view, or the command that has the table as a sheet"},
       {"help", [](const R& r) { return std::string_view(r.help); }, "content of the table"}});
  return schema;
}

const Schema<NamedColumn>& column_list_schema() {
  using R = NamedColumn;
  static const Schema<R> schema(
      "table_columns",
      "all columns of these tables (not of views, see DESCRIBE) with unit and meaning",
      {{"table_name", "table", Unit::kNone,
        [](const R& r) { return std::string_view(r.table->name); }, "name of the table"},
       {"column_name", "column", Unit::kNone,
        [](const R& r) { return std::string_view(r.column->id); }, "name of the column in SQL"},
       {"header", [](const R& r) { return std::string_view(r.column->name); },
        "header of the column in workbooks and CSV files"},
       {"unit", [](const R& r) { return unit_name(r.column->unit); }, "unit of the values"},
       {"meaning", [](const R& r) { return std::string_view(r.column->help); },
        "meaning of the column"}});
  return schema;
}

std::vector<RunTableInfo> make_list() {
  List list;
  list.add_sheets(record_sheets(), kRecord);
  for (const SheetGroup& group : all_sheets()) {
    std::vector<SheetInfo> sheets = group.sheets;
    // energy sheets need power samples; the others exist only in workbooks
    std::erase_if(sheets, [](const SheetInfo& s) {
      return s.name == "step_energy" || s.name == "kernel_energy" || s.name == "overview" ||
             s.name == "roofline";
    });
    if (group.command == "report")
      list.add_sheets(sheets, kReport);
    if (group.command == "collectives")
      list.add_sheets(sheets, kRunTablesCollectives);
    if (group.command == "gemm")
      list.add("gemm_variance",
               "GEMMs with the largest spread of call durations, and the collectives and copies "
               "that overlapped their calls",
               kGemm, sheets.front().columns);
    if (group.command == "top")
      list.add_sheets(sheets, kRunTablesTop);
  }
  list.add("tables", table_list_schema().help(), kLists, table_list_schema().columns());
  list.add("table_columns", column_list_schema().help(), kLists, column_list_schema().columns());
  return list.take();
}

const RunTableInfo* find_table(const std::string& name) {
  const std::vector<RunTableInfo>& all = run_table_list();
  const auto at = std::ranges::find_if(all, [&](const RunTableInfo& t) { return t.name == name; });
  return at == all.end() ? nullptr : &*at;
}

TraceRows placed(TraceRows rows, const RecordPlace& place) {
  rows.row.place = place;
  for (StepRecord& step : rows.steps)
    step.place = place;
  for (IdleRecord& idle : rows.idle)
    idle.place = place;
  return rows;
}

std::vector<FindingRecord> finding_records(const std::string& run,
                                           const std::vector<Finding>& findings) {
  std::vector<FindingRecord> out;
  for (const Finding& finding : findings)
    out.push_back({run, static_cast<std::int64_t>(out.size()) + 1, finding});
  return out;
}

SqlPart part_of_events(const Schema<EventRecord>& schema, const RecordTrace& record,
                       const std::vector<EventId>& events) {
  return part_of_rows<EventRecord>(schema, events.size(), [&record, &events](std::size_t i) {
    return EventRecord{&record, events[i]};
  });
}

} // namespace

const std::vector<RunTableInfo>& run_table_list() {
  static const std::vector<RunTableInfo> all = make_list();
  return all;
}

std::vector<RunTableInfo> tables_and_views() {
  std::vector<RunTableInfo> out;
  for (const RunTableInfo& table : run_table_list())
    if (table.kind == kRecord)
      out.push_back({table.name, table.help, "table"});
  for (const QueryView& view : query_views())
    out.push_back({std::string(view.name), std::string(view.help), "view"});
  for (const RunTableInfo& table : run_table_list())
    if (table.kind != kRecord)
      out.push_back(table);
  return out;
}

Table query_tables() {
  return table_list_schema().table(tables_and_views());
}

SqlPart events_part(const RecordTrace& record) {
  if (!record.without_frames.empty())
    return part_of_events(event_record_schema(), record, record.without_frames);
  return part_of_rows<EventRecord>(event_record_schema(), record.trace->trace.events.size(),
                                   [&record](std::size_t i) {
                                     return EventRecord{&record, static_cast<EventId>(i)};
                                   });
}

SqlPart kernels_part(const RecordTrace& record) {
  return part_of_events(kernel_record_schema(), record, record.gpu);
}

SqlPart operators_part(const RecordTrace& record) {
  return part_of_events(operator_record_schema(), record, record.operators);
}

std::string run_label(const RunPlan& plan) {
  if (!plan.configuration.label.empty())
    return plan.configuration.label;
  const std::filesystem::path folder(plan.folder);
  const std::string name = folder.filename().string();
  return name.empty() ? folder.parent_path().filename().string() : name;
}

RecordPlace place_of(const RunPlan& plan, std::int64_t rank, std::int64_t devices,
                     std::int64_t per_node) {
  const std::int64_t ranks_per_node = gpus_per_node(per_node, devices);
  return {run_label(plan), rank, ranks_per_node > 0 && rank >= 0 ? rank / ranks_per_node : 0};
}

Result<std::vector<RunPlan>> plans_of(Session& session, const RunTablesRequest& request) {
  TopRequest top;
  top.inputs = request.inputs;
  top.discover = request.discover;
  top.report.gpu_arch = request.gpu_arch;
  Result<RunPlan> plan = plan_top(session, top);
  if (plan)
    return std::vector<RunPlan>{std::move(*plan)};
  std::error_code ec;
  if (session.source == nullptr &&
      (request.inputs.size() != 1 || !std::filesystem::is_directory(request.inputs.front(), ec)))
    return plan.error();
  Diagnostics found;
  Result<std::vector<RunPlan>> sweep =
      find_sweep(session, request.inputs.front(), request.discover, found);
  if (!sweep || sweep->size() < 2)
    return plan.error();
  session.diagnostics.merge(found);
  return sweep;
}

/// The requested data of traces that is not yet available.
struct RunTables::Wanted {
  bool traces = false; ///< traces stay in memory
  bool linked = false;
  QueryFacts facts;
  std::set<std::string> sheets; ///< report sheets, in lower case
  [[nodiscard]] bool any() const { return traces || facts.any() || !sheets.empty(); }
};

/// The facts of ranks that one pass extracts.
struct RunTables::Pass {
  Needs needs;
  QueryNeeds keys;
  Pass(const ReportOptions& options, const QueryFacts& wanted) : keys(needs, options, wanted) {}
};

struct RunTables::Rank {
  const RunPlan* plan = nullptr;
  const RankFile* file = nullptr;
  Run* run = nullptr;
  bool lost = false, reported = false;
  std::optional<Diagnostics> diagnostics; ///< diagnostics of the trace, until they are reported
  std::shared_ptr<LoadedTrace> trace;
  bool linked = false;
  RecordPlace place;
  RecordTrace record;
  std::optional<TraceRows> rows;
  std::map<std::string, std::shared_ptr<const Table>> sheets; ///< by snake_case name
  std::optional<RankFacts> facts;                             ///< facts of the current pass
  std::optional<Error> error;
};

struct RunTables::Run {
  std::string label;
  std::vector<RankCollectives> collectives; ///< `facts` refers to it
  std::optional<CollectiveFacts> facts;
  std::map<std::string, std::shared_ptr<const Table>> sheets; ///< from collectives, gemm and top
  std::vector<Finding> findings;
  bool collectives_made = false, gemms_made = false, top_made = false;

  void take(Table table) {
    const std::string name = snake_case(table.name());
    sheets[name] = std::make_shared<const Table>(std::move(table));
  }
  void make_collectives(const RunTablesRequest& request) {
    collectives_made = true;
    CollectiveOptions options;
    options.gpus_per_node = request.gpus_per_node;
    options.all_to_all_v_heatmap = true;
    Result<CollectiveFacts> made = collective_facts(collectives, options);
    if (!made) // a run without collectives has empty tables
      return;
    facts = std::move(*made);
    Report report = collective_tables(*facts, options);
    for (Table& table : report.tables)
      take(std::move(table));
  }
};

RunTables::RunTables(Session& session, RunTablesRequest request, std::vector<RunPlan> plans)
    : session_(session), request_(std::move(request)), plans_(std::move(plans)) {
  for (const RunPlan& plan : plans_) {
    runs_.push_back(std::make_unique<Run>());
    runs_.back()->label = run_label(plan);
    for (const RankFile& file : plan.ranks) {
      ranks_.push_back(std::make_unique<Rank>());
      ranks_.back()->plan = &plan;
      ranks_.back()->file = &file;
      ranks_.back()->run = runs_.back().get();
    }
  }
}

RunTables::~RunTables() = default;

Result<std::unique_ptr<RunTables>> RunTables::open(Session& session, RunTablesRequest request) {
  RS_TRY(std::vector<RunPlan> plans, plans_of(session, request));
  return std::make_unique<RunTables>(session, std::move(request), std::move(plans));
}

bool RunTables::has(const std::string& name) const {
  return find_table(name) != nullptr;
}

RunTables::Wanted RunTables::wanted(const std::set<std::string>& names) const {
  Wanted out;
  const bool collectives = !runs_.empty() && runs_.front()->collectives_made;
  const bool gemms = !runs_.empty() && runs_.front()->gemms_made;
  const bool top = !runs_.empty() && runs_.front()->top_made;
  out.facts.causes = std::ranges::all_of(
      plans_, [](const RunPlan& plan) { return seeks_causes(ranks_of_run(plan)); });
  for (const std::string& name : names) {
    const RunTableInfo* const info = find_table(name);
    if (info == nullptr || ready_.count(name) > 0 || info->kind == kLists)
      continue;
    out.traces = out.traces || name == "events" || name == "kernels" || name == "operators";
    out.linked = out.linked || name != "events";
    QueryFacts& facts = out.facts;
    facts.rows = facts.rows || name == "steps" || name == "ranks" || name == "idle";
    const bool from_collectives =
        name == "collectives" || name == "findings" || info->kind == kRunTablesCollectives;
    facts.collectives = facts.collectives || (from_collectives && !collectives);
    facts.gemms = facts.gemms || (info->kind == kGemm && !gemms);
    facts.top = facts.top || ((name == "findings" || info->kind == kRunTablesTop) && !top);
    if (info->kind == kReport)
      out.sheets.insert(name);
  }
  out.facts.sweep = out.facts.top && plans_.size() > 1;
  return out;
}

Result<void> RunTables::extract(Rank& rank, const Wanted& wanted, const Pass& pass) const {
  LoadedTrace& trace = *rank.trace;
  if (wanted.linked && !rank.linked) {
    trace.tree = CallTree::build(trace.trace);
    rank.linked = true;
  }
  RS_TRY(rank.facts, pass.needs.extract({*rank.plan, *rank.file, 0, 0}, trace));
  ReportOptions options;
  options.gpu_arch = request_.gpu_arch;
  choose_gpu(trace.trace, options);
  if (!wanted.sheets.empty()) {
    options.per_step = true;
    for (const Analysis* analysis : analyses())
      for (const SheetInfo& sheet : analysis->describe(options))
        for (const std::string_view name : split(sheet.name, ','))
          if (wanted.sheets.count(snake_case(trimmed(name))) > 0)
            options.sheets.emplace(trimmed(name));
    if (!options.sheets.empty()) {
      RS_TRY(Report report, build_report(trace, options));
      for (Table& table : report.tables) {
        const std::string name = snake_case(table.name());
        rank.sheets[name] = std::make_shared<const Table>(std::move(table));
      }
    }
  }
  rank.place = place_of(*rank.plan, rank.file->rank, (*rank.facts)[pass.keys.notes].devices,
                        request_.gpus_per_node);
  if (wanted.traces || request_.keep_traces)
    rank.record = record_trace(rank.place, rank.trace, rank.linked);
  else
    rank.trace.reset();
  return {};
}

/// Returns whether a pass has to load traces. Records and sheets of reports are made from traces.
/// Traces in memory are reused, and standard input can be read only once.
bool RunTables::needs_traces(const Wanted& wanted) const {
  return wanted.traces || !wanted.sheets.empty() ||
         std::ranges::any_of(ranks_, [](const std::unique_ptr<Rank>& rank) {
           return rank->trace != nullptr || rank->file->path == "-";
         });
}

/// Gets the facts of all ranks from the cache, from parts or from their traces, which are then
/// released.
Result<void> RunTables::pass_over_facts(const Pass& pass) {
  std::vector<RunPlan> plans = plans_;
  for (RunPlan& plan : plans)
    plan.ranks.clear();
  std::vector<Rank*> asked;
  for (const std::unique_ptr<Rank>& rank : ranks_)
    if (!rank->lost) {
      plans[static_cast<std::size_t>(rank->plan - plans_.data())].ranks.push_back(*rank->file);
      asked.push_back(rank.get());
    }
  RankRun run;
  run.memory_bytes = request_.memory_bytes;
  run.quiet = true; // need() names lost ranks
  FactSteps steps{pass.needs, {}};
  steps.consume = [&](const RankItem& item, const LoadedTrace& trace,
                      RankFacts facts) -> Result<void> {
    Rank& rank = *asked[item.index];
    traces_read_ += trace.trace.events.size() > 0 ? 1 : 0;
    rank.diagnostics = facts[pass.keys.notes].diagnostics;
    rank.place = place_of(*rank.plan, rank.file->rank, facts[pass.keys.notes].devices,
                          request_.gpus_per_node);
    rank.facts = std::move(facts);
    return {};
  };
  steps.lost = [&](const RankItem& item, const Error& error) { asked[item.index]->error = error; };
  return run_ranks(session_, pointers_to(plans), run, std::move(steps));
}

Result<void> RunTables::pass_over_traces(const Wanted& wanted, const Pass& pass) {
  std::vector<RankFile> files;
  std::vector<Rank*> to_load, there;
  for (const std::unique_ptr<Rank>& rank : ranks_) {
    if (rank->lost)
      continue;
    if (rank->trace != nullptr) {
      there.push_back(rank.get());
      continue;
    }
    files.push_back(*rank->file);
    to_load.push_back(rank.get());
  }
  const auto extract_facts = [&](Rank& rank) {
    Result<void> done = extract(rank, wanted, pass);
    if (!done)
      rank.error = std::move(done.error());
  };
  RS_CHECK(parallel_for(
      &session_.pool(), there.size(), [&](std::size_t i) { extract_facts(*there[i]); },
      session_.threads));
  LoadOptions load;
  load.threads = session_.threads;
  load.pool = &session_.pool();
  load.memory_limit_bytes = request_.memory_bytes;
  load.link = wanted.linked;
  load.keep_python = pass.needs.frames() || request_.keep_traces;
  load.frames_in_tree = false;
  RS_CHECK(load_each(files, load, [&](std::size_t i, Result<LoadedTrace> loaded) {
    Rank& rank = *to_load[i];
    if (!loaded) {
      rank.error = std::move(loaded.error());
      return;
    }
    rank.trace = std::make_shared<LoadedTrace>(std::move(*loaded));
    rank.diagnostics = rank.trace->trace.diagnostics;
    rank.linked = wanted.linked;
    extract_facts(rank);
  }));
  traces_read_ += files.size();
  return {};
}

Result<void> RunTables::need(const std::set<std::string>& names) {
  const Wanted needed = wanted(names);
  if (!needed.any())
    return {};
  const bool traces = needs_traces(needed);
  if (traces && session_.source != nullptr)
    return Error{ErrorCode::kUsage, "query",
                 "the statement uses tables of records or report sheets, which need the traces",
                 "parts contain only the tables ranks, steps, idle, findings, collectives, and "
                 "those of the commands collectives, gemm and top"};
  const Pass pass(top_report(request_), needed.facts);
  RS_CHECK(traces ? pass_over_traces(needed, pass) : pass_over_facts(pass));
  std::optional<Error> lost;
  std::size_t left = 0;
  for (const std::unique_ptr<Rank>& rank : ranks_) {
    if (rank->error && !rank->lost) {
      lost = lost ? lost : rank->error;
      rank->lost = true;
      rank->trace.reset();
      if (ranks_.size() > 1)
        report_lost_rank(session_, *rank->plan, *rank->file, *rank->error);
    }
    if (rank->lost)
      continue;
    ++left;
    if (rank->diagnostics && !std::exchange(rank->reported, true) &&
        !needed.facts.top) // top itself reports them
      session_.diagnostics.merge(*rank->diagnostics);
    rank->diagnostics.reset();
  }
  if (left == 0)
    return ranks_.size() == 1 && lost ? *lost : no_rank_left(session_, plans_.front().folder);
  RS_CHECK(after(needed, pass));
  ready_.insert(names.begin(), names.end());
  return {};
}

/// Adds the sheets and findings of `top` to a run.
Result<void> RunTables::take_top(std::size_t index, TopParts& parts,
                                 const CollectiveFacts* collectives) {
  Run& run = *runs_[index];
  TopRequest top;
  top.inputs = request_.inputs;
  top.top_k = 0;
  RS_TRY(const TopFacts facts, combine_top(session_, plans_[index], parts, collectives, top));
  run.findings = facts.findings;
  Report report = top_report(facts);
  for (Table& table : report.tables)
    run.take(std::move(table));
  return {};
}

/// Makes the data that need all ranks of a run.
Result<void> RunTables::after(const Wanted& wanted, const Pass& pass) {
  const QueryNeeds& keys = pass.keys;
  std::vector<ConfigResult> configs;
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    Run& run = *runs_[r];
    std::vector<GemmFacts> gemms, gemms_of_sweep;
    ConfigResult config;
    config.configuration = plans_[r].configuration;
    TopParts parts;
    for (const std::unique_ptr<Rank>& rank : ranks_) {
      if (rank->run != &run)
        continue;
      if (!rank->facts) {
        if (keys.sweep && rank->error)
          add_lost_rank(config, rank->file->rank, *rank->error);
        continue;
      }
      RankFacts facts = std::move(*std::exchange(rank->facts, std::nullopt));
      const RankItem item{*rank->plan, *rank->file, 0, 0};
      if (keys.rows)
        rank->rows = placed(std::move(facts[*keys.rows]), rank->place);
      if (keys.gemms) {
        name_rank(item, facts[*keys.gemms]);
        gemms.push_back(std::move(facts[*keys.gemms]));
      }
      if (keys.top)
        if (const Result<void> usable =
                require_gpu_work(item.file.path, facts[keys.notes].diagnostics);
            !usable) { // only the tables of records contain it
          report_lost_rank(session_, item.plan, item.file, usable.error());
          if (keys.sweep)
            add_lost_rank(config, item.file.rank, usable.error());
          continue;
        }
      if (keys.sweep) {
        config.records.push_back(facts[keys.sweep->record]);
        name_rank(item, config.records.back());
        gemms_of_sweep.push_back(std::move(facts[keys.sweep->gemms]));
        name_rank(item, gemms_of_sweep.back());
      }
      if (keys.top) {
        session_.diagnostics.merge(facts[keys.top->diagnostics]);
        keys.top->put(item, facts, parts);
      } else if (keys.collectives) {
        run.collectives.push_back(std::move(facts[*keys.collectives]));
      }
    }
    run.top_made = run.top_made || wanted.facts.top;
    const std::optional<CollectiveFacts> found = collectives_of_top(parts);
    const CollectiveFacts* const collectives = found ? &*found : nullptr;
    if (keys.sweep) {
      config.gemms = join_gemm_facts(pointers_to(gemms_of_sweep), GemmRanking::kRange);
      if (collectives != nullptr)
        set_collectives(config, *collectives, parts.identities);
      configs.push_back(std::move(config));
    }
    if (!parts.ranks.empty())
      RS_CHECK(take_top(r, parts, collectives));
    if (wanted.facts.top && wanted.facts.collectives)
      run.collectives = std::move(parts.collectives);
    if (wanted.facts.collectives)
      run.make_collectives(request_);
    if (wanted.facts.gemms) {
      run.gemms_made = true;
      run.sheets["gemm_variance"] = std::make_shared<const Table>(gemm_table(
          join_gemm_facts(pointers_to(gemms), GemmRanking::kRange), GemmTable::kOverlap, 5));
    }
    if ((wanted.facts.top || wanted.facts.collectives) && run.facts && run.top_made)
      add_findings(run.findings, collective_findings(*run.facts));
  }
  if (!configs.empty())
    sweep_findings_ = facts_of(configs, kGemmsOfPage, GemmRanking::kRange).findings;
  return {};
}

Result<std::shared_ptr<const SqlTable>> RunTables::table(const std::string& name) {
  if (const auto at = made_.find(name); at != made_.end())
    return at->second;
  RS_CHECK(need({name}));
  std::shared_ptr<const SqlTable> made = make(name);
  made_[name] = made;
  return made;
}

std::shared_ptr<const SqlTable> RunTables::make(const std::string& name) const {
  const RunTableInfo& info = *find_table(name);
  if (info.kind == kRecord) {
    return std::make_shared<const SqlTable>(record_table(name));
  }
  if (name == "tables") {
    SqlTable table = table_of(table_list_schema());
    table.parts.push_back(part_of(table_list_schema(), tables_and_views()));
    return std::make_shared<const SqlTable>(std::move(table));
  }
  if (name == "table_columns") {
    SqlTable table = table_of(column_list_schema());
    std::vector<NamedColumn> rows;
    for (const RunTableInfo& listed : run_table_list())
      for (const Column& column : listed.columns)
        rows.push_back({&listed, &column});
    table.parts.push_back(part_of(column_list_schema(), rows));
    return std::make_shared<const SqlTable>(std::move(table));
  }
  return std::make_shared<const SqlTable>(sheet_table(info));
}

/// Returns the rows of one rank for a table.
std::optional<SqlPart> RunTables::rank_part(const std::string& name, const Rank& rank) {
  if (name == "events")
    return events_part(rank.record);
  if (name == "kernels")
    return kernels_part(rank.record);
  if (name == "operators")
    return operators_part(rank.record);
  if (!rank.rows)
    return std::nullopt;
  if (name == "steps")
    return part_of(step_record_schema(), rank.rows->steps);
  if (name == "ranks")
    return part_of(rank_record_schema(), std::vector{rank.rows->row});
  if (name == "idle")
    return part_of(idle_record_schema(), rank.rows->idle);
  return std::nullopt;
}

SqlPart RunTables::collectives_part(const Run& run) const {
  std::map<std::int64_t, std::int64_t> nodes;
  for (const std::unique_ptr<Rank>& rank : ranks_)
    if (rank->run == &run)
      nodes[rank->file->rank] = rank->place.node;
  std::vector<CollectiveRecord> rows;
  for (const CollectiveKernel& kernel : run.facts->kernels)
    rows.push_back({&run.label, nodes[kernel.rank->rank], &kernel});
  return part_of(collective_record_schema(), rows);
}

SqlTable RunTables::record_table(const std::string& name) const {
  SqlTable out = name == "events"        ? table_of(event_record_schema())
                 : name == "kernels"     ? table_of(kernel_record_schema())
                 : name == "operators"   ? table_of(operator_record_schema())
                 : name == "collectives" ? table_of(collective_record_schema())
                 : name == "steps"       ? table_of(step_record_schema())
                 : name == "ranks"       ? table_of(rank_record_schema())
                 : name == "idle"        ? table_of(idle_record_schema())
                                         : table_of(finding_record_schema());
  for (const std::unique_ptr<Rank>& rank : ranks_)
    if (!rank->lost)
      if (std::optional<SqlPart> part = rank_part(name, *rank))
        out.parts.push_back(std::move(*part));
  for (const std::unique_ptr<Run>& run : runs_) {
    if (name == "findings")
      out.parts.push_back(
          part_of(finding_record_schema(), finding_records(run->label, run->findings)));
    if (name == "collectives" && run->facts)
      out.parts.push_back(collectives_part(*run));
  }
  if (name == "findings" && !sweep_findings_.empty())
    out.parts.push_back(
        part_of(finding_record_schema(),
                finding_records(leaf_name(request_.inputs.front()), sweep_findings_)));
  return out;
}

SqlTable RunTables::sheet_table(const RunTableInfo& info) const {
  std::vector<std::pair<SheetPlace, std::shared_ptr<const Table>>> sheets;
  const bool per_rank = info.kind == kReport;
  for (const std::unique_ptr<Rank>& rank : ranks_)
    if (const auto at = rank->sheets.find(info.name); per_rank && at != rank->sheets.end())
      sheets.push_back({{rank->run->label, rank->file->rank}, at->second});
  for (const std::unique_ptr<Run>& run : runs_)
    if (const auto at = run->sheets.find(info.name); !per_rank && at != run->sheets.end())
      sheets.push_back({{run->label, std::nullopt}, at->second});
  return table_of_sheets(info.name, info.help, sheets, info.columns, per_rank);
}

} // namespace rankscope
