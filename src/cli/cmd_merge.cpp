// rankscope merge: the ranks of a run as one trace for Perfetto; --all for every configuration.
#include "analyses/collectives/clock_alignment.h"
#include "base/json_text.h"
#include "cli/command.h"
#include "cli/discover_flags.h"
#include "core/output_layout.h"
#include "core/steps.h"
#include "readers/discovery.h"
#include "readers/reader.h"
#include "writers/merged_trace.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <future>
#include <map>
#include <memory>

namespace rankscope {
namespace {

struct Flags {
  std::vector<std::string> inputs;
  std::string out;
  bool all = false;
  bool gz = false;
  std::string align = "base";
  std::string step;
  std::vector<std::int64_t> ranks;
  MergeOptions merge;
  DiscoverOptions discover;
};

Result<Trace> read_rank(const RankFile& file, unsigned threads) {
  ReadOptions options;
  options.threads = threads;
  return read_trace(file.path, options);
}

/// Reads every file in order, the next one while the last is being used; an unreadable one is
/// named in the diagnostics (once: the second pass is quiet) and left out.
void for_each_rank(Context& ctx, const std::vector<RankFile>& files, bool report,
                   const std::function<void(const RankFile&, const Trace&)>& use) {
  const unsigned share = std::max(1U, ctx.threads > 1 ? ctx.threads - 1 : 1U);
  const auto start = [&](std::size_t i) {
    return std::async(ctx.threads > 1 ? std::launch::async : std::launch::deferred,
                      [&files, i, share] { return read_rank(files[i], share); });
  };
  std::future<Result<Trace>> next = start(0);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Result<Trace> trace = next.get();
    if (i + 1 < files.size())
      next = start(i + 1);
    if (trace) {
      if (report)
        ctx.diagnostics.merge(trace->diagnostics);
      use(files[i], *trace);
    } else if (report) {
      ctx.diagnostics.add(
          Severity::kDataLoss, fmt::format("merge_rank_unreadable_{}", files[i].path),
          files[i].path, fmt::format("rank {} is left out: {}", files[i].rank, trace.error().what));
    }
  }
}

/// Offset of each rank's clock, by the ends of the collectives; 0 where nothing is shared.
std::map<std::int64_t, std::int64_t> clock_offsets(Context& ctx, const std::vector<RankFile>& files,
                                                   const std::string& label) {
  std::vector<CollectiveEnds> ends;
  for_each_rank(ctx, files, false, [&](const RankFile& file, const Trace& trace) {
    ends.push_back(collective_ends(trace, file.rank));
  });
  std::map<std::int64_t, std::int64_t> out;
  for (const ClockOffset& o : align_clocks(ends)) {
    out[o.rank] = o.offset_ns;
    if (!o.aligned)
      ctx.diagnostics.add(Severity::kWarning, "merge_not_aligned", label,
                          fmt::format("rank {} shares no collective with the others; its clock is "
                                      "left as it is",
                                      o.rank));
    else if (o.via != o.rank)
      ctx.note(
          fmt::format("  rank {}: clock {:+.3f} us against rank {}, residual {:.3f} us over {} "
                      "collectives",
                      o.rank, static_cast<double>(o.offset_ns) / 1e3, ends[0].rank,
                      static_cast<double>(o.residual_ns) / 1e3, o.samples));
  }
  return out;
}

/// One run into one file, rank after rank.
Result<void> merge_run(Context& ctx, const Flags& f, const RunPlan& plan, const std::string& out) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<RankFile> files;
  for (const RankFile& file : plan.ranks)
    if (f.ranks.empty() || std::find(f.ranks.begin(), f.ranks.end(), file.rank) != f.ranks.end())
      files.push_back(file);
  for (const std::int64_t wanted : f.ranks)
    if (std::none_of(files.begin(), files.end(),
                     [&](const RankFile& file) { return file.rank == wanted; }))
      ctx.diagnostics.add(Severity::kDataLoss, "merge_rank_missing", plan.configuration.label,
                          fmt::format("rank {} has no trace", wanted));
  if (files.empty())
    return Error{ErrorCode::kUnreadable, plan.folder, "no rank to merge", ""};
  RS_TRY(MergedTraceWriter writer, MergedTraceWriter::create(out, f.merge));
  std::map<std::int64_t, std::int64_t> offsets;
  if (f.align == "collectives")
    offsets = clock_offsets(ctx, files, plan.configuration.label);
  std::size_t merged = 0;
  std::uint64_t input_bytes = 0;
  for_each_rank(ctx, files, true, [&](const RankFile& file, const Trace& trace) {
    input_bytes += trace.input_bytes;
    writer.add(trace, file.rank, offsets[file.rank], ctx.diagnostics);
    ++merged;
  });
  if (merged == 0)
    return Error{ErrorCode::kUnreadable, plan.folder, "no rank could be read", ""};
  RS_TRY(const MergeSummary summary, writer.finish());
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::uint64_t slices = 0;
  std::uint64_t flows = 0;
  std::uint64_t overflow = 0;
  std::size_t ranks = 0;
  for (const MergedRank& rank : summary.ranks) {
    std::uint64_t own = 0;
    for (const auto& [category, count] : rank.events)
      own += count;
    slices += own;
    flows += rank.flows;
    overflow += rank.overflow;
    ranks += own > 0 ? 1 : 0;
  }
  if (ctx.json)
    ctx.out(fmt::format("{{\"label\": \"{}\", \"output\": \"{}\", \"ranks\": {}, \"slices\": {}, "
                        "\"flows\": {}, \"overflow_slices\": {}, \"bytes\": {}, \"seconds\": "
                        "{:.3f}}}\n",
                        json_escaped(plan.configuration.label), json_escaped(out), ranks, slices,
                        flows, overflow, summary.bytes, seconds));
  else if (out != "-")
    ctx.out(fmt::format("{}: {} ranks, {} slices ({} on overflow tracks), {} arrows, {:.1f} MB, "
                        "{:.2f} s ({:.0f} MB/s of input)\n",
                        out, ranks, slices, overflow, flows,
                        static_cast<double>(summary.bytes) / 1e6, seconds,
                        static_cast<double>(input_bytes) / 1e6 / std::max(seconds, 1e-9)));
  return {};
}

Result<void> merge_all(Context& ctx, const Flags& f) {
  if (f.inputs.size() != 1)
    return Error{ErrorCode::kUsage, "--all", "takes one sweep folder", ""};
  RS_TRY(const std::vector<RunPlan> plans,
         discover_sweep(f.inputs[0], f.discover, ctx.diagnostics));
  if (plans.empty())
    return Error{ErrorCode::kUnreadable, f.inputs[0], "no trace found below this folder", ""};
  const std::string folder =
      f.out.empty() ? fmt::format("{}/{}", f.inputs[0], kMergedFolder) : f.out;
  RS_CHECK(make_folder(folder));
  std::size_t failed = 0;
  for (const RunPlan& plan : plans) {
    const std::string out =
        folder + "/" + merged_trace_name(plan.configuration) + (f.gz ? ".gz" : "");
    Result<void> done = merge_run(ctx, f, plan, out);
    if (done)
      continue;
    if (done.error().code == ErrorCode::kOutput)
      return done; // a full disk will not get better
    ++failed;
    ctx.diagnostics.add(
        Severity::kDataLoss, "merge_run_failed", plan.folder,
        fmt::format("{} is not merged: {}", plan.configuration.label, done.error().what));
  }
  if (failed == plans.size())
    return Error{ErrorCode::kUnreadable, f.inputs[0], "no configuration could be merged", ""};
  return {};
}

Action setup(CLI::App& app) {
  auto f = std::make_shared<Flags>();
  app.add_option("TRACES", f->inputs, "folder of rank traces, or the files; with --all a sweep")
      ->required();
  app.add_option("-o,--output", f->out,
                 "merged trace, .json or .json.gz, '-' for standard output; with --all a folder "
                 "(default SWEEP/merged_traces)");
  app.add_flag("--all", f->all, "merge every configuration of a sweep");
  app.add_flag("--gz", f->gz, "compress");
  app.add_option("--align", f->align,
                 "base: by baseTimeNanoseconds; collectives: also by the ends of collectives")
      ->check(CLI::IsMember({"base", "collectives"}))
      ->capture_default_str();
  app.add_flag("--cpu-ops", f->merge.cpu_ops, "keep operators and forward-backward arrows");
  app.add_option("--step", f->step, "only ProfilerStep N, or A:B");
  app.add_option("--from-ms", f->merge.from_ms, "window from the first event of the first rank");
  app.add_option("--to-ms", f->merge.to_ms, "end of the window");
  app.add_option("--ranks", f->ranks, "only these ranks")->delimiter(',');
  add_discover_flags(app, f->discover, true, "--trace-step");
  return [f](Context& ctx) -> Result<void> {
    if (!f->step.empty()) {
      RS_TRY(f->merge.steps, parse_steps(f->step));
    }
    f->merge.gzip = f->gz;
    if (f->all)
      return merge_all(ctx, *f);
    if (f->out.empty())
      return Error{ErrorCode::kUsage, "merge", "needs -o OUT.json", ""};
    RS_TRY(const RunPlan plan, discover_run(f->inputs, f->discover, ctx.diagnostics));
    return merge_run(ctx, *f, plan, f->out);
  };
}

} // namespace

const Command merge_command{
    "merge", "join the traces of all ranks into one for Perfetto",
    "  rankscope merge 256thread/nccl_28channels/torch_profiler -o m.json.gz\n"
    "  rankscope merge --all sweep --step 19",
    setup};

} // namespace rankscope
