#include "cli/profile_flags.h"

namespace rankscope {

void add_profile_flags(FlagSet& app, ProfileFlags& f) {
  ProfileRequest& r = f.request;
  app.add_option(
         "ACTION", f.action,
         "doctor: look at the tools only; tools: list them; merge: ranks as one; trace-parse: "
         "tables of saved logs of libraries; replicate: a copy on each of --devices at once; none: "
         "run "
         "what stands behind --")
      .one_of({"doctor", "tools", "merge", "trace-parse", "replicate"});
  app.add_option("INPUTS", f.inputs, "of merge: folders; of trace-parse: logs");
  app.add_option("-o,--output", f.table, "of trace-parse: the table").capture_default_str();
  in_group(app, "Tools", [&] {
    app.add_option("--tool", r.tools, "NAME[:VARIABLE=value,...], the first is the innermost");
    app.add_option("--tools-config", r.tables, "tools.json, merged over the built-in table");
    app.add_option("-c,--additional-context", r.contexts, "JSON: tools, docker_env_vars, ...");
    app.add_option("-f,--additional-context-file", r.context_files, "the same in a file");
    app.add_flag("--hide-trace-lines", r.hide_trace_lines,
                 "lines that libraries log are not shown; run.log has them");
    app.add_flag("--force", r.force, "tools that do not go together; a folder with a run");
  });
  in_group(app, "Models", [&] {
    app.add_option("--tags", r.models.tags, "models: name, tag, scope/tag, tag:key=value, all");
    app.add_option("--models", r.models.file, "models.json").capture_default_str();
    app.add_flag("--allow-python-discovery", r.models.allow_python,
                 "run scripts/*/get_models_json.py");
  });
  in_group(app, "Samplers", [&] {
    app.add_option("--devices", r.devices, "all, visible, 0,2, uuid or PCI address");
    app.add_option("--sample-rate", r.sample_rate, "seconds between samples: 0.1, 100ms");
    app.add_flag("--dual-gcd", r.dual_gcd, "a column for each board of two dies");
    app.add_option("--sysfs-root", r.sysfs_root, "a folder that imitates /sys");
  });
  in_group(app, "The run", [&] {
    app.add_option("--out", r.out, "folder of outputs (default: profile_RUN-ID)");
    app.add_flag("--compat-outputs", r.compat_outputs, "the documented names here as well");
    app.add_option("--perf-csv", r.perf_csv,
                   "append the figure that the command prints to this table");
    app.add_option("--docker", r.docker, "run in a container of this image");
    app.add_option("--container-tool", r.container_tool,
                   "docker or podman (default: what is there)");
    app.add_option("--container-arg", r.container_arguments,
                   "one more argument of docker run (repeat; --container-arg=-x)");
    app.add_flag("--local", f.local, "run here (the default)");
    app.add_option("--baseline", r.baseline, "run N times without tools before: overhead")
        .expected(0, 1)
        .default_str("1");
    app.add_option("--timeout", r.timeout_s, "seconds for the command, 0 = none").not_negative();
    app.add_option("--grace", r.grace_s, "seconds between asking to end and killing")
        .not_negative()
        .capture_default_str();
    app.add_flag("--replicate-per-gcd", r.replicate,
                 "a copy of the command on each of --devices at once, or on both dies of a board");
    app.add_flag("--keep-going", r.keep_going, "run though a tool could not be set up");
    app.add_flag("--dry-run", f.dry_run, "print what would be done");
    app.add_flag("--explain", f.explain, "the same with the tools and the rule of order");
  });
}

} // namespace rankscope
