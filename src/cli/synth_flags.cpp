#include "cli/synth_flags.h"

#include "app/written_files.h"
#include "writers/writer.h"

namespace rankscope {

void add_synth_size(FlagSet& app, synth::Options& o) {
  app.add(options::threads, o.threads, "thread settings").delimiter(',').capture_default_str();
  app.add(options::channels.also(",--cus"), o.channels, "channel settings (CUs with --layout cu)")
      .delimiter(',')
      .capture_default_str();
  app.add(options::ranks, o.ranks, "ranks per configuration").capture_default_str();
  app.add(options::gpus_per_node, o.gpus_per_node, "GPUs per node").capture_default_str();
  app.add_option("--process-groups", o.process_groups,
                 "1: one group, 2: data parallel x tensor parallel")
      .range(1, 2)
      .capture_default_str();
  app.add_option("--layers", o.layers, "transformer layers").capture_default_str();
  app.add(options::steps, o.steps, "training steps per trace").capture_default_str();
  app.add_option("--events", o.events, "minimum number of events per trace (raises --steps)");
  app.add_option("--python-events", o.python_events, "python_function events per trace");
  app.add(options::seed, o.seed, "seed of the random numbers; equal seeds give equal bytes")
      .capture_default_str();
}

void add_synth_server(FlagSet& app, SynthServer& server) {
  synth::InferenceOptions& o = server.options;
  app.add_option("--program", server.program,
                 "training: the sweep; inference: one trace of a server with graph launches "
                 "(--layers, --seed, --vendor and the options below)")
      .one_of({"training", "inference"})
      .capture_default_str();
  app.add_flag("--node-ids", o.node_ids, "give kernels of graphs their node ids");
  app.add_flag("--experts", o.moe, "use layers with experts: kernel counts vary");
  app.add_flag("--two-streams", o.two_streams, "run half of the feed-forward on a second stream");
  app.add_option("--lost", o.lost, "fraction of the kernels in graph replays that are not recorded")
      .range(0.0, 1.0);
}

Result<void> write_synth_server(Context& ctx, const SynthServer& server, const synth::Options& size,
                                const std::string& out) {
  synth::InferenceOptions o = server.options;
  o.layers = size.layers;
  o.seed = size.seed;
  o.nvidia = size.nvidia;
  // a prompt and a small batch without graphs, then replays of a larger batch
  o.steps = {{4096, 0, false}, {0, 8, false}, {0, 32, true}, {0, 32, true}, {0, 32, true}};
  RS_CHECK(synth::write_inference(o, out));
  if (ctx.json)
    ctx.out(json_text(written_files(out, {out + "/trace.json", out + "/ground_truth.json"})));
  else
    ctx.out(out + "/trace.json\nground truth: " + out + "/ground_truth.json\n");
  return {};
}

} // namespace rankscope
