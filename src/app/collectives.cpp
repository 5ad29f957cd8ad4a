#include "app/collectives.h"

#include "analyses/collectives/collective_report.h"
#include "engine/loader.h"
#include "writers/writer.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

/// Rows of a sheet below its header.
constexpr std::size_t kExcelRows = 1'048'575;

Result<std::vector<RankCollectives>> read_ranks(Session& session, const RunPlan& plan,
                                                const CollectivesRequest& request) {
  std::vector<RankCollectives> ranks(plan.ranks.size());
  std::vector<char> good(plan.ranks.size(), 0);
  LoadOptions load;
  load.threads = session.threads;
  load.memory_limit_bytes = request.memory_bytes;
  RS_CHECK(load_each(plan.ranks, load, [&](std::size_t i, Result<LoadedTrace> loaded) {
    const RankFile& file = plan.ranks[i];
    if (!loaded) {
      session.diagnostics.add(Severity::kDataLoss, fmt::format("rank_failed {}", file.rank),
                              fmt::format("rank {}", file.rank), loaded.error().message());
      return;
    }
    if (const auto own = loaded->trace.header.rank; own && *own != file.rank)
      session.diagnostics.add(
          Severity::kWarning, fmt::format("rank_disagrees {}", file.rank), file.path,
          fmt::format("distributedInfo says rank {}, the name {}; the name counts", *own,
                      file.rank));
    session.diagnostics.merge(loaded->trace.diagnostics);
    ranks[i] = extract_collectives(*loaded);
    good[i] = 1;
  }));
  std::vector<RankCollectives> kept;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (good[i] != 0)
      kept.push_back(std::move(ranks[i]));
  return kept;
}

/// A sheet with more rows than Excel takes is written whole as CSV.
Result<void> write_overlong(Report& report, const std::string& workbook,
                            std::vector<std::string>& written) {
  for (Table& table : report.tables) {
    if (table.rows() <= kExcelRows)
      continue;
    const std::string folder = workbook + "_csv";
    Report csv;
    csv.tables.push_back(table);
    RS_CHECK(find_writer("csv")->write(csv, folder));
    table.notes.push_back(fmt::format("all rows in one file: {}/{}.csv", folder, table.name()));
    if (written.empty() || written.back() != folder)
      written.push_back(folder);
  }
  return {};
}

} // namespace

Result<RunPlan> plan_collectives(Session& session, const CollectivesRequest& request) {
  RS_TRY(RunPlan plan, discover_run(request.inputs, request.discover, session.diagnostics));
  if (request.world_size > plan.ranks.size() + plan.missing_ranks.size())
    session.diagnostics.add(
        Severity::kDataLoss, "world_size", plan.folder,
        fmt::format("{} of {} ranks found", plan.ranks.size(), request.world_size));
  return plan;
}

Result<CollectivesResult> collect_collectives(Session& session, const RunPlan& plan,
                                              const CollectivesRequest& request) {
  CollectivesResult out;
  RS_TRY(out.ranks, read_ranks(session, plan, request));
  if (out.ranks.empty())
    return Error{ErrorCode::kUnreadable, plan.folder, "no rank could be read", ""};
  RS_TRY(out.facts, collective_facts(out.ranks, request.options));
  out.report = collective_tables(out.facts, request.options);
  out.report.title = plan.configuration.label;
  out.report.diagnostics = session.diagnostics;
  if (!request.csv_dir.empty()) {
    RS_CHECK(find_writer("csv")->write(out.report, request.csv_dir));
    out.written.push_back(request.csv_dir);
  }
  std::string workbook = request.output;
  if (workbook.empty() && request.csv_dir.empty() && request.default_workbook)
    workbook = plan.folder + "/nccl_analysis_report.xlsx";
  if (!workbook.empty()) {
    RS_CHECK(write_overlong(out.report, workbook, out.written));
    RS_CHECK(find_writer("xlsx")->write(out.report, workbook));
    out.written.push_back(workbook);
  }
  return out;
}

} // namespace rankscope
