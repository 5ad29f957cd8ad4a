#include "app/batch.h"

#include "analyses/batch/batch_facts.h"
#include "app/batch_notes.h"
#include "app/batch_replay.h"
#include "app/gpu_work.h"
#include "app/rank_needs.h"
#include "app/write_outputs.h"

#include <filesystem>
#include <fmt/format.h>
#include <mutex>

namespace rankscope {
namespace {

/// A folder whose ranks are being read.
struct Work {
  BatchFolder folder;
  BatchReport report;
  std::vector<BatchPart> parts;
};

/// Returns an error that is known before a trace is read.
std::optional<Error> cannot_write(const BatchFolder& folder, bool overwrite) {
  std::error_code ec;
  if (!overwrite && std::filesystem::is_regular_file(folder.output, ec))
    return Error{ErrorCode::kOutput, folder.output, "this report exists already",
                 "--overwrite replaces it"};
  ReportOutputs outputs;
  outputs.file = folder.output;
  if (Result<void> fine = check_outputs(outputs, Sheets::kSeveral); !fine)
    return fine.error();
  return std::nullopt;
}

class BatchRun {
public:
  BatchRun(Session& session, const BatchRequest& request, std::vector<BatchFolder> folders)
      : session_(session), request_(request) {
    for (BatchFolder& folder : folders) {
      Work work;
      work.report.folder = folder.plan.folder;
      work.report.output = folder.output;
      work.report.notes = std::move(folder.notes);
      work.report.error = folder.error ? folder.error : cannot_write(folder, request.overwrite);
      work.folder = std::move(folder);
      work_.push_back(std::move(work));
    }
  }

  Result<std::vector<BatchReport>> operator()() {
    std::vector<const RunPlan*> plans;
    for (Work& work : work_)
      if (!work.report.error) {
        plans.push_back(&work.folder.plan);
        work_of_plan_.push_back(&work);
      }
    RankRun run;
    run.rules = request_.options.compat ? TreeRules::kBatchReference : TreeRules::kRankscope;
    run.progress = true;
    Needs needs;
    const BatchNeeds keys(needs, request_.options);
    FactSteps steps{needs, {}};
    steps.consume = [&](const RankItem& item, const LoadedTrace&, RankFacts facts) -> Result<void> {
      session_.diagnostics.merge(facts[keys.notes].diagnostics);
      work_of_plan_[item.plan_index]->parts.push_back(std::move(facts[keys.part]));
      return {};
    };
    if (!request_.options.compat)
      steps.usable = [&](const RankItem& item, RankFacts& facts) {
        return require_gpu_work(item.file.path, facts[keys.notes].diagnostics);
      };
    steps.finished = [this](std::size_t plan_index) -> Result<void> {
      finish(*work_of_plan_[plan_index]); // an error concerns this folder only; the others continue
      return {};
    };
    RS_CHECK(run_ranks(session_, plans, run, std::move(steps)));
    std::vector<BatchReport> out;
    for (Work& work : work_)
      out.push_back(std::move(work.report));
    return out;
  }

private:
  void finish(Work& work) {
    Result<void> done = write(work);
    if (!done)
      work.report.error = done.error();
  }

  Result<void> write(Work& work) {
    if (work.parts.empty())
      return Error{ErrorCode::kUnreadable, work.folder.plan.folder,
                   "no trace in this folder could be read", ""};
    if (work.parts.size() < work.folder.plan.ranks.size())
      work.report.warnings.push_back(
          fmt::format("{} of {} ranks could be read; the averages are over these ranks",
                      work.parts.size(), work.folder.plan.ranks.size()));
    work.report.ranks = work.parts.size();
    const std::unique_ptr<const BatchFacts> facts =
        batch_facts(std::move(work.parts), request_.options);
    add_batch_notes(*facts, work.report);
    std::vector<std::pair<BatchGroup, Table>> replays;
    if (request_.replay) {
      const std::lock_guard lock(replay_mutex_);
      RS_TRY(replays, replay_batch(session_, work.folder.plan.folder, *facts,
                                   request_.options.compat, request_.replay_run));
    }
    Report report;
    report.title = work.folder.plan.configuration.label;
    report.tables = batch_tables(*facts, request_.options, replays);
    work.report.sheets = report.tables.size();
    ReportOutputs outputs;
    outputs.file = work.folder.output;
    RS_TRY(const std::vector<std::string> written, write_outputs(report, outputs));
    return {};
  }

  Session& session_;
  const BatchRequest& request_;
  std::vector<Work> work_;
  std::vector<Work*> work_of_plan_;
  std::mutex replay_mutex_;
};

} // namespace

Result<std::vector<BatchReport>> run_batch(Session& session, const BatchRequest& request,
                                           std::vector<BatchFolder> folders) {
  if (request.replay)
    RS_CHECK(check_batch_replay(request.replay_run));
  return BatchRun(session, request, std::move(folders))();
}

} // namespace rankscope
