#include "app/collectives.h"

#include "analyses/collectives/collective_report.h"
#include "app/gpu_work.h"
#include "app/rank_needs.h"
#include "app/write_streams.h"
#include "base/counters.h"
#include "engine/ahead_rows.h"
#include "engine/rank_source.h"
#include "engine/run_check.h"
#include "engine/spilled_bytes.h"
#include "findings/collective_findings.h"
#include "writers/stream_writer.h"
#include "writers/workbook_text.h"
#include "writers/writer.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

/// The number of rows that fit on a sheet below its header.
constexpr std::size_t kExcelRows = kMaxSheetRows - 1;

/// Puts the collectives of the ranks that could be read into `out`, and the run metadata of each
/// rank into `identities`.
Result<void> read_ranks(Session& session, const RunPlan& plan, const CollectivesRequest& request,
                        CollectiveStream& out, std::vector<RankIdentity>& identities) {
  RankRun run;
  run.memory_bytes = request.memory_bytes;
  Needs needs;
  const CollectivesNeeds keys(needs);
  FactSteps steps{needs, {}};
  steps.consume = [&](const RankItem& item, const LoadedTrace&, RankFacts facts) -> Result<void> {
    if (const auto header_rank = facts[keys.notes].header_rank;
        header_rank && *header_rank != item.file.rank)
      session.diagnostics.add(counters::rank_disagrees(*header_rank, item.file.rank),
                              item.file.path);
    session.diagnostics.merge(facts[keys.notes].diagnostics);
    identities.push_back(std::move(facts[keys.identity]));
    if (request.options.compat_tracelens)
      as_reference(facts[keys.collectives]);
    return out.add(std::move(facts[keys.collectives]));
  };
  steps.usable = [&](const RankItem& item, RankFacts& facts) {
    return require_gpu_work(item.file.path, facts[keys.notes].diagnostics);
  };
  return run_ranks(session, {&plan}, run, std::move(steps));
}

/// Writes each sheet with more rows than Excel allows as a complete CSV file.
Result<void> write_overlong(Report& report, const RowStreams& streams, const std::string& workbook,
                            std::vector<std::string>& written) {
  for (Table& table : report.tables) {
    if (rows_of(table, streams) <= kExcelRows)
      continue;
    const std::string folder = workbook + "_csv";
    Report csv;
    csv.tables.push_back(table);
    RS_CHECK(write_streams(*find_writer("csv"), csv, streams, folder));
    table.notes.push_back(fmt::format("all rows in one file: {}/{}.csv", folder, table.name()));
    if (written.empty() || written.back() != folder)
      written.push_back(folder);
  }
  return {};
}

} // namespace

void name_too_few(Session& session, const RunPlan& plan, std::size_t world_size) {
  if (world_size > plan.ranks.size() + plan.missing_ranks.size())
    session.diagnostics.add(counters::world_size(plan.ranks.size(), world_size), plan.folder);
}

Result<RunPlan> plan_collectives(Session& session, const CollectivesRequest& request) {
  RS_CHECK(check_outputs(request.outputs, Sheets::kSeveral));
  RS_TRY(RunPlan plan, find_run(session, request.inputs, request.discover, session.diagnostics));
  name_too_few(session, plan, request.world_size);
  return plan;
}

Result<CollectivesResult> collect_collectives(Session& session, const RunPlan& plan,
                                              const CollectivesRequest& request) {
  CollectivesResult out;
  std::vector<RankIdentity> identities;
  out.store = std::make_unique<SpilledBytes>();
  out.stream = std::make_unique<CollectiveStream>(*out.store, request.options);
  RS_CHECK(read_ranks(session, plan, request, *out.stream, identities));
  out.ranks = out.stream->ranks();
  if (out.ranks == 0)
    return no_rank_left(session, plan.folder);
  Result<CollectiveFacts> facts = out.stream->facts();
  const std::vector<std::int64_t> known = known_missing(plan);
  RunExpectation expected;
  expected.known_missing = known;
  name_run_problems(session, plan,
                    facts ? check_run(identities, expected, *facts)
                          : check_run(identities, expected));
  RS_TRY(out.facts, std::move(facts));
  RS_TRY(out.report, streamed_tables(*out.stream, out.facts, request.options,
                                     request.max_stored_rows, out.streams));
  out.findings = collective_findings(out.facts);
  put_findings_first(out.report, out.findings);
  out.report.title = plan.configuration.label;
  out.report.diagnostics = session.diagnostics;
  ReportOutputs to = request.outputs;
  if (to.file.empty() && to.csv_dir.empty() && request.default_workbook)
    to.file = plan.folder + "/nccl_analysis_report.xlsx";
  RowStreams ahead; // the pool may be destroyed before the returned streams
  for (const auto& [name, rows] : out.streams)
    ahead[name] = ahead_rows(session.pool(), rows);
  if (to.file.ends_with(".xlsx"))
    RS_CHECK(write_overlong(out.report, ahead, to.file, out.written));
  RS_TRY(std::vector<std::string> written, write_outputs(out.report, to, ahead));
  out.written.insert(out.written.end(), written.begin(), written.end());
  return out;
}

} // namespace rankscope
