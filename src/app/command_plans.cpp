#include "app/command_plans.h"

#include "app/list_column.h"
#include "collect/run_inputs.h"

#include <utility>

namespace rankscope {
namespace {

Report titled(const std::string& title, Table table) {
  Report out;
  out.title = title;
  out.tables.push_back(std::move(table));
  return out;
}

Column plan_bytes_column() {
  return Column("bytes", Unit::kBytes);
}

} // namespace

Report collectives_plan(const RunPlan& plan) {
  Table table("plan", {"rank", "file", plan_bytes_column()});
  for (const RankFile& file : plan.ranks)
    table.add_row({Value(file.rank), Value(file.path), Value(file.bytes)});
  for (const std::int64_t rank : plan.missing_ranks)
    table.add_row({Value(rank), Value(), Value()});
  return titled(plan.folder, std::move(table));
}

Report analyze_plan(const AnalyzeRequest& request, const std::vector<RunPlan>& plans) {
  Table table("plan", {"configuration", "rank", "file", plan_bytes_column(), "report"});
  for (const RunPlan& plan : plans)
    for (const RankFile& file : plan.ranks) {
      const std::string report = request.layout.individual_report({plan.configuration, file.rank});
      table.add_row({Value(plan.configuration.label), Value(file.rank), Value(file.path),
                     Value(file.bytes), Value(report)});
    }
  return titled(request.folder, std::move(table));
}

Report partial_plan(const std::string& folder, const std::vector<PlannedPart>& parts) {
  Table table("plan", {"configuration", "rank", "file", plan_bytes_column(), "part", "there"});
  for (const PlannedPart& p : parts)
    table.add_row({Value(p.configuration), Value(p.file.rank), Value(p.file.path),
                   Value(p.file.bytes), Value(p.part), Value(p.is_there)});
  return titled(folder, std::move(table));
}

Report batch_plan(const BatchSearch& search, const std::vector<BatchFolder>& folders) {
  Table table("plan", {"folder", "report", list_column("files"), "error", list_column("notes")});
  for (const BatchFolder& folder : folders) {
    std::vector<std::string> files;
    for (const RankFile& rank : folder.plan.ranks)
      files.push_back(rank.path);
    const std::string error = folder.error ? folder.error->message() : "";
    const std::string traces = list_text(files), notes = list_text(folder.notes);
    table.add_row({Value(folder.plan.folder), Value(folder.output), Value(traces),
                   text_or_blank(error), Value(notes)});
  }
  return titled(search.base, std::move(table));
}

Report sweep_plan(const SweepRequest& request, const SweepPlan& plan) {
  Table table("plan", {"setting", "warm_up", "folder", "finished", list_column("command"),
                       list_column("environment"), list_column("unset")});
  for (const auto* list : {&plan.warmups, &plan.runs})
    for (const PlannedRun& run : *list) {
      std::vector<std::string> environment;
      for (const auto& [name, value] : run.environment)
        environment.push_back(name + "=" + value);
      const std::string command = list_text(run.argv), set = list_text(environment),
                        unset = list_text(run.unset);
      table.add_row({Value(run.label), Value(list == &plan.warmups), Value(run.folder),
                     Value(is_finished(request, run)), Value(command), Value(set), Value(unset)});
    }
  return titled(plan.folder, std::move(table));
}

bool is_finished(const SweepRequest& request, const PlannedRun& run) {
  const SavedRun saved = read_run_manifest(run.folder + "/manifest.json");
  return !request.redo && saved.status == status_name(RunStatus::kSuccess) &&
         difference_to_saved(saved, run).empty() && missing_trace(saved, run).empty();
}

} // namespace rankscope
