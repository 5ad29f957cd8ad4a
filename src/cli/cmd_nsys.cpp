// rankscope nsys: the summary of Nsight Systems reports, from CSV tables, SQLite exports or
// reports.
#include "app/nsys_run.h"
#include "cli/command.h"
#include "writers/writer.h"

#include <memory>

namespace rankscope {
namespace {

Result<void> print_nsys(Context& ctx, const NsysRequest& request) {
  RS_TRY(NsysRun done, run_nsys(ctx, request));
  if (ctx.json && !done.summaries.empty())
    ctx.out(json_text(done.report));
  if (!ctx.json)
    for (const NsysSummary& summary : done.summaries)
      ctx.out(nsys_text(summary));
  if (done.failure)
    return std::move(*done.failure);
  return {};
}

Action setup_nsys(FlagSet& app) {
  auto f = std::make_shared<NsysRequest>();
  app.add_option("FILE", f->file, "SQLite export, .nsys-rep, or prefix of the CSV tables");
  in_group(app, "Recording", [&] {
    app.add(options::config, f->config, "JSON with inputs and kernel_to_class_map");
    app.add(options::iters, f->single.iterations, "iterations recorded in FILE")
        .capture_default_str();
    app.add_option("--gpus", f->single.gpus, "GPUs recorded in FILE").capture_default_str();
    app.add_option("--nvtx", f->single.nvtx_tag, "NVTX range of one iteration");
    app.add_option("--title", f->single.title, "title (default: the file's name)");
    app.add_option("--classes", f->classes, "JSON file that maps parts of kernel names to classes");
  });
  in_group(app, "Output", [&] {
    app.add(options::output, f->outputs.file, "file.xlsx, .json, .md, or .csv for one sheet");
    app.add(options::csv_dir, f->outputs.csv_dir);
  });
  return [f](Context& ctx) { return print_nsys(ctx, *f); };
}

} // namespace

const Command nsys_command{"nsys", "summarize Nsight Systems reports",
                           "  rankscope nsys --config config.json\n"
                           "  rankscope nsys run.sqlite --iters 5 --nvtx :step -o run.xlsx",
                           setup_nsys};

} // namespace rankscope
