#include "cli/profile_flags.h"

namespace rankscope {

void add_profile_flags(FlagSet& app, ProfileFlags& f) {
  ProfileRequest& r = f.request;
  app.add_option(
         "ACTION", f.action,
         "doctor: check the tools; tools: list them; merge: join the outputs of ranks; "
         "trace-parse: convert saved library logs to tables; replicate: run a copy on each of "
         "--devices (default: run the command after --)")
      .one_of({"doctor", "tools", "merge", "trace-parse", "replicate"});
  app.add_option("INPUTS", f.inputs, "merge: folders; trace-parse: logs");
  app.add(options::output, f.table, "trace-parse: table to write").capture_default_str();
  in_group(app, "Tools", [&] {
    app.add_option(
        "--tool", r.tools,
        "tool to use, as NAME[:VARIABLE=value,...] (repeatable; the first tool starts the "
        "command, each later tool starts the tool before it)");
    app.add_option("--tools-config", r.tables,
                   "tools.json; its entries override the built-in table");
    app.add_option("-c,--additional-context", r.contexts,
                   "context as JSON text: tools, docker_env_vars, ...");
    app.add_option("-f,--additional-context-file", r.context_files, "file with a context (see -c)");
    app.add_flag("--hide-trace-lines", r.hide_trace_lines,
                 "do not print library log lines; run.log contains them");
    app.add(options::force, r.force, "allow incompatible tools and a folder that contains a run");
  });
  in_group(app, "Part of the run", [&] {
    app.add_option("--delay", r.targets.delay_s,
                   "start recording this many seconds after the start of the command (rocprofv3, "
                   "rocprof-sys, nsys)")
        .not_negative();
    app.add(options::duration, r.targets.duration_s,
            "record for this many seconds; the command continues (rocprofv3, rocprof-sys, nsys)")
        .not_negative();
    app.add(options::steps, r.targets.steps,
            "record these optimizer steps, N or A:B, counted from 0 (torch_profiler)");
    app.add_option("--kernels", r.targets.kernels,
                   "record kernels whose names match this regular expression (ncu; counters of "
                   "rocprofv3)");
  });
  in_group(app, "Models", [&] {
    app.add_option("--tags", r.models.tags,
                   "models to run: name, tag, scope/tag, tag:key=value, all");
    app.add_option("--models", r.models.file, "models.json").capture_default_str();
    app.add_flag("--allow-python-discovery", r.models.allow_python,
                 "run scripts/*/get_models_json.py");
  });
  in_group(app, "Samplers", [&] {
    app.add(options::devices, r.devices,
            "GPUs: all, visible, indices (0,2), UUIDs or PCI addresses");
    app.add_option("--sample-rate", r.sample_rate, "time between samples: 0.1 (seconds), 100ms");
    app.add(options::dual_gcd, r.dual_gcd);
    app.add(options::sysfs_root, r.sysfs_root);
  });
  in_group(app, "Run", [&] {
    app.add_option("--out", r.out, "folder for the outputs (default: profile_RUN-ID)");
    app.add_flag("--compat-outputs", r.compat_outputs,
                 "also write the outputs to the current folder, under the documented file names");
    app.add_option("--perf-csv", r.perf_csv,
                   "append the metric that the command prints to this table");
    app.add_option("--docker", r.docker, "run in a container of this image");
    app.add(options::container_tool, r.container_tool);
    app.add(options::container_arg, r.container_arguments);
    app.add(options::local, f.local, "run without a container (default)");
    app.add(options::baseline, r.baseline,
            "first run N times (without N: once) without tools, to measure the overhead")
        .expected(0, 1)
        .default_str("1");
    app.add(options::timeout, r.timeout_s, "time limit of the command, seconds (0: no limit)")
        .not_negative();
    app.add(options::grace, r.grace_s).not_negative().capture_default_str();
    app.add_flag(
        "--replicate-per-gcd", r.replicate,
        "run a copy of the command on each of --devices, or on both dies of a GPU package");
    app.add(options::keep_going, r.keep_going, "run even if a tool cannot be set up");
    app.add(options::dry_run, f.dry_run);
    app.add_flag("--explain", f.explain,
                 "same as --dry-run, but also print the tools and the reason for their order");
  });
}

} // namespace rankscope
