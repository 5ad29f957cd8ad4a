#include "app/analyze_run.h"

#include "analyses/collectives/collective_report.h"
#include "app/gpu_work.h"
#include "app/individual_report.h"
#include "app/merge.h"
#include "app/rank_needs.h"
#include "base/counters.h"
#include "base/pointers.h"
#include "engine/run_check.h"
#include "findings/collective_findings.h"
#include "os/output_file.h"
#include "writers/merged_trace.h"
#include "writers/writer.h"

#include <algorithm>

namespace rankscope {
namespace {

/// The data collected for a configuration while its ranks are read, in the order of the ranks.
struct ConfigWork {
  TraceIdentity fingerprint; ///< from before any trace was read
  std::vector<RankCollectives> collectives;
  std::vector<RankIdentity> identities;
  std::vector<GemmFacts> gemms;
  std::optional<MergedTraceWriter> merged;
  std::string merged_path;
};

class Pass {
public:
  Pass(Session& ctx, const AnalyzeRun& run, const std::vector<const RunPlan*>& plans)
      : ctx_(ctx), run_(run), plans_(plans), results_(plans.size()), work_(plans.size()),
        keys_(needs_, {run.report, run.top_k, run.ranking}) {
    if (ctx.cache != nullptr && ctx.source == nullptr)
      add_default_needs(needs_, std::ranges::any_of(plans, [](const RunPlan* plan) {
                          return seeks_causes(plan->ranks.size());
                        }));
    const std::string options = run.options();
    for (std::size_t p = 0; p < plans.size(); ++p) {
      results_[p].configuration = plans[p]->configuration;
      work_[p].fingerprint = fingerprint_of(*plans[p], options);
    }
  }

  Result<std::vector<ConfigResult>> operator()() {
    RankRun how;
    how.memory_bytes = run_.memory_bytes;
    how.progress = true;
    FactSteps steps{needs_, {}};
    steps.with_trace = !run_.merged_folder.empty();
    if (run_.individual)
      steps.also = [this](const RankItem& item, const LoadedTrace& trace) {
        return write_individual_report(trace, run_.report, workbook_of(item));
      };
    if (!run_.force)
      steps.file = [this](const RankItem& item) { return workbook_of(item); };
    steps.file_options = run_.options();
    steps.consume = [this](const RankItem& item, const LoadedTrace& trace, RankFacts facts) {
      return take(item, trace, facts);
    };
    steps.usable = [this](const RankItem& item, RankFacts& facts) {
      return require_gpu_work(item.file.path, facts[keys_.diagnostics]);
    };
    steps.lost = [this](const RankItem& item, const Error& error) {
      ConfigResult& result = results_[item.plan_index];
      add_lost_rank(result, item.file.rank, error);
      result.complete = false;
    };
    steps.finished = [this](std::size_t p) { return finish(p); };
    RS_CHECK(run_ranks(ctx_, plans_, how, std::move(steps)));
    return std::move(results_);
  }

private:
  [[nodiscard]] std::string workbook_of(const RankItem& item) const {
    return run_.layout.individual_report({item.plan.configuration, item.file.rank});
  }

  /// Called in the order of the ranks: adds a rank to the merged trace and to the data of its
  /// configuration.
  Result<void> take(const RankItem& item, const LoadedTrace& trace, RankFacts& facts) {
    ConfigWork& work = work_[item.plan_index];
    ConfigResult& result = results_[item.plan_index];
    ctx_.diagnostics.merge(facts[keys_.diagnostics]);
    if (item.plan.parts != nullptr && run_.individual)
      RS_CHECK(item.plan.parts->copy_report(item.file, kAnalyzeReport, workbook_of(item)));
    if (!run_.merged_folder.empty() && item.plan.ranks.size() > 1 && !merge_apart(item.plan)) {
      if (!work.merged) {
        work.merged_path = merged_path(item.plan_index);
        RS_TRY(MergedTraceWriter writer, MergedTraceWriter::create(work.merged_path, {}));
        work.merged.emplace(std::move(writer));
      }
      work.merged->add(trace.trace, item.file.rank, {}, ctx_.diagnostics);
    }
    result.complete = result.complete && !facts[keys_.diagnostics].data_lost();
    if (run_.individual)
      result.outputs.push_back(workbook_of(item));
    name_rank(item, facts[keys_.record]);
    name_rank(item, facts[keys_.gemms]);
    result.compared.emplace(item.file.rank, std::move(facts[keys_.compared]));
    result.records.push_back(std::move(facts[keys_.record]));
    work.gemms.push_back(std::move(facts[keys_.gemms]));
    work.collectives.push_back(std::move(facts[keys_.collectives]));
    work.identities.push_back(std::move(facts[keys_.identity]));
    return {};
  }

  /// Called after the last rank: finishes the outputs of the configuration and saves its state.
  Result<void> finish(std::size_t p) {
    ConfigWork& work = work_[p];
    ConfigResult& result = results_[p];
    if (work.merged) {
      RS_CHECK(work.merged->finish());
      result.outputs.push_back(work.merged_path);
    }
    result.gemms = join_gemm_facts(pointers_to(work.gemms), run_.ranking);
    RS_CHECK(collectives(p));
    if (merge_apart(*plans_[p])) {
      MergeRequest request;
      request.align = true;
      request.check = false;
      const std::string path = merged_path(p);
      RS_CHECK(merge_run(ctx_, request, *plans_[p], path));
      result.outputs.push_back(path);
    }
    result.complete = result.complete && work.fingerprint.unique;
    if (fingerprint_of(*plans_[p], run_.options()).text != work.fingerprint.text) {
      ctx_.diagnostics.add(counters::input_changed(), plans_[p]->folder);
      result.complete = false;
    }
    if (run_.write)
      RS_CHECK(save_state(result, work.fingerprint.text, run_.layout.state(result.configuration)));
    work.merged.reset();
    work.collectives.clear();
    work.identities.clear();
    work.gemms.clear();
    return {};
  }

  /// Writes the collective report of a configuration, and names contradictions between its ranks.
  Result<void> collectives(std::size_t p) {
    ConfigWork& work = work_[p];
    ConfigResult& result = results_[p];
    CollectiveOptions options;
    options.align = run_.align.value_or(options.align);
    const Result<CollectiveFacts> facts = collective_facts(work.collectives, options);
    const std::vector<std::int64_t> known = known_missing(*plans_[p]);
    RunExpectation expected;
    expected.known_missing = known;
    const std::vector<RunProblem> problems =
        facts ? check_run(work.identities, expected, *facts) : check_run(work.identities, expected);
    name_run_problems(ctx_, *plans_[p], problems);
    result.complete = result.complete && problems.empty();
    if (!facts) // a sweep may have no collectives
      return {};
    result.collective_file = run_.layout.collective_report(result.configuration);
    if (run_.write)
      RS_CHECK(
          find_writer("xlsx")->write(collective_report(*facts, options), result.collective_file));
    result.outputs.push_back(result.collective_file);
    set_collectives(result, *facts, work.identities);
    return {};
  }

  /// Returns whether the merged trace needs clocks that are known only after all ranks were read.
  [[nodiscard]] bool merge_apart(const RunPlan& plan) const {
    return !run_.merged_folder.empty() && plan.ranks.size() > 1 &&
           run_.align == AlignMode::kCollectives;
  }
  [[nodiscard]] std::string merged_path(std::size_t p) const {
    return run_.merged_folder + "/" + merged_trace_name(results_[p].configuration);
  }

  Session& ctx_;
  const AnalyzeRun& run_;
  const std::vector<const RunPlan*>& plans_;
  std::vector<ConfigResult> results_;
  std::vector<ConfigWork> work_;
  Needs needs_;
  AnalyzeNeeds keys_;
};

} // namespace

Result<std::vector<ConfigResult>> run_configurations(Session& ctx, const AnalyzeRun& run,
                                                     const std::vector<const RunPlan*>& plans) {
  // create the folders before any trace is read, so that a folder that cannot be written is
  // reported early
  for (const RunPlan* plan : plans) {
    if (!run.write)
      break;
    RS_CHECK(make_folder(run.layout.individual_folder(plan->configuration)));
    RS_CHECK(make_folder(run.layout.collective_folder(plan->configuration)));
  }
  if (!run.merged_folder.empty() && !plans.empty())
    RS_CHECK(make_folder(run.merged_folder));
  if (plans.empty())
    return std::vector<ConfigResult>{};
  return Pass(ctx, run, plans)();
}

} // namespace rankscope
