#include "cli/replay_flags.h"

#include "os/signals.h"

namespace rankscope {

void add_replay_flags(FlagSet& app, ReplayFlags& f) {
  in_group(app, "Replay", [&] {
    app.add(options::runner, f.runner,
            "hipblaslt-bench (with MIOpenDriver); native: matrix products by cuBLASLt or "
            "hipBLASLt; pytorch; none: write only command files; auto: hipblaslt-bench, or native "
            "if the program is missing; with --python also pytorch")
        .one_of({"auto", "hipblaslt-bench", "native", "pytorch", "none"})
        .capture_default_str();
    app.add_option("--hipblaslt-bench", f.run.hipblaslt_bench,
                   "hipblaslt-bench (default: from PATH)")
        .type_name("FILE");
    app.add_option("--miopen-driver", f.run.miopen_driver, "MIOpenDriver (default: from PATH)")
        .type_name("FILE");
    app.add_option("--python", f.run.python, "Python interpreter with PyTorch").type_name("FILE");
    app.add(options::libraries, f.run.libraries,
            "folder of cuBLASLt or hipBLASLt (default: the loader's search path)")
        .type_name("DIR");
    app.add(options::repeats, f.run.repeats, "runs per command; the mean is reported")
        .range(1, 1000)
        .capture_default_str();
    app.add(options::timeout, f.timeout_s).range(0.1, 86400.0).capture_default_str();
  });
}

ReplayRunOptions replay_options(const ReplayFlags& f) {
  ReplayRunOptions out = f.run;
  out.runner = f.runner == "hipblaslt-bench" ? ReplayRunner::kBench
               : f.runner == "native"        ? ReplayRunner::kNative
               : f.runner == "pytorch"       ? ReplayRunner::kTorch
               : f.runner == "none"          ? ReplayRunner::kNone
                                             : ReplayRunner::kAuto;
  out.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(f.timeout_s * 1000));
  out.cancel = interrupt_token();
  return out;
}

} // namespace rankscope
