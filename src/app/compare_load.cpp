#include "app/compare_load.h"

#include "analyses/collectives/collective_report.h"
#include "analyses/compare/compare_part.h"
#include "app/baseline.h"
#include "app/compare_reports_input.h"
#include "app/gpu_work.h"
#include "app/individual_report.h"
#include "app/rank_needs.h"
#include "base/counters.h"
#include "core/output_layout.h"
#include "engine/rank_source.h"
#include "engine/run_check.h"
#include "findings/collective_findings.h"
#include "os/output_file.h"
#include "readers/reports/report_tables.h"
#include "writers/writer.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

void lose(Session& ctx, const std::string& path, std::int64_t rank, const std::string& why) {
  ctx.diagnostics.add(counters::rank_failed(fmt::format("rank {}", rank), why), path);
}

/// Returns the error that says why a folder without reports cannot be compared.
Error no_reports(const CompareInput& input) {
  if (input.reports_only) {
    Diagnostics unused;
    const Result<RunPlan> plan = discover_run({input.folder}, input.discover, unused);
    if (plan && !plan->ranks.empty())
      return {ErrorCode::kUnreadable, input.folder,
              fmt::format(
                  "has traces of {} rank{} but no reports, and --skip-tracelens reads only reports",
                  plan->ranks.size(), plan->ranks.size() == 1 ? "" : "s"),
              "leave out --skip-tracelens, or run rankscope analyze " + input.folder + " first"};
  }
  return {ErrorCode::kUnreadable, input.folder, "neither traces nor reports in this folder",
          "expected torch_profiler/rank<r>/*.json, or individual_reports/perf_rank<r>.xlsx "
          "of one configuration"};
}

Result<ComparedRun> from_reports(Session& ctx, const CompareInput& input) {
  ComparedRun run;
  run.label = input.label;
  const OutputLayout layout(input.folder);
  const std::string individual = layout.saved_individual_folder();
  const std::string collective = layout.saved_collective_folder();
  if (individual.empty() && collective.empty())
    return no_reports(input);
  std::map<std::int64_t, std::string> chosen;
  for (const auto& [key, path] : layout.saved_run_reports()) {
    const auto [at, added] = chosen.emplace(key.rank, path);
    if (!added)
      return Error{ErrorCode::kUnreadable, individual,
                   fmt::format("two reports of rank {}: {} and {}", key.rank,
                               fs::path(at->second).filename().string(),
                               fs::path(path).filename().string()),
                   "give a folder with the reports of one configuration"};
  }
  for (const auto& [rank, path] : chosen) {
    const Result<Report> report = read_report_tables(path);
    std::optional<RankTimeline> timeline;
    if (report) {
      ctx.diagnostics.merge(report->diagnostics);
      timeline = timeline_of_report(*report);
    }
    if (timeline)
      for (const auto& [name, ms] : operators_of_report(*report))
        run.operators[name] += ms * 1e6;
    if (timeline)
      run.ranks.emplace(rank, std::move(*timeline));
    else
      lose(ctx, path, rank, report ? "no sheet gpu_timeline" : report.error().message());
  }
  const std::vector<std::string> workbooks = layout.saved_collective_reports();
  if (workbooks.size() > 1)
    return Error{ErrorCode::kUnreadable, collective, "more than one collective report",
                 "give a folder with the reports of one configuration"};
  if (!workbooks.empty()) {
    RS_TRY(const Report report, read_report_tables(workbooks.front()));
    ctx.diagnostics.merge(report.diagnostics);
    run.collectives = collectives_of_report(report, input.label, ctx.diagnostics);
  }
  if (run.ranks.empty() && run.collectives.summary.empty())
    return Error{ErrorCode::kUnreadable, input.folder, "no report here could be used", ""};
  return run;
}

/// Adds diagnostics for contradictions between the ranks of one side.
void name_problems(Session& ctx, const CompareInput& input, const RunPlan& plan,
                   const std::vector<RankIdentity>& identities,
                   const std::vector<RankCollectives>& described,
                   const std::optional<CollectiveFacts>& facts) {
  const std::vector<std::int64_t> known = known_missing(plan);
  RunExpectation expected;
  expected.known_missing = known;
  // both sides may have equal configurations: the label keeps their diagnostics separate
  RunPlan side = plan;
  side.configuration.label = input.label;
  name_run_problems(ctx, side,
                    facts ? check_run(identities, expected, *facts)
                          : check_run(identities, expected, described));
}

/// Returns whether a part of the trace is lost, not only a few single events.
bool lost_a_part(const Diagnostics& diagnostics) {
  constexpr std::uint64_t kFew = 100;
  static constexpr std::array<std::string_view, 4> kSingle = {
      counters::event_malformed.key, counters::event_bad_time.key, counters::row_malformed.key,
      counters::row_torn.key};
  return std::ranges::any_of(diagnostics.problems(), [](const Problem& p) {
    return p.severity == Severity::kDataLoss &&
           (p.count > kFew || std::ranges::find(kSingle, p.name) == kSingle.end());
  });
}

Result<ComparedRun> from_traces(Session& ctx, const CompareInput& input, const RunPlan& plan) {
  const OutputLayout layout(input.out);
  const Configuration single; // an empty configuration has no separate folder
  if (input.individual && input.write_reports)
    RS_CHECK(make_folder(layout.individual_folder(single)));
  if (input.collective && input.write_reports)
    RS_CHECK(make_folder(layout.collective_folder(single)));
  const bool workbooks = input.individual && input.write_reports;
  const auto workbook_of = [&](const RankItem& item) {
    return layout.individual_report({single, item.file.rank});
  };
  std::vector<ComparePart> parts;
  std::vector<std::int64_t> damaged;
  std::vector<RankIdentity> identities;
  std::vector<RankCollectives> described;
  Needs needs;
  const CompareNeeds keys(needs);
  FactSteps steps{needs, {}};
  if (workbooks) {
    steps.also = [&](const RankItem& item, const LoadedTrace& trace) {
      return write_individual_report(trace, compare_report_options(), workbook_of(item));
    };
    steps.file = workbook_of;
    steps.file_options = "compare";
  }
  steps.consume = [&](const RankItem& item, const LoadedTrace&, RankFacts facts) -> Result<void> {
    if (workbooks && plan.parts != nullptr)
      RS_CHECK(plan.parts->copy_report(item.file, kCompareReport, workbook_of(item)));
    ctx.diagnostics.merge(facts[keys.diagnostics]);
    if (lost_a_part(facts[keys.diagnostics]))
      damaged.push_back(item.file.rank);
    ComparePart part = std::move(facts[keys.part]);
    part.rank = item.file.rank;
    (input.collective ? part.collectives : described.emplace_back()) =
        std::move(facts[keys.collectives]);
    parts.push_back(std::move(part));
    identities.push_back(std::move(facts[keys.identity]));
    return {};
  };
  steps.usable = [&](const RankItem& item, RankFacts& facts) {
    return require_gpu_work(item.file.path, facts[keys.diagnostics]);
  };
  RS_CHECK(run_ranks(ctx, {&plan}, RankRun{}, std::move(steps)));
  std::vector<RankCollectives> collectives;
  ComparedRun run = run_of_parts(input.label, std::move(parts), collectives);
  if (run.ranks.empty())
    return no_rank_left(ctx, input.folder);
  run.damaged = std::move(damaged);
  std::optional<CollectiveFacts> facts;
  if (!collectives.empty()) {
    CollectiveOptions collective_options;
    collective_options.align = input.align;
    RS_TRY(facts, collective_facts(collectives, collective_options));
    if (input.write_reports)
      RS_CHECK(find_writer("xlsx")->write(collective_report(*facts, collective_options),
                                          layout.collective_report(single)));
    add_collectives(run, *facts);
  }
  name_problems(ctx, input, plan, identities, described, facts);
  return run;
}

} // namespace

Result<ComparedRun> load_compared_run(Session& ctx, const CompareInput& input) {
  if (is_baseline(input.folder)) {
    RS_TRY(SavedBaseline saved, load_baseline(input.folder));
    if (!saved.complete)
      ctx.diagnostics.add(counters::baseline_partial(), input.folder);
    saved.run.label = input.label;
    if (!input.collective)
      saved.run.collectives = {};
    return std::move(saved.run);
  }
  if (!input.reports_only) {
    Diagnostics found; // not shown: warnings about traces would mislead for a folder of reports
    const Result<RunPlan> plan = find_run(ctx, {input.folder}, input.discover, found);
    if (plan && !plan->ranks.empty()) {
      ctx.diagnostics.merge(found);
      return from_traces(ctx, input, *plan);
    }
    const OutputLayout layout(input.folder);
    if (!plan && layout.saved_individual_folder().empty() &&
        layout.saved_collective_folder().empty())
      return plan.error();
  }
  return from_reports(ctx, input);
}

} // namespace rankscope
