#include "cli/replay_flags.h"

#include "os/signals.h"

namespace rankscope {

void add_replay_flags(FlagSet& app, ReplayFlags& f) {
  in_group(app, "How operators are run again", [&] {
    app.add_option("--runner", f.runner,
                   "hipblaslt-bench: it and MIOpenDriver; native: matrix products by cuBLASLt or "
                   "hipBLASLt; pytorch; none: command files alone; auto: native where the program "
                   "is missing, PyTorch too with --python")
        .one_of({"auto", "hipblaslt-bench", "native", "pytorch", "none"})
        .capture_default_str();
    app.add_option("--hipblaslt-bench", f.run.hipblaslt_bench,
                   "the program (default: that in PATH)")
        .type_name("FILE");
    app.add_option("--miopen-driver", f.run.miopen_driver, "MIOpenDriver (default: that in PATH)")
        .type_name("FILE");
    app.add_option("--python", f.run.python, "interpreter that has PyTorch").type_name("FILE");
    app.add_option("--libraries", f.run.libraries,
                   "folder of cuBLASLt or hipBLASLt (default: where the loader looks)")
        .type_name("DIR");
    app.add_option("--repeats", f.run.repeats, "runs of each command; their mean counts")
        .range(1, 1000)
        .capture_default_str();
    app.add_option("--timeout", f.timeout_s, "seconds of one run")
        .range(0.1, 86400.0)
        .capture_default_str();
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
