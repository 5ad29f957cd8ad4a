#include "cli/report_flags.h"

#include "cli/step_flags.h"

namespace rankscope {
namespace {

constexpr int kMostBins = 100000;
constexpr std::array kMemsetKinds{std::pair("compute", false), std::pair("memory", true)};
constexpr Choice<bool> kMemset{"--memset", "count memsets in gpu_timeline as compute or memory",
                               kMemsetKinds};
constexpr std::array kPhases{std::pair("prefill", StepPhase::kPrefill),
                             std::pair("mixed", StepPhase::kMixed),
                             std::pair("decode", StepPhase::kDecode)};
constexpr Choice<StepPhase> kPhase{"--phase", "report only annotated steps of this phase", kPhases};
constexpr std::array kSteadyParts{
    std::pair("region", SteadyPart::kRegion), std::pair("mixed", SteadyPart::kMixed),
    std::pair("decode", SteadyPart::kDecode), std::pair("prefill", SteadyPart::kPrefill)};
constexpr Choice<SteadyPart> kSteadyPart{
    options::steady_state.name,
    "report only the steady state: region (without a value), or "
    "the best window of one kind: mixed, decode or prefill",
    kSteadyParts};

/// Adds the flags of the script that this command replaces, where their names differ. They are not
/// in --help. Sheets that the script made on request are always made here.
void add_old_flags(FlagSet& app, ReportFlags& f) {
  ReportOptions& r = f.request.options;
  const auto option = [&app](const char* name, auto& value) {
    return app.add_option(name, value).group("");
  };
  option("--profile-json-path", f.traces);
  app.add(options::old_xlsx, f.request.outputs.file).group("");
  app.add(options::old_csvs, f.request.outputs.csv_dir).group("");
  option("--micro-idle-thresh-us", r.micro_idle_us);
  option("--short-kernel-histogram-bins", r.short_kernel_bins).range(1, kMostBins);
  option("--topk-short-kernels", r.top_k_short_kernels);
  option("--topk-ops", r.top_k_ops);
  option("--topk-roofline-ops", r.top_k_roofline_ops);
  option("--gpu-arch-json-path", r.gpu_arch);
  option("--gpu-arch-platform", r.gpu_arch);
  app.add_flag("--disable-coll-analysis", f.no_coll_analysis).group("");
  for (const char* name : {"--enable-kernel-summary", "--short-kernel-study"})
    app.add_flag(name).group("");
}

void add_outputs(FlagSet& app, ReportFlags& f) {
  ReportOutputs& out = f.request.outputs;
  app.add(options::output, out.file,
          "file.xlsx, .json, .md, or .csv for one sheet (default: TRACE_perf_report.xlsx)");
  app.add(options::csv_dir, out.csv_dir);
  app.add(options::format, out.format,
          "format of --output (default: from the file ending; csv: a folder)")
      .one_of({"xlsx", "csv", "json", "markdown"});
}

void add_counting(FlagSet& app, ReportFlags& f) {
  ReportOptions& r = f.request.options;
  app.add(options::step, r.step, "report only ProfilerStep N, or the steps A to B (A:B)");
  app.add(kMemset, r.memset_as_memory);
  app.add_flag("--include-unlinked-kernels", f.include_unlinked_kernels,
               "count GPU work without a launch in gpu_timeline (default unless --compat)");
  app.add_flag("--clip-overruns", r.clip_overruns,
               "end each kernel where the next kernel of its stream starts");
  app.add_option(
      "--micro-idle-us", r.micro_idle_us,
      "count gaps shorter than this as micro idle time, others as macro idle time, \u00b5s");
  app.add_option("--short-kernel-threshold-us", r.short_kernel_threshold_us,
                 "longest duration of a short kernel, \u00b5s")
      .capture_default_str();
  app.add_flag("--detect-recompute", r.detect_recompute, "show recomputed work separately");
  app.add_option("--donor", f.request.donor,
                 "trace of the same model without graphs: shows the operators of graph kernels");
  app.add_flag("--enable-pseudo-ops", r.enable_pseudo_ops,
               "add operators that inference libraries do not record");
  app.add_option("--capture-folder", f.request.capture_folder,
                 "traces of graph captures: use their operators for graph launches");
}

/// Adds the flags that choose steps of a server; each flag can also be given by its name in the
/// reference's splitter.
void add_serving_steps(FlagSet& app, ReportFlags& f) {
  StepChoice& c = f.request.serving_steps;
  app.add(kPhase, c.phase);
  app.add(options::iterations, c.iterations,
          "report only annotated step N (counted from 0), or the steps A to B - 1 (A:B)");
  app.add(kSteadyPart, c.steady).expected(0, 1).default_str("region");
  add_window_flags(app, c.window);
  AttentionHints& a = f.request.attention;
  app.add_option("--attention-windows", a.layer_windows,
                 "maximum number of keys that attention uses, per layer (0: all); the list "
                 "repeats: 128,0 limits every second layer")
      .delimiter(',');
  app.add_option("--sparse-topk", a.sparse_topk,
                 "number of keys that the sparse attention of a V4 model selects (default: 512, or "
                 "1024 with 128 heads or more)")
      .not_negative();
}

void add_sheets(FlagSet& app, ReportFlags& f) {
  ReportOptions& r = f.request.options;
  app.add(options::sheets, f.sheets, "write only these sheets").delimiter(',');
  app.add_flag("--no-kernel-summary", f.no_kernel_summary, "leave out kernel_summary");
  app.add_flag("--no-short-kernels", f.no_short_kernels, "leave out the short-kernel study");
  app.add_flag("--no-coll-analysis", f.no_coll_analysis, "leave out coll_analysis");
  app.add_flag("--per-step", r.per_step, "add timeline and top operators of each profiler step");
  app.add_option("--short-kernel-bins", r.short_kernel_bins,
                 "number of bins of the short-kernel histogram")
      .range(1, kMostBins)
      .capture_default_str();
  app.add(options::top_k, r.top_k, "maximum number of rows of ops_summary and kernel_summary");
  app.add_option("--top-k-ops", r.top_k_ops, "maximum number of rows of the ops_* sheets");
  app.add_option("--top-k-roofline-ops", r.top_k_roofline_ops,
                 "maximum number of rows of each operator family");
  app.add_option("--top-k-short-kernels", r.top_k_short_kernels,
                 "maximum number of rows of short_kernels_summary");
  app.add_flag("--include-overlap-info", r.include_overlap_info,
               "add sheets *_kl_overlap, which also group by overlapping kernels");
  app.add_flag("--include-call-stack", r.include_call_stack,
               "add Python call stacks to unified_perf_summary");
  app.add_flag("--group-by-parent-module", r.group_by_parent_module,
               "group the ops_* sheets by the innermost nn.Module");
  app.add_flag("--module-path", r.module_path,
               "also show all modules around the operator, outermost first");
  app.add_flag("--group-by-num-kernels", r.group_by_num_kernels, "group by number of kernels");
  app.add_flag("--include-first-occurrence-time", r.include_first_occurrence_time,
               "add the start of the first call of each row");
}

} // namespace

void add_report_flags(FlagSet& app, ReportFlags& f) {
  ReportOptions& r = f.request.options;
  app.add_option("TRACE", f.traces, "trace file (.json, .gz, .zst), - for standard input");
  in_group(app, "Output", [&] { add_outputs(app, f); });
  in_group(app, "Counting", [&] { add_counting(app, f); });
  in_group(app, "Server steps", [&] { add_serving_steps(app, f); });
  in_group(app, "Sheets, rows and columns", [&] { add_sheets(app, f); });
  in_group(app, "Power", [&] {
    app.add_option(
        "--power", f.request.power,
        "add the energy of steps and of kinds of GPU work, from power samples of the same run: "
        "gpu_samples.csv of rankscope sample or profile, or the CSV of nvidia-smi or amd-smi");
    app.add_option("--power-gpus", f.request.power_gpus,
                   "for each GPU of the trace, in order, its number in the power samples: 3,5 "
                   "(default: its number in the trace)");
  });
  in_group(app, "GPU and other tools", [&] {
    app.add(options::gpu_arch, r.gpu_arch);
    app.add(options::compat, f.compat);
    app.add_option(
        "--comparison-json-path,--compare-with", f.request.comparison,
        "second trace: make its report with the same options, and show both reports side by side");
    app.add_option("--comparison-capture-folder,--compare-capture-folder",
                   f.request.comparison_captures,
                   "traces of the graph captures of the second trace");
    app.add(options::gemm_layout, r.legacy_gemm_layout);
  });
  add_old_flags(app, f);
}

ReportRequest report_request(const ReportFlags& f) {
  ReportRequest out = f.request;
  ReportOptions& options = out.options;
  options.kernel_summary = !f.no_kernel_summary;
  options.short_kernels = !f.no_short_kernels;
  options.coll_analysis = !f.no_coll_analysis;
  options.compat_tracelens = f.compat != Compat::kNone;
  options.include_unlinked_kernels =
      f.include_unlinked_kernels || f.compat == Compat::kNone; // the reference leaves them out
  options.compat_inference = f.compat == Compat::kTracelensInference;
  options.sheets.insert(f.sheets.begin(), f.sheets.end());
  out.serving_steps.window.compat = options.compat_tracelens;
  return out;
}

} // namespace rankscope
