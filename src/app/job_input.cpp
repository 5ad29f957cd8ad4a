#include "app/job_input.h"

#include "analyses/collectives/late_ranks.h"
#include "analyses/collectives/slow_links.h"
#include "analyses/sweep/sweep_compare.h"
#include "app/gpu_work.h"
#include "app/rank_needs.h"
#include "app/top_parts.h"
#include "base/statistics.h"
#include "engine/run_check.h"
#include "os/library_memory.h"

#include <algorithm>

namespace rankscope {
namespace {

struct JobParts {
  std::vector<RankGraph> graphs;
  std::vector<RankRecord> records;
  std::vector<RankCollectives> collectives;
  std::vector<RankIdentity> identities;
};

Result<JobParts> read_parts_of_job(Session& session, const RunPlan& plan,
                                   std::uint64_t memory_bytes) {
  JobParts parts;
  std::optional<Error> first_lost;
  RankRun run;
  run.memory_bytes = memory_bytes;
  run.progress = plan.ranks.size() > 8;
  run.quiet = plan.ranks.size() == 1; // the command reports the error of a single rank
  Needs needs;
  const WhyNeeds keys(needs);
  FactSteps steps{needs, {}};
  steps.consume = [&](const RankItem& item, const LoadedTrace&, RankFacts facts) -> Result<void> {
    session.diagnostics.merge(facts[keys.diagnostics]);
    name_rank(item, facts[keys.record]);
    parts.records.push_back(std::move(facts[keys.record]));
    parts.graphs.push_back(std::move(facts[keys.graph]));
    parts.collectives.push_back(std::move(facts[keys.collectives]));
    parts.identities.push_back(std::move(facts[keys.identity]));
    return {};
  };
  steps.usable = [&](const RankItem& item, RankFacts& facts) {
    return require_gpu_work(item.file.path, facts[keys.diagnostics]);
  };
  steps.lost = [&](const RankItem&, const Error& error) {
    if (!first_lost)
      first_lost = error;
  };
  RS_CHECK(run_ranks(session, {&plan}, run, std::move(steps)));
  if (parts.graphs.empty())
    return run.quiet && first_lost ? *first_lost : no_rank_left(session, plan.folder);
  return parts;
}

/// Sets the ranks that the tests of `top` and `collectives` call slow or late.
void set_outstanding(const std::vector<RankGraph>& graphs, const std::vector<RankRecord>& records,
                     const CollectiveFacts* collectives, RunSuspects& suspects) {
  std::vector<OutstandingRank>& out = suspects.ranks;
  const auto add = [&](std::int64_t rank, double excess_ms, std::size_t steps) {
    for (std::uint32_t r = 0; r < graphs.size(); ++r)
      if (graphs[r].rank == rank &&
          std::none_of(out.begin(), out.end(),
                       [r](const OutstandingRank& o) { return o.rank == r; }))
        out.push_back({r, excess_ms, steps});
  };
  std::vector<ConfigurationRanks> run(1);
  for (const RankRecord& record : records)
    run.front().ranks.push_back(&record);
  const SlowRanks slow = slow_ranks(run);
  for (const SlowRank& rank : slow.ranks)
    add(rank.rank, rank.excess.excess, rank.excess.most);
  for (const SlowRank& rank : slow.unclear)
    suspects.unclear.push_back(
        {rank.rank, rank.excess.mean, rank.excess.lowest, rank.excess.highest});
  if (slow.ranks.empty() && !slow.tested.empty()) // a slow rank hides the excess of others
    suspects.visible_ms = slow.tested.front().test.least_visible;
  if (collectives != nullptr)
    for (const LateRank& late : late_ranks(*collectives).ranks)
      if (late.late.significant)
        add(late.rank->rank, 0, late.late.most);
}

/// Returns the start of the rank's first GPU event, on the clock of the file. Without a unix clock,
/// the identity does not have it; the graph and the steps then contain the GPU work of all steps.
std::optional<std::int64_t> first_gpu_event_ns(const RankGraph& graph, const RankRecord* record,
                                               const RankIdentity* identity) {
  if (identity != nullptr && identity->gpu_events > 0 && identity->start_ns != 0)
    return identity->start_ns - graph.base_time_ns;
  std::optional<std::int64_t> first;
  const auto add = [&first](std::int64_t ns) { first = std::min(first.value_or(ns), ns); };
  for (NodeId n = 0; n < graph.nodes.size(); ++n)
    if (on_gpu(graph.activity(n).kind))
      add(graph.nodes[n].start_ns);
  if (record != nullptr)
    for (const StepTimes& step : record->steps)
      add(step.start_ns);
  return first;
}

RunClock clock_of_job(const std::vector<RankGraph>& graphs, const std::vector<RankRecord>& records,
                      const std::vector<RankIdentity>& identities,
                      const CollectiveFacts* collectives) {
  std::vector<RankTimes> ranks;
  for (std::size_t r = 0; r < graphs.size(); ++r) {
    const RankGraph& graph = graphs[r];
    ranks.push_back({graph.rank, graph.base_time_ns,
                     first_gpu_event_ns(graph, r < records.size() ? &records[r] : nullptr,
                                        r < identities.size() ? &identities[r] : nullptr)});
  }
  return {std::move(ranks), collectives};
}

} // namespace

Result<JobInput> read_job(Session& session, const JobInputRequest& request) {
  TopRequest planned;
  planned.inputs = request.inputs;
  planned.discover = request.discover;
  planned.report.gpu_arch = request.gpu_arch;
  planned.memory_bytes = request.memory_bytes;
  RS_TRY(const RunPlan plan, plan_top(session, planned));
  return read_job_of(session, plan, request.memory_bytes);
}

Result<JobInput> read_job_of(Session& session, const RunPlan& plan, std::uint64_t memory_bytes) {
  RS_TRY(JobParts parts, read_parts_of_job(session, plan, memory_bytes));
  std::int64_t gpu_ns = 0;
  for (const RankGraph& rank : parts.graphs)
    gpu_ns += rank.gpu_ns;
  if (gpu_ns == 0)
    return no_gpu_work(plan.folder);
  const std::size_t ranks = parts.graphs.size();
  const Result<CollectiveFacts> collectives = collective_facts(parts.collectives, {});
  if (ranks > 1) {
    const std::vector<std::int64_t> known = known_missing(plan);
    RunExpectation expected;
    expected.known_missing = known;
    expected.all_ranks = true;
    name_run_problems(session, plan,
                      collectives ? check_run(parts.identities, expected, *collectives)
                                  : check_run(parts.identities, expected));
  }
  return job_of(plan.folder, std::move(parts.graphs), parts.records, parts.identities,
                collectives ? &*collectives : nullptr);
}

JobInput job_of(std::string title, std::vector<RankGraph> graphs,
                const std::vector<RankRecord>& records, const std::vector<RankIdentity>& identities,
                const CollectiveFacts* collectives) {
  return_free_memory(); // of the traces
  JobInput out;
  out.title = std::move(title);
  out.job_ranks = job_ranks(identities);
  set_outstanding(graphs, records, collectives, out.suspects);
  out.clock = clock_of_job(graphs, records, identities, collectives);
  out.run = join_ranks(std::move(graphs), collectives);
  if (collectives != nullptr) {
    const bool pairs = std::ranges::any_of(out.run.collectives, &JobCollective::pair);
    for (const ClockOffset& clock : collectives->offsets)
      if (clock.fit == ClockFit::kAlone && pairs)
        out.clock_error_ns.reset();
      else if (out.clock_error_ns)
        out.clock_error_ns = std::max(*out.clock_error_ns, clock.residual_ns);
    out.suspects.transfers = slow_transfers(out.run, *collectives);
    out.suspects.untested_links = untested_links(collectives->summary);
    out.suspects.small = small_transfers(out.run, *collectives);
    out.suspects.uneven = uneven_exchanges(out.run, *collectives);
    out.suspects.repeated = repeated_reductions(out.run, *collectives);
  }
  return out;
}

} // namespace rankscope
