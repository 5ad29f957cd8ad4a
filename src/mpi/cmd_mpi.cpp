#include "mpi/cmd_mpi.h"

#include "app/reduce_job.h"
#include "app/write_outputs.h"
#include "cli/discover_flags.h"
#include "cli/reduce_flags.h"
#include "engine/memory_limit.h"

#include <array>
#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct Flags {
  PartialRequest partial; ///< of each run, with its inputs
  ReduceRequest reduce;
  CompareFlags compare;
  std::string align, compat, keep_parts;
  std::string sweep2, layout; ///< analyze
  std::uint64_t memory_mib = 0;
  bool no_plots = false; ///< analyze
};

Result<JobRequest> request_of(const Flags& f, std::size_t on_this_machine) {
  JobRequest request;
  request.reduce = f.reduce;
  request.reduce.plots = !f.no_plots;
  request.reduce.require_all_ranks = f.partial.discover.require_all_ranks;
  request.keep_parts = f.keep_parts;
  take_collective_figures(request.reduce, f.align, f.compat);
  PartialRequest run = f.partial;
  run.wanted = {f.reduce.as == ReduceAs::kAnalyze, f.reduce.as == ReduceAs::kCompare,
                f.reduce.as == ReduceAs::kPage};
  run.legacy_gemm_layout = !f.layout.empty();
  run.memory_bytes =
      f.memory_mib > 0 ? f.memory_mib << 20U : default_memory_limit() / on_this_machine;
  if (f.reduce.as == ReduceAs::kCollectives) {
    if (f.reduce.output.empty() && f.reduce.csv_dir.empty())
      return Error{ErrorCode::kUsage, "collectives", "needs --output or --csv-dir", ""};
    ReportOutputs outputs;
    outputs.file = f.reduce.output;
    outputs.csv_dir = f.reduce.csv_dir;
    RS_CHECK(check_outputs(outputs, Sheets::kSeveral)); // before anything is read
  }
  const bool sides = !f.compare.baseline.empty() || !f.compare.tests.empty();
  if (f.reduce.as == ReduceAs::kPage) {
    if (sides ? f.compare.baseline.empty() || f.compare.tests.empty() || !run.inputs.empty()
              : run.inputs.empty())
      return Error{ErrorCode::kUsage, "page",
                   "needs folders of traces, or --baseline and --test alone",
                   "rankscope-mpi page --help"};
    if (sides)
      run.wanted = {false, true, false};
  }
  if (!sides) {
    request.runs = {run};
    if (!f.sweep2.empty()) {
      run.inputs = {f.sweep2};
      request.runs.push_back(run);
    }
    return request;
  }
  RS_TRY(request.reduce.comparison, compare_request(f.compare));
  request.reduce.labels = f.compare.labels;
  RS_CHECK(labels_for(request.reduce.comparison.folders, f.compare.labels)); // their number
  for (const std::string& folder : request.reduce.comparison.folders) {
    run.inputs = {folder};
    request.runs.push_back(run);
  }
  return request;
}

Result<void> run_job(Context& ctx, const Flags& f) {
  JobContext& here = static_cast<JobContext&>(ctx); // main() gives no other
  if (here.job.size() == 1)
    RS_CHECK(check_single(process_environment()));
  RS_TRY(const JobRequest request, request_of(f, here.job.on_this_machine()));
  here.joined = true;
  Result<JobShares> shares = gather_shares(ctx, here.job, request);
  here.handed_over = true;
  if (!shares)
    return shares.error();
  if (here.job.rank() != 0)
    return {};
  RS_TRY(const ReduceResult result, reduce_shares(ctx, std::move(*shares), request));
  return show_reduced(
      ctx, "rankscope-mpi", request.reduce, result,
      fmt::format(", by {} process{}", here.job.size(), here.job.size() == 1 ? "" : "es"),
      f.compare.annotate);
}

void add_running(FlagSet& app, Flags& f, bool sweep) {
  in_group(app, "Running", [&] {
    app.add_flag("--local", f.partial.local,
                 "each process's DIR holds its own ranks alone, as on a node's own disk");
    app.add_option("--keep-parts", f.keep_parts,
                   "folder that all processes see: parts stay there, and a job that is begun again "
                   "makes only those that are missing");
    app.add_option("--memory-mib", f.memory_mib,
                   "limit for a process's traces in flight, 0 = half of the free, shared by the "
                   "processes of a machine");
  });
  add_discover_flags(app, f.partial.discover, sweep);
}

void add_inputs(FlagSet& app, Flags& f, const char* what) {
  app.add_option("DIR", f.partial.inputs, what).required();
}

Action setup_collectives(FlagSet& app) {
  auto f = std::make_shared<Flags>();
  ReduceRequest& r = f->reduce;
  r.as = ReduceAs::kCollectives;
  add_inputs(app, *f, "folders of rank traces, or the files");
  app.add_option("-o,--output", r.output, "file.xlsx, .json or .md");
  app.add_option("--csv-dir", r.csv_dir, "folder for one CSV per sheet");
  in_group(app, "Figures", [&] { add_collective_figures(app, r, f->align, f->compat); });
  add_running(app, *f, false);
  return [f](Context& ctx) { return run_job(ctx, *f); };
}

Action setup_analyze(FlagSet& app) {
  auto f = std::make_shared<Flags>();
  f->reduce.as = ReduceAs::kAnalyze;
  add_inputs(app, *f, "a sweep: a folder of configurations");
  app.add_option("-o,--output", f->reduce.output, "folder").required();
  in_group(app, "Figures", [&] {
    add_align_flag(app, f->align, "as the command does");
    app.add_option("--gpu-arch", f->partial.gpu_arch, "GPU for rooflines: name or JSON file");
    app.add_option("--top-k", f->partial.top_k, "GEMMs listed per rank").capture_default_str();
    app.add_option("--rank-by", f->partial.rank_by, "order of GEMMs: by range, cv or total-excess")
        .one_of({"range", "cv", "total-excess"})
        .capture_default_str();
    app.add_option("--layout", f->layout, "column order of the GEMM sheets").one_of({"2025-11"});
    app.add_flag("--no-plots", f->no_plots, "neither plots nor HTML page");
    app.add_flag("--svg", f->reduce.svg, "plots as SVG too");
    app.add_option("--html", f->reduce.html, "another place for the HTML page");
  });
  in_group(app, "Another sweep beside it", [&] {
    app.add_option("--sweep2", f->sweep2, "another sweep to analyse and compare with");
    add_sweep_labels(app, f->reduce.sweep_labels);
  });
  add_running(app, *f, true);
  return [f](Context& ctx) { return run_job(ctx, *f); };
}

Action setup_compare(FlagSet& app) {
  auto f = std::make_shared<Flags>();
  f->reduce.as = ReduceAs::kCompare;
  in_group(app, "Runs", [&] {
    app.add_option("--baseline", f->compare.baseline,
                   "folder of the baseline's rank traces, or NAME.rsb")
        .required();
    app.add_option("--test", f->compare.tests, "folders to compare with it").required();
    add_label_flags(app, f->compare.labels);
    add_align_flag(app, f->compare.align);
  });
  in_group(app, "Verdict", [&] { add_verdict_flags(app, f->compare); });
  in_group(app, "Output", [&] {
    app.add_option("-o,--output", f->reduce.output, "folder").required();
    add_compare_choice(app, f->compare);
  });
  add_running(app, *f, false);
  return [f](Context& ctx) { return run_job(ctx, *f); };
}

Action setup_page(FlagSet& app) {
  auto f = std::make_shared<Flags>();
  f->reduce.as = ReduceAs::kPage;
  app.add_option("DIR", f->partial.inputs, "folders of rank traces, the files, or a sweep");
  app.add_option("-o,--output", f->reduce.output, "HTML file").required();
  in_group(app, "Or a comparison", [&] {
    app.add_option("--baseline", f->compare.baseline,
                   "folder of the baseline's rank traces, or NAME.rsb");
    app.add_option("--test", f->compare.tests, "folders to compare with it");
    add_label_flags(app, f->compare.labels);
  });
  in_group(app, "What is counted", [&] {
    app.add_option("--gpu-arch", f->partial.gpu_arch, "GPU for rooflines: name or JSON file");
  });
  add_running(app, *f, true);
  return [f](Context& ctx) { return run_job(ctx, *f); };
}

const Command kCollectives{
    "collectives", "collectives of all ranks: bandwidth, skew, stragglers, exposed time",
    "  mpirun -n 4 rankscope-mpi collectives run/torch_profiler -o nccl.xlsx\n"
    "  srun --mpi=pmix rankscope-mpi collectives /local/traces --local -o nccl.xlsx",
    setup_collectives};
const Command kAnalyze{"analyze",
                       "a sweep: reports, tables and pages of all configurations; no merged traces",
                       "  mpirun -n 4 rankscope-mpi analyze sweep -o out", setup_analyze};
const Command kCompare{"compare", "runs against a baseline",
                       "  mpirun -n 4 rankscope-mpi compare --baseline a --test b -o out",
                       setup_compare};
const Command kPage{"page", "an interactive page of a run, a sweep or a comparison",
                    "  mpirun -n 4 rankscope-mpi page run/torch_profiler -o run.html", setup_page};

} // namespace

std::span<const Command* const> mpi_commands() {
  static constexpr std::array kAll{&kCollectives, &kAnalyze, &kCompare, &kPage};
  return kAll;
}

} // namespace rankscope
