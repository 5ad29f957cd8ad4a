#include "app/merge.h"

#include "analyses/collectives/clock_alignment.h"
#include "analyses/job/path_rows.h"
#include "app/job_input.h"
#include "base/counters.h"
#include "collect/samplers/read_counters.h"
#include "core/output_layout.h"
#include "engine/quiet_session.h"
#include "engine/run_check.h"
#include "engine/run_ranks.h"
#include "os/output_file.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <map>

namespace rankscope {
namespace {

/// Returns the clock correction to subtract from the times of each rank. Names ranks that stay on
/// the time base.
Result<std::map<std::int64_t, ClockLine>> clock_lines(Session& ctx, const RunPlan& plan) {
  RankRun linked; // the arguments of a collective may be those of its operator
  linked.quiet = true;
  RS_TRY(const auto ranks,
         extract_ranks<RankCollectives>(
             ctx, {&plan}, linked,
             [](const RankItem&, const LoadedTrace& trace) -> Result<RankCollectives> {
               return extract_collectives(trace);
             }));
  std::map<std::int64_t, ClockLine> out;
  const std::vector<ClockOffset> clocks =
      align_clocks(collective_ends(ranks.front(), match_collectives(ranks.front()).collectives));
  for (const ClockOffset& o : clocks) {
    out[o.rank] = o.used();
    if (!o.aligned())
      ctx.diagnostics.add(counters::merge_not_aligned(clock_note(o)),
                          to_text(RunKey{plan.configuration, o.rank}));
    if (o.fit == ClockFit::kAligned)
      ctx.note(fmt::format("  rank {}: clock {:+.3f} \u00b5s against rank {}, {}residual {:.3f} "
                           "\u00b5s over {} collectives",
                           o.rank, static_cast<double>(o.line.offset_ns) / 1e3, clocks.front().rank,
                           o.line.drift_ppt == 0
                               ? ""
                               : fmt::format("drift {:+.1f} \u00b5s/s, ",
                                             static_cast<double>(o.line.drift_ppt) / 1e6),
                           static_cast<double>(o.residual_ns) / 1e3, o.samples));
  }
  return out;
}

/// Returns the plan with only the chosen ranks. Names chosen ranks without a trace, unless
/// discovery has already named them.
RunPlan chosen_ranks(Session& ctx, const RunPlan& plan, const std::vector<std::int64_t>& ranks) {
  RunPlan out = plan;
  if (ranks.empty())
    return out;
  std::erase_if(out.ranks, [&](const RankFile& file) {
    return std::find(ranks.begin(), ranks.end(), file.rank) == ranks.end();
  });
  std::vector<std::int64_t> absent;
  for (const std::int64_t wanted : ranks)
    if (std::ranges::none_of(out.ranks,
                             [&](const RankFile& file) { return file.rank == wanted; }) &&
        std::ranges::find(plan.missing_ranks, wanted) == plan.missing_ranks.end())
      absent.push_back(wanted);
  if (!absent.empty())
    ctx.diagnostics.add(counters::merge_rank_missing(missing_ranks_text(absent)),
                        plan.configuration.label);
  return out;
}

void check_ranks(Session& ctx, const MergeRequest& request, const RunPlan& plan,
                 const std::vector<RankIdentity>& identities,
                 const std::vector<RankCollectives>& collectives) {
  const std::vector<std::int64_t> known = known_missing(plan);
  RunExpectation expected;
  expected.known_missing = known;
  expected.all_ranks = request.ranks.empty();
  name_run_problems(ctx, plan, check_run(identities, expected, collectives));
}

struct SampledCounters {
  std::string path, process;
  std::vector<CounterTrack> tracks;
};

/// Reads the sample tables. Called before traces are read, so that a wrong file is reported at
/// once.
Result<std::vector<SampledCounters>> sampled_counters(const MergeRequest& request) {
  std::vector<SampledCounters> out;
  for (const std::string& path : request.samples) {
    RS_TRY(std::vector<GpuCounter> counters, read_gpu_counters(path));
    SampledCounters sampled{path, "GPU samples", {}};
    if (request.samples.size() > 1)
      sampled.process += fmt::format(" ({})", path);
    for (GpuCounter& counter : counters) {
      CounterTrack& track = sampled.tracks.emplace_back();
      track.name = fmt::format("GPU {} {} ({})", counter.gpu, counter.quantity, counter.unit);
      for (const auto& [unix_ns, value] : counter.samples)
        track.samples.push_back({unix_ns, value});
    }
    out.push_back(std::move(sampled));
  }
  return out;
}

void add_counters(Session& ctx, const std::vector<SampledCounters>& counters,
                  MergedTraceWriter& writer) {
  for (const SampledCounters& sampled : counters)
    if (writer.add_counters(sampled.process, sampled.tracks) == 0)
      ctx.diagnostics.add(counters::merge_samples_outside(), sampled.path);
}

/// Returns the critical path of the run in the Unix times of the ranks' files, after clock
/// correction.
Result<std::vector<PathSlice>> path_slices(Session& ctx, const RunPlan& plan,
                                           const std::map<std::int64_t, ClockLine>& clocks) {
  QuietSession quiet(ctx.threads); // the merge itself names problems
  RS_TRY(const JobInput job, read_job_of(quiet, plan, 0));
  std::map<std::int64_t, std::int64_t> base_ns; // by rank
  for (const RankGraph& rank : job.run.ranks)
    base_ns[rank.rank] = rank.base_time_ns;
  std::vector<PathSlice> out;
  for (const PathPart& part : path_parts(job.run)) {
    const std::int64_t end = base_ns[part.rank] + part.end_ns;
    const auto clock = clocks.find(part.rank);
    PathSlice& slice = out.emplace_back();
    slice.rank = part.rank;
    slice.end_ns = clock == clocks.end() ? end : end - clock->second.at(end);
    slice.begin_ns = slice.end_ns - (part.end_ns - part.begin_ns);
    slice.name = fmt::format("{}{}{}", part.kind, part.what.empty() ? "" : " ", part.what);
  }
  return out;
}

void count(const MergeSummary& summary, MergedRun& run) {
  run.bytes = summary.bytes;
  for (const MergedRank& rank : summary.ranks) {
    std::uint64_t slices = 0;
    for (const auto& [category, events] : rank.events)
      slices += events;
    run.slices += slices;
    run.flows += rank.flows;
    run.overflow += rank.overflow;
    run.ranks += slices > 0 ? 1 : 0;
  }
}

} // namespace

Result<MergedRun> merge_run(Session& ctx, const MergeRequest& request, const RunPlan& run_plan,
                            const std::string& output) {
  const auto begin = std::chrono::steady_clock::now();
  const RunPlan plan = chosen_ranks(ctx, run_plan, request.ranks);
  if (plan.ranks.empty())
    return Error{ErrorCode::kUnreadable, plan.folder, "no rank to merge", ""};
  RS_TRY(const std::vector<SampledCounters> counters, sampled_counters(request));
  RS_TRY(MergedTraceWriter writer, MergedTraceWriter::create(output, request.options));
  std::map<std::int64_t, ClockLine> clocks;
  if (request.align) {
    RS_TRY(clocks, clock_lines(ctx, plan));
  }
  std::vector<PathSlice> path;
  if (request.critical_path) {
    RS_TRY(path, path_slices(ctx, plan, clocks));
  }
  MergedRun run;
  run.label = plan.configuration.label;
  run.output = output;
  std::vector<RankIdentity> identities;
  std::vector<RankCollectives> collectives;
  struct Part {
    RankIdentity identity;
    RankCollectives collectives;
  };
  RankSteps<Part> steps;
  steps.extract = [](const RankItem& item, const LoadedTrace& trace) -> Result<Part> {
    return Part{identity_of(trace.trace, item.file.rank),
                described_collectives(trace.trace, item.file.rank)};
  };
  steps.consume = [&](const RankItem& item, const LoadedTrace& trace, Part part) -> Result<void> {
    ctx.diagnostics.merge(trace.trace.diagnostics);
    run.input_bytes += trace.trace.input_bytes;
    writer.add(trace.trace, item.file.rank, clocks[item.file.rank], ctx.diagnostics);
    identities.push_back(std::move(part.identity));
    collectives.push_back(std::move(part.collectives));
    return {};
  };
  RankRun unlinked;
  unlinked.link = false; // a merged trace needs no call trees
  RS_CHECK(run_ranks<Part>(ctx, {&plan}, unlinked, std::move(steps)));
  if (identities.empty())
    return no_rank_left(ctx, plan.folder);
  if (request.check)
    check_ranks(ctx, request, plan, identities, collectives);
  writer.add_path("critical path", path);
  add_counters(ctx, counters, writer);
  RS_TRY(const MergeSummary summary, writer.finish());
  count(summary, run);
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return run;
}

Result<void> merge_sweep(Session& ctx, const MergeRequest& request, const std::string& sweep,
                         const DiscoverOptions& discover, const std::string& folder,
                         const std::function<void(const MergedRun&)>& merged) {
  RS_TRY(const std::vector<RunPlan> plans, discover_sweep(sweep, discover, ctx.diagnostics));
  const std::string to = folder.empty() ? fmt::format("{}/{}", sweep, kMergedFolder) : folder;
  RS_CHECK(make_folder(to));
  std::size_t failed = 0;
  for (const RunPlan& plan : plans) {
    const std::string out = fmt::format("{}/{}{}", to, merged_trace_name(plan.configuration),
                                        request.options.gzip ? ".gz" : "");
    const Result<MergedRun> run = merge_run(ctx, request, plan, out);
    if (run) {
      merged(*run);
      continue;
    }
    if (run.error().code == ErrorCode::kOutput)
      return run.error(); // a full disk stays full
    ++failed;
    ctx.diagnostics.add(counters::merge_run_failed(plan.configuration.label, run.error().what),
                        plan.folder);
  }
  if (failed == plans.size())
    return Error{ErrorCode::kUnreadable, sweep, "no configuration could be merged", ""};
  return {};
}

} // namespace rankscope
