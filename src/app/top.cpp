#include "app/top.h"

#include "app/analyze_state.h"
#include "app/gpu_work.h"
#include "app/top_parts.h"
#include "app/why.h"
#include "base/counters.h"
#include "engine/rank_source.h"
#include "engine/run_check.h"
#include "engine/shard_file.h"
#include "findings/cause_findings.h"
#include "findings/top_findings.h"
#include "model/gpu_arch.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr std::int64_t kMostPathParts = 8192; ///< about; on a page
constexpr PartName kCausesFact{"causes", kTopCausesVersion};

/// Returns the run as the cache names it; no trace has this rank.
RankFile cached_run(const RunPlan& plan) {
  return {-1, plan.folder, 0, std::nullopt};
}

/// Returns the identity of all traces of a run; "" if the cache cannot be used for them.
std::string run_identity(const Session& session, const RunPlan& plan, const TopRequest& request) {
  if (session.cache == nullptr || plan.parts != nullptr)
    return "";
  const TraceIdentity out = fingerprint_of(plan, top_options_text(request.report));
  return out.unique ? out.text : "";
}

/// Returns the causes from the job graphs, which are moved out of the parts.
Result<TopCauses> causes_of_graphs(const RunPlan& plan, TopParts& parts,
                                   const CollectiveFacts* collectives, const TopRequest& request) {
  JobInput job =
      job_of(plan.folder, std::move(parts.graphs), parts.records, parts.identities, collectives);
  std::vector<PathPart> path = path_parts(job.run, job.run.graph.makespan_ns() / kMostPathParts);
  RS_TRY(const CauseFacts causes, causes_of_job(std::move(job), request.report.gpu_arch));
  return top_causes(causes, std::move(path));
}

/// Returns whether the input is one trace, not the ranks of a run.
bool alone(const Session& session, const TopRequest& request) {
  if (session.source != nullptr)
    return session.source->one_file(request.inputs);
  std::error_code ec;
  return request.inputs.size() == 1 && !std::filesystem::is_directory(request.inputs.front(), ec);
}

TopInput input_of(const TopRequest& request, const std::string& title, bool folder) {
  TopInput out;
  out.title = title;
  out.paths = request.inputs;
  out.folder = folder;
  out.top_k = request.top_k;
  return out;
}

/// Returns the plan of a single file: its trace, or each rank in it.
Result<RunPlan> plan_of_file(const Session& session, const TopRequest& request) {
  const std::string& path = request.inputs.front();
  RunPlan plan;
  plan.folder = path;
  plan.ranks.push_back({0, path, 0, std::nullopt});
  if (path == "-")
    return plan;
  Diagnostics aside; // not shown: the user did not request the other ranks
  Result<RunPlan> found = find_run(session, request.inputs, request.discover, aside);
  if (found && !found->ranks.empty()) {
    plan.ranks = std::move(found->ranks);
    plan.parts = std::move(found->parts);
  }
  return plan; // reading a file that is not a trace fails later
}

/// Returns an error that lists the configurations, if the input is a sweep instead of one of its
/// runs.
std::optional<Error> several_configurations(const Session& session, const TopRequest& request) {
  if (request.inputs.size() != 1)
    return std::nullopt;
  const std::string& folder = request.inputs.front();
  Diagnostics aside;
  const Result<std::vector<RunPlan>> plans = find_sweep(session, folder, request.discover, aside);
  if (!plans || plans->size() < 2)
    return std::nullopt;
  return Error{
      ErrorCode::kUsage, folder,
      fmt::format("contains {} configurations, but this command reads one run", plans->size()),
      fmt::format("one of them, such as {}; or rankscope analyze for all",
                  shell_text({plans->front().folder}))};
}

/// Notes how many ranks of the run are missing next to a single trace. This does not make the
/// session partial.
void note_missing_ranks(const TopParts& parts, Diagnostics& diagnostics) {
  const auto world = parts.identities.front().world_size;
  if (parts.ranks.size() == 1 && world && *world > 1)
    diagnostics.add(counters::one_rank_of_run(*world), parts.ranks.front().path);
}

/// Puts commands behind the first one, in place of equal ones.
void put_first(std::vector<TopNext> commands, std::vector<TopNext>& next) {
  std::erase_if(next, [&commands](const TopNext& step) {
    return std::ranges::find(commands, step.command, &TopNext::command) != commands.end();
  });
  if (!next.empty())
    next.insert(next.begin() + 1, commands.begin(), commands.end());
}

} // namespace

Result<RunPlan> plan_top(Session& session, const TopRequest& request) {
  if (!request.report.gpu_arch.empty() && request.report.gpu_arch != "none")
    RS_CHECK(load_gpu_arch(request.report.gpu_arch));
  if (alone(session, request))
    return plan_of_file(session, request);
  Diagnostics found;
  Result<RunPlan> plan = find_run(session, request.inputs, request.discover, found);
  if (!plan)
    if (std::optional<Error> error = several_configurations(session, request))
      return std::move(*error);
  session.diagnostics.merge(found);
  return plan;
}

std::size_t ranks_of_run(const RunPlan& plan) {
  return plan.parts == nullptr ? plan.ranks.size() : plan.parts->facts().page_ranks;
}

std::optional<CollectiveFacts> collectives_of_top(const TopParts& parts) {
  Result<CollectiveFacts> facts = collective_facts(parts.collectives, {});
  if (!facts)
    return std::nullopt;
  return std::move(*facts);
}

Result<TopFacts> combine_top(Session& session, const RunPlan& plan, TopParts& parts,
                             const CollectiveFacts* collectives, const TopRequest& request,
                             CachedCauses* cached) {
  CachedCauses none;
  auto& [causes, identity] = cached != nullptr ? *cached : none;
  const bool folder = !alone(session, request);
  const TopInput input = input_of(request, plan.folder, folder);
  if (parts.ranks.empty())
    return top_facts(parts, nullptr, session.diagnostics, input);
  const std::vector<std::int64_t> known = known_missing(plan);
  RunExpectation expected;
  expected.known_missing = known;
  expected.all_ranks = folder;
  name_run_problems(session, plan,
                    collectives != nullptr ? check_run(parts.identities, expected, *collectives)
                                           : check_run(parts.identities, expected));
  if (!folder)
    note_missing_ranks(parts, session.diagnostics);
  TopFacts facts = top_facts(parts, collectives, session.diagnostics, input);
  if (!parts.graphs.empty()) {
    RS_TRY(causes, causes_of_graphs(plan, parts, collectives, request));
    if (!identity.empty() && parts.ranks.size() == plan.ranks.size() &&
        identity == run_identity(session, plan, request))
      session.cache->store(cached_run(plan), identity, kCausesFact.name,
                           encode_part(kCausesFact.name, kCausesFact.version, *causes));
  }
  if (causes)
    put_first(with_paths(causes->next, input.paths), facts.next);
  facts.findings = top_findings(facts, parts, collectives, causes ? &*causes : nullptr);
  return facts;
}

Result<TopRead> read_top(Session& session, const RunPlan& plan, const TopRequest& request,
                         TopAlso also) {
  TopRead read;
  TopParts& parts = read.parts;
  auto& [causes, identity] = read.cached;
  const bool wanted = seeks_causes(ranks_of_run(plan));
  if (wanted)
    identity = run_identity(session, plan, request);
  if (!identity.empty())
    if (const auto bytes = session.cache->find(cached_run(plan), identity, kCausesFact.name))
      if (Result<TopCauses> cached =
              decode_part<TopCauses>(kCausesFact.name, kCausesFact.version, *bytes))
        causes = std::move(*cached);
  RankRun run;
  run.memory_bytes = request.memory_bytes;
  run.progress = plan.ranks.size() > 8 || plan.ranks.size() == 1;
  std::optional<Error> first_lost;
  const TopNeeds keys(also.needs, request.report, wanted && !causes);
  FactSteps steps{also.needs, {}};
  steps.consume = [&](const RankItem& item, const LoadedTrace&, RankFacts facts) -> Result<void> {
    session.diagnostics.merge(facts[keys.diagnostics]);
    keys.put(item, facts, parts);
    return also.use ? also.use(item, facts) : Result<void>();
  };
  steps.usable = [&](const RankItem& item, RankFacts& facts) {
    return require_gpu_work(item.file.path, facts[keys.diagnostics]);
  };
  steps.lost = [&](const RankItem&, const Error& error) {
    if (!first_lost)
      first_lost = error;
  };
  run.quiet = alone(session, request) && plan.ranks.size() == 1; // the command reports its error
  RS_CHECK(run_ranks(session, {&plan}, run, std::move(steps)));
  if (parts.ranks.empty())
    return run.quiet && first_lost ? *first_lost : no_rank_left(session, plan.folder);
  if (parts.ranks.size() != plan.ranks.size())
    causes.reset(); // they are those of all ranks
  return read;
}

Result<TopFacts> top_of(Session& session, const TopRequest& request) {
  RS_TRY(const RunPlan plan, plan_top(session, request));
  RS_TRY(TopRead read, read_top(session, plan, request));
  const std::optional<CollectiveFacts> collectives = collectives_of_top(read.parts);
  return combine_top(session, plan, read.parts, collectives ? &*collectives : nullptr, request,
                     &read.cached);
}

Result<TopFacts> top_of_trace(const LoadedTrace& trace, const ReportOptions& options,
                              const Diagnostics& diagnostics, std::size_t top_k) {
  TopRequest request;
  request.inputs = {trace.trace.path};
  request.report = options;
  if (options.gpu_arch.empty())
    request.report.gpu_arch = "none"; // the report has already chosen the GPU
  request.top_k = top_k;
  RunPlan plan;
  plan.folder = trace.trace.path;
  plan.ranks.push_back({trace.rank, trace.trace.path, 0, std::nullopt});
  Session session;
  session.diagnostics = diagnostics;
  const bool causes = trace.trace.python_events_skipped == 0;
  if (!causes)
    session.diagnostics.add(counters::causes_need_python(), plan.folder);
  Needs needs;
  const TopNeeds keys(needs, request.report, causes);
  RS_TRY(RankFacts rank_facts, needs.extract({plan, plan.ranks.front(), 0, 0}, trace));
  TopParts parts;
  keys.put({plan, plan.ranks.front(), 0, 0}, rank_facts, parts);
  const std::optional<CollectiveFacts> collectives = collectives_of_top(parts);
  return combine_top(session, plan, parts, collectives ? &*collectives : nullptr, request);
}

} // namespace rankscope
