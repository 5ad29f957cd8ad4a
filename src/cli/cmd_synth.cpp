// rankscope synth OUT: a synthetic sweep with its ground truth.
#include "cli/command.h"
#include "synth/synth.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rankscope {
namespace {

struct Flags {
  synth::Options options;
  std::string out;
  std::string vendor = "amd";
  std::string layout = "thread";
  std::string clock_scope = "rank";
  std::string straggler;
  std::string throttle;
  std::vector<std::string> slow_configs, slow_links;
  bool no_seq = false;
};

/// "WHAT:FACTOR"; the factor is what stands behind the last colon.
Result<std::pair<std::string, double>> with_factor(const char* flag, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::string number = colon == std::string::npos ? "" : text.substr(colon + 1);
  double factor = 0;
  if (colon == 0 || !CLI::detail::lexical_cast(number, factor) || !(factor > 0))
    return Error{ErrorCode::kUsage, flag, fmt::format("'{}' has no positive factor", text),
                 "as in WHAT:1.05"};
  return std::pair(text.substr(0, colon), factor);
}

Result<std::int64_t> rank_of(const char* flag, const std::string& text) {
  if (text.empty() || text.size() > 6 || text.find_first_not_of("0123456789") != std::string::npos)
    return Error{ErrorCode::kUsage, flag, fmt::format("'{}' is no rank", text), ""};
  return std::stoll(text);
}

/// What is slower than the model has it.
Result<void> read_switches(const Flags& f, synth::Options& o) {
  if (!f.throttle.empty()) {
    RS_TRY(const auto slow, with_factor("--throttle", f.throttle));
    RS_TRY(o.throttled, rank_of("--throttle", slow.first));
    o.throttle_factor = slow.second;
  }
  for (const std::string& text : f.slow_configs) {
    RS_TRY(const auto slow, with_factor("--slow-config", text));
    o.slow_configs.push_back({slow.first, slow.second});
  }
  for (const std::string& text : f.slow_links) {
    RS_TRY(const auto slow, with_factor("--slow-link", text));
    const std::size_t dash = slow.first.find('-');
    if (dash == std::string::npos)
      return Error{ErrorCode::kUsage, "--slow-link", fmt::format("'{}' names no two ranks", text),
                   "as in 0-1:2"};
    RS_TRY(const std::int64_t a, rank_of("--slow-link", slow.first.substr(0, dash)));
    RS_TRY(const std::int64_t b, rank_of("--slow-link", slow.first.substr(dash + 1)));
    o.slow_links.push_back({a, b, slow.second});
  }
  return {};
}

Action setup(CLI::App& app) {
  auto f = std::make_shared<Flags>();
  synth::Options& o = f->options;
  app.add_option("OUT", f->out, "folder for the sweep and ground_truth.json")->required();
  app.add_option("--threads", o.threads, "thread settings")->delimiter(',')->capture_default_str();
  app.add_option("--channels,--cus", o.channels, "channel settings (CUs with --layout cu)")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--ranks", o.ranks, "ranks per configuration")->capture_default_str();
  app.add_option("--layers", o.layers, "transformer layers")->capture_default_str();
  app.add_option("--steps", o.steps, "training steps per trace")->capture_default_str();
  app.add_option("--seed", o.seed, "equal seeds give equal bytes")->capture_default_str();
  app.add_flag("--gz", o.gz, "compress the traces");
  app.add_option("--vendor", f->vendor, "kernel and runtime names")
      ->check(CLI::IsMember({"amd", "nvidia"}))
      ->capture_default_str();
  app.add_option("--layout", f->layout, "thread: <T>thread/nccl_<C>channels, cu: <CU>cu_<T>threads")
      ->check(CLI::IsMember({"thread", "cu"}))
      ->capture_default_str();
  app.add_option("--events", o.events, "at least this many events per trace (raises --steps)");
  app.add_option("--python-events", o.python_events, "python_function events per trace");
  app.add_option("--straggler", f->straggler, "slow rank, or none (default: chosen by the seed)");
  app.add_option("--straggler-us", o.straggler_us, "its extra compute per step")
      ->capture_default_str();
  app.add_option("--clock-offset-us", o.clock_offset_us, "clock offsets drawn from +- this");
  app.add_option("--clock-scope", f->clock_scope, "who shares a clock: rank or node")
      ->check(CLI::IsMember({"rank", "node"}))
      ->capture_default_str();
  app.add_flag("--distinct-base", o.distinct_base, "another baseTimeNanoseconds on each rank");
  app.add_option("--missing-rank", o.missing_ranks, "leave these ranks out")->delimiter(',');
  app.add_option("--shift-window", o.shift_window, "this rank's window lacks the first step");
  app.add_option("--fewer-steps", o.fewer_steps, "this rank's window lacks the last step");
  app.add_option("--gpus-per-node", o.gpus_per_node, "GPUs per node")->capture_default_str();
  app.add_option("--process-groups", o.process_groups,
                 "1: one group, 2: data parallel x tensor parallel")
      ->check(CLI::Range(1, 2))
      ->capture_default_str();
  app.add_option("--gemm-scale", o.gemm_scale, "factor on the time of every GEMM")
      ->capture_default_str();
  app.add_option("--noise", o.noise, "relative standard deviation of kernel times")
      ->capture_default_str();
  app.add_option("--contention", o.contention,
                 "factor on the slow-down of GEMMs beside collectives, 0: none")
      ->capture_default_str();
  app.add_flag("--equal-configs", o.equal_configs,
               "every configuration is as fast as the first one");
  app.add_flag("--equal-devices", o.equal_devices, "no differences between the ranks' devices");
  app.add_option("--slow-config", f->slow_configs,
                 "LABEL:FACTOR: all GPU work of a configuration is slower")
      ->delimiter(',');
  app.add_option("--throttle", f->throttle, "RANK:FACTOR: a rank whose compute is slower");
  app.add_option("--slow-link", f->slow_links,
                 "RANK-RANK:FACTOR: collectives of groups with both take longer")
      ->delimiter(',');
  app.add_flag("--force", o.force, "write into a folder that holds another sweep");
  app.add_flag("--no-seq", f->no_seq, "leave out the Seq argument, as older producers do");
  return [f](Context& ctx) -> Result<void> {
    synth::Options& options = f->options;
    options.nvidia = f->vendor == "nvidia";
    options.cu_layout = f->layout == "cu";
    options.clock_per_node = f->clock_scope == "node";
    options.seq = !f->no_seq;
    if (f->straggler == "none") {
      options.straggler = -1;
    } else if (!f->straggler.empty()) {
      const auto digits = f->straggler.find_first_not_of("0123456789");
      if (digits != std::string::npos || f->straggler.size() > 6)
        return Error{ErrorCode::kUsage, "--straggler", "want a rank or 'none'", ""};
      options.straggler = std::stoll(f->straggler);
    }
    RS_CHECK(read_switches(*f, options));
    const auto begin = std::chrono::steady_clock::now();
    RS_TRY(const synth::Summary s,
           synth::generate(options, f->out, ctx.threads,
                           [&ctx](const std::string& folder) { ctx.note("  " + folder); }));
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (ctx.json)
      ctx.out(fmt::format("{{\"files\": {}, \"bytes\": {}, \"events\": {}, \"seconds\": {:.3f}, "
                          "\"ground_truth\": \"{}\"}}\n",
                          s.files, s.bytes, s.events, seconds, s.truth_path));
    else
      ctx.out(fmt::format("{} traces, {} events, {:.1f} MB of JSON in {:.2f} s ({:.0f} MB/s)\n"
                          "ground truth: {}\n",
                          s.files, s.events, static_cast<double>(s.bytes) / 1e6, seconds,
                          static_cast<double>(s.bytes) / 1e6 / seconds, s.truth_path));
    return {};
  };
}

} // namespace

const Command synth_command{
    "synth", "generate a multi-rank training sweep with known answers",
    "  rankscope synth sweep --threads 256,512 --channels 28,42,56,70 --ranks 8\n"
    "  rankscope synth slow --slow-config 512thread_28ch:1.05 --throttle 3:1.1 --slow-link 0-1:2\n"
    "  rankscope synth big --threads 256 --channels 28 --ranks 1 --events 3000000 --gz",
    setup};

} // namespace rankscope
