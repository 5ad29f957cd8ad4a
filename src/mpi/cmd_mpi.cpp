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
  CollectiveFigures figures;
  std::string keep_parts;
  std::string sweep2;    ///< analyze
  bool no_plots = false; ///< analyze
};

Result<JobRequest> request_of(const Flags& f, std::size_t on_this_machine) {
  JobRequest request;
  request.reduce = f.reduce;
  request.reduce.plots = !f.no_plots;
  request.reduce.require_all_ranks = f.partial.discover.require_all_ranks;
  request.keep_parts = f.keep_parts;
  request.reduce.align = f.figures.align;
  request.reduce.collectives = f.figures.chosen();
  PartialRequest run = f.partial;
  run.wanted = {f.reduce.as == ReduceAs::kAnalyze, f.reduce.as == ReduceAs::kCompare,
                f.reduce.as == ReduceAs::kPage};
  if (run.memory_bytes == 0)
    run.memory_bytes = default_memory_limit() / on_this_machine;
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
    app.add(options::local, f.partial.local,
            "each process's DIR holds its own ranks alone, as on a node's own disk");
    app.add_option("--keep-parts", f.keep_parts,
                   "folder that all processes see: parts stay there, and a job that is begun again "
                   "makes only those that are missing");
    app.add(options::memory, f.partial.memory_bytes,
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
  app.add(options::output, r.output, "file.xlsx, .json or .md");
  app.add(options::csv_dir, r.csv_dir);
  in_group(app, "Figures", [&] {
    add_collective_figures(app, f->figures);
    app.add(options::world_size, r.world_size);
  });
  add_running(app, *f, false);
  return [f](Context& ctx) { return run_job(ctx, *f); };
}

Action setup_analyze(FlagSet& app) {
  auto f = std::make_shared<Flags>();
  f->reduce.as = ReduceAs::kAnalyze;
  add_inputs(app, *f, "a sweep: a folder of configurations");
  app.add(options::output, f->reduce.output, "folder").required();
  in_group(app, "Figures", [&] {
    app.add(options::align, f->figures.align);
    PartialRequest& r = f->partial;
    add_gemm_figures(app, r.gpu_arch, r.top_k, r.rank_by, r.legacy_gemm_layout);
    app.add(options::no_plots, f->no_plots);
    app.add(options::svg, f->reduce.svg);
    app.add(options::html, f->reduce.html);
  });
  in_group(app, "Another sweep beside it", [&] {
    app.add(options::sweep2, f->sweep2);
    add_sweep_labels(app, f->reduce.sweep_labels);
  });
  add_running(app, *f, true);
  return [f](Context& ctx) { return run_job(ctx, *f); };
}

Action setup_compare(FlagSet& app) {
  auto f = std::make_shared<Flags>();
  f->reduce.as = ReduceAs::kCompare;
  in_group(app, "Runs", [&] {
    app.add(options::baseline, f->compare.baseline).required();
    app.add(options::test, f->compare.tests).required();
    add_label_flags(app, f->compare.labels);
    app.add(options::align, f->compare.request.align);
  });
  in_group(app, "Verdict", [&] { add_verdict_flags(app, f->compare); });
  in_group(app, "Output", [&] {
    app.add(options::output, f->reduce.output, "folder").required();
    add_compare_choice(app, f->compare);
  });
  add_running(app, *f, false);
  return [f](Context& ctx) { return run_job(ctx, *f); };
}

Action setup_page(FlagSet& app) {
  auto f = std::make_shared<Flags>();
  f->reduce.as = ReduceAs::kPage;
  app.add_option("DIR", f->partial.inputs, "folders of rank traces, the files, or a sweep");
  app.add(options::output, f->reduce.output, "HTML file").required();
  in_group(app, "Or a comparison", [&] {
    app.add(options::baseline, f->compare.baseline);
    app.add(options::test, f->compare.tests);
    add_label_flags(app, f->compare.labels);
  });
  in_group(app, "What is counted", [&] { app.add(options::gpu_arch, f->partial.gpu_arch); });
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
