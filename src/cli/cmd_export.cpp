// rankscope export --parquet DIR TRACE|DIR...: the records of runs as a dataset of Parquet files.
#include "app/export_dataset.h"
#include "app/written_files.h"
#include "base/number_text.h"
#include "cli/command.h"
#include "cli/discover_flags.h"

#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

Result<void> export_of(Context& ctx, const ExportRequest& request) {
  if (request.folder.empty())
    return Error{ErrorCode::kUsage, "export", "needs a folder to write to", "--parquet DIR"};
  RS_TRY(const ExportResult done, export_dataset(ctx, request));
  if (ctx.json) {
    ctx.report(written_files(request.folder, done.files));
    return {};
  }
  ctx.out(fmt::format(
      "{}: {}, {}, {}, {:.1f} MB from {:.1f} MB of traces\n", request.folder,
      counted(done.files.size(), "file", "files"), counted(done.ranks, "rank", "ranks"),
      counted(static_cast<std::size_t>(done.rows), "row", "rows"),
      static_cast<double>(done.bytes) / 1e6, static_cast<double>(done.input_bytes) / 1e6));
  return {};
}

Action setup_export(FlagSet& app) {
  auto f = std::make_shared<ExportRequest>();
  app.add_option("TRACE", f->traces.inputs, "traces, folders of ranks or a sweep").required();
  in_group(app, "Output", [&] {
    app.add_option("--parquet", f->folder,
                   "folder of the dataset; other runs in it are not changed");
    app.add(options::tables, f->tables, "write only these tables (default: all)")
        .delimiter(',')
        .one_of(export_tables());
    app.add_flag("--replace", f->replace, "replace a run that the dataset already contains");
  });
  in_group(app, "Running", [&] {
    app.add(options::gpus_per_node, f->traces.gpus_per_node);
    app.add(options::memory, f->traces.memory_bytes);
  });
  add_discover_flags(app, f->traces.discover, true);
  return [f](Context& ctx) { return export_of(ctx, *f); };
}

} // namespace

const Command export_command{"export", "write events, kernels, operators, ... as a Parquet dataset",
                             "  rankscope export --parquet dataset run\n"
                             "  rankscope export --parquet dataset --tables kernels,ranks sweep",
                             setup_export};

} // namespace rankscope
