#include "synth/synth.h"

#include "os/tasks.h"
#include "synth/synth_emit.h"
#include "synth/synth_rocpd.h"
#include "synth/synth_rocprof.h"
#include "synth/synth_truth.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <optional>

namespace rankscope::synth {
namespace {

Error bad(std::string what, std::string hint = "") {
  return {ErrorCode::kUsage, "synth", std::move(what), std::move(hint)};
}

constexpr std::int64_t kMostRanks = 65'536;
constexpr std::int64_t kFramesPerOperator = 4; ///< without --python-events

bool is_written(const Options& o, std::int64_t rank) {
  const bool chosen =
      o.only_ranks.empty() || std::ranges::any_of(o.only_ranks, [rank](const auto& range) {
        return range.first <= rank && rank <= range.second;
      });
  return chosen && std::ranges::find(o.missing_ranks, rank) == o.missing_ranks.end();
}

bool factor(double v) {
  return v > 0 && v < 1000;
}

bool has_config(const Options& o, const std::string& label) {
  for (const std::int64_t t : o.threads)
    for (const std::int64_t c : o.channels)
      if (label_of(o, {t, c}) == label)
        return true;
  return false;
}

/// Checks the causes of --inject that add or change work.
Result<void> check_injected(const Options& o) {
  std::vector<std::int64_t> ranks = {o.inject.overlap_rank, o.inject.more_rank, o.inject.data_rank,
                                     o.inject.host_rank,    o.inject.op_rank,   o.inject.copy_rank,
                                     o.inject.exchange_rank};
  for (const InjectedWork& cause : o.inject.work)
    ranks.push_back(cause.rank);
  for (const std::int64_t rank : ranks)
    if (rank >= o.ranks)
      return bad(fmt::format("--inject: rank {} does not exist with --ranks {}", rank, o.ranks));
  if (o.format != TraceFormat::kKineto &&
      (o.inject.overlap_rank >= 0 || o.inject.more_rank >= 0 || !o.inject.work.empty() ||
       o.inject.passes > 0 || o.inject.exchange_rank >= 0 || o.inject.optimizer_tensors > 0 ||
       o.inject.pointwise || o.inject.scores || o.inject.recompute ||
       o.inject.vocabulary_factor > 0))
    return bad("--inject: causes that add kernels, calls or host time need --format kineto");
  for (const InjectedWork& cause : o.inject.work)
    if (cause.ms > (is_in_mb(cause.cause) ? 100'000 : 1000) || cause.count < 1 ||
        cause.count > 10000)
      return bad(
          fmt::format("--inject {}: takes at most 1000 ms or 100000 MB, and a count of 1 to 10000",
                      added_work_name(cause.cause)));
  if (o.inject.glitch_ms > 1e4)
    return bad("--inject glitch: takes at most 10000 ms");
  if (o.inject.small_count > 10000 || o.inject.small_bytes > 1'000'000'000 ||
      (o.inject.small_count > 0 && o.inject.small_bytes < 4))
    return bad("--inject small-collectives: takes a count of at most 10000, and 0.004 to 1000000 "
               "kb");
  if (!(o.inject.profiler_start_ms >= 0 && o.inject.profiler_start_ms <= 1e6))
    return bad("--inject profiler-start: takes 0 to 1000000 ms");
  if (!(o.inject.pause_ms <= 1e4) || o.inject.pause_period < 1)
    return bad("--inject pause: takes at most 10000 ms, and a period of at least one step");
  if (!o.nvidia && (o.inject.products != ProductFormat::kBf16 || o.inject.convolutions > 0))
    return bad("--inject fp32, tf32 and convolution: need --vendor nvidia");
  if (o.inject.convolutions > 10000 || !(o.inject.vocabulary_factor < 1000))
    return bad(
        "--inject convolution, vocabulary: take a count of at most 10000, and a factor below "
        "1000");
  if (o.inject.optimizer_tensors > 10000)
    return bad("--inject optimizer-loop: takes at most 10000 tensors");
  if (o.inject.passes > 64)
    return bad("--inject accumulate: takes at most 64 passes");
  for (const double f : {o.inject.host_factor, o.inject.op_factor, o.inject.copy_factor,
                         o.inject.exchange_factor, o.inject.shape_factor})
    if (!factor(f))
      return bad("--inject: the factor must be positive");
  if (o.inject.data_rank >= 0 &&
      (!factor(o.inject.data_factor) || o.process_groups > 1 || o.inject.batch || o.inject.tile))
    return bad(
        "--inject data: needs rank=R,factor=F with a positive factor, one process group, and "
        "neither 'batch' nor 'tile'");
  if (!factor(o.inject.first_layer))
    return bad("--inject place: needs factor=F with a positive factor");
  return {};
}

/// Checks the options that slow down parts of a run.
Result<void> check_switches(const Options& o) {
  if (!(o.contention >= 0 && o.contention <= 100))
    return bad("--contention: must be 0 to 100");
  if (!(o.step_sd >= 0 && o.step_sd <= 0.25))
    return bad("--step-noise: the standard deviation must be 0 to 0.25");
  RS_CHECK(check_injected(o));
  if (const std::int64_t last = std::max(o.throttled, o.throttled_last); last >= o.ranks)
    return bad(fmt::format("rank {} does not exist with --ranks {}", last, o.ranks));
  if (!factor(o.throttle_factor))
    return bad("--throttle: needs RANKS:FACTOR with a positive factor");
  for (const SlowConfig& slow : o.slow_configs)
    if (!has_config(o, slow.label) || !factor(slow.factor))
      return bad(
          fmt::format("--slow-config: no configuration {}, or no positive factor", slow.label),
          fmt::format("give LABEL:FACTOR as in {}:1.05",
                      label_of(o, {o.threads.front(), o.channels.front()})));
  for (const SlowLink& link : o.slow_links)
    if (link.a < 0 || link.b < 0 || link.a >= o.ranks || link.b >= o.ranks || link.a == link.b ||
        !factor(link.factor))
      return bad("--slow-link: needs RANK-RANK:FACTOR with two ranks and a positive factor");
  return {};
}

Result<void> check(const Options& o) {
  if (o.format != TraceFormat::kKineto && (o.gz || o.nvidia || o.python_events > 0))
    return bad("--format: formats of AMD's tools are for AMD GPUs, without compression or Python "
               "frames");
  if (o.threads.empty() || o.channels.empty())
    return bad("needs at least one value for --threads and --channels");
  for (const std::vector<std::int64_t>* list : {&o.threads, &o.channels})
    for (const std::int64_t v : *list)
      if (v < 1 || v > 4096)
        return bad(fmt::format("{} threads or channels: must be 1 to 4096", v));
  if (o.ranks < 1 || o.ranks > kMostRanks)
    return bad(fmt::format("--ranks: must be 1 to {}", kMostRanks));
  if (o.layers < 1 || o.layers > 1000)
    return bad("--layers: must be 1 to 1000");
  if (o.steps < 1 || o.steps > 1000000)
    return bad("--steps: must be 1 to 1000000");
  if (o.gpus_per_node < 1 || o.gpus_per_node > 64)
    return bad("--gpus-per-node: must be 1 to 64");
  if (o.process_groups > 1 && o.ranks % 2 != 0)
    return bad("--process-groups 2 needs an even number of ranks");
  if ((o.shift_window >= 0 || o.fewer_steps >= 0) && o.steps < 2)
    return bad("--shift-window and --fewer-steps need at least two steps", "raise --steps");
  if (o.shift_window >= 0 && o.shift_window == o.fewer_steps && o.steps < 3)
    return bad("--shift-window and --fewer-steps of one rank need at least three steps");
  for (const std::int64_t r : {o.straggler, o.shift_window, o.fewer_steps})
    if (r >= o.ranks)
      return bad(fmt::format("rank {} does not exist with --ranks {}", r, o.ranks));
  for (const auto& [first, last] : o.only_ranks)
    if (first < 0 || last < first || last >= o.ranks)
      return bad(fmt::format("--only-ranks {}-{}: no ranks of 0 to {}", first, last, o.ranks - 1));
  if (o.noise < 0 || o.noise > 0.25)
    return bad("--noise: must be 0 to 0.25");
  if (!(o.gemm_scale > 0 && o.gemm_scale < 1000))
    return bad("--gemm-scale: needs a positive factor");
  if (o.clock_offset_us < 0 || o.clock_offset_us > 1e9)
    return bad("--clock-offset-us: must be 0 to 1e9");
  return check_switches(o);
}

bool is_trace_name(const std::string& name) {
  for (const char* ending : {".json", ".json.gz", ".json.zst", ".db", ".rpd"})
    if (name.ends_with(ending))
      return true;
  return false;
}

/// Rejects a folder with a generated sweep (it has a ground truth file) or other traces. Two sweeps
/// in one folder would be read as one, with the ground truth of the second.
Result<void> check_folder(const Options& o, const std::string& out) {
  namespace fs = std::filesystem;
  std::error_code ec;
  if (o.force || !fs::exists(out, ec))
    return {};
  if (fs::exists(out + "/ground_truth.json", ec))
    return Error{ErrorCode::kUsage, out, "contains another sweep", "--force overwrites it"};
  for (fs::recursive_directory_iterator at(out, ec), end; !ec && at != end; at.increment(ec))
    if (is_trace_name(at->path().filename().string()))
      return Error{ErrorCode::kUsage, out,
                   "contains files that may be traces of another sweep: " + at->path().string(),
                   "--force writes the new traces among them"};
  return {};
}

std::string folder_of(const Options& o, const Config& c) {
  return o.cu_layout ? fmt::format("{}cu_{}threads", c.channels, c.threads)
                     : fmt::format("{}thread/nccl_{}channels", c.threads, c.channels);
}

/// Returns the path of a rank's trace, relative to the sweep.
std::string file_of(const Options& o, const std::string& folder, std::int64_t rank) {
  switch (o.format) {
  case TraceFormat::kRocpd:
    return fmt::format("{}/rocprofv3/rank{}_results.db", folder, rank);
  case TraceFormat::kRpd:
    return fmt::format("{}/rpd/rank{}.rpd", folder, rank);
  case TraceFormat::kRocprofCsv:
    return fmt::format("{}/rocprofv3/rank{}_kernel_trace.csv", folder, rank);
  case TraceFormat::kRocprofJson:
    return fmt::format("{}/rocprofv3/rank{}_results.json", folder, rank);
  case TraceFormat::kKineto:
    break;
  }
  return fmt::format("{}/torch_profiler/rank{}/{}{}", folder, rank,
                     o.cu_layout ? "trace.json" : "trace_step19.json", o.gz ? ".gz" : "");
}

auto emitter_of(TraceFormat format) {
  switch (format) {
  case TraceFormat::kRocpd:
    return emit_rank_rocpd;
  case TraceFormat::kRpd:
    return emit_rank_rpd;
  case TraceFormat::kRocprofCsv:
    return emit_rank_rocprof_csv;
  case TraceFormat::kRocprofJson:
    return emit_rank_rocprof_json;
  case TraceFormat::kKineto:
    break;
  }
  return emit_rank;
}

/// Returns the number of steps that give at least `events` events per rank.
std::int64_t steps_for(const Options& o, const Program& p) {
  std::int64_t per_step = 1; // the GPU annotation
  const auto recorded = [](const auto& item) { return item.only_rank != kNoRank; };
  for (const Op& op : p.ops)
    if (recorded(op))
      per_step += op.flow == OpFlow::kNone ? 1 : 2;
  per_step +=
      2 * (std::ranges::count_if(p.calls, recorded) + std::ranges::count_if(p.kernels, recorded));
  const std::int64_t wanted = std::max<std::int64_t>(0, o.events - o.python_events);
  return std::max(o.steps, (wanted + per_step - 1) / per_step);
}

constexpr std::array<std::string_view, kAddedWorks> kAddedWorkNames = {
    "loader", "python", "alloc",     "pin",        "item",    "pageable", "input",
    "pieces", "cat",    "zero-grad", "checkpoint", "collect", "compile",  "side"};

} // namespace

std::string_view added_work_name(AddedWork cause) {
  return kAddedWorkNames[static_cast<std::size_t>(cause)];
}

Result<Summary> generate(const Options& given, const std::string& out, unsigned threads,
                         const std::function<void(const std::string&)>& progress) {
  RS_CHECK(check(given));
  RS_CHECK(check_folder(given, out));
  Options o = given;
  const Groups groups = make_groups(o);
  const Program usual = make_program(o, groups);
  const Program last = make_program(o, groups, true);
  const Program data = make_program(o, groups, false, o.inject.data_factor);
  o.steps = steps_for(o, usual);
  // frames of a cause are in a recording with frames of everything
  if (o.python_events == 0 && std::ranges::any_of(usual.ops, &Op::frame))
    o.python_events = kFramesPerOperator * usual.python_ops * o.steps;
  RS_CHECK(make_folder(out));
  Summary summary;
  summary.truth_path = out + "/ground_truth.json";
  RS_TRY(Truth truth, Truth::create(summary.truth_path, o));
  for (const std::int64_t t : o.threads) {
    for (const std::int64_t c : o.channels) {
      const Config config{t, c};
      const Program& program = t == o.threads.back() && c == o.channels.back() ? last : usual;
      const Run run = simulate(o, program, groups, config, &data);
      const std::string folder = folder_of(o, config);
      std::vector<RankOutput> outputs(static_cast<std::size_t>(o.ranks));
      std::mutex mutex;
      std::optional<Error> failed;
      RS_CHECK(parallel_for(outputs.size(), threads, [&](std::size_t r) {
        const auto rank = static_cast<std::int64_t>(r);
        if (!is_written(o, rank))
          return;
        outputs[r].file = file_of(o, folder, rank);
        const std::string path = out + "/" + outputs[r].file;
        Result<void> made = make_folder(path.substr(0, path.rfind('/')));
        const auto emit = emitter_of(o.format);
        const Program& rank_program = rank == o.inject.data_rank ? data : program;
        Result<EmitResult> result = made ? emit(o, rank_program, groups, run, rank, path)
                                         : Result<EmitResult>(std::move(made.error()));
        if (result) {
          outputs[r].written = true;
          outputs[r].emitted = std::move(*result);
          return;
        }
        const std::lock_guard lock(mutex);
        if (!failed)
          failed = std::move(result.error());
      }));
      if (failed)
        return std::move(*failed);
      for (const RankOutput& rank : outputs) {
        if (!rank.written)
          continue;
        ++summary.files;
        summary.bytes += rank.emitted.bytes;
        summary.events += rank.emitted.events;
      }
      truth.add(program, groups, run, folder, outputs);
      if (progress)
        progress(folder);
    }
  }
  RS_CHECK(truth.commit());
  return summary;
}

} // namespace rankscope::synth
