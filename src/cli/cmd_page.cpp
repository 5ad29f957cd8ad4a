// rankscope page TRACE|RUN -o page.html: one self-contained interactive page.
#include "app/page.h"
#include "cli/command.h"
#include "cli/discover_flags.h"

#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct Flags {
  PageRequest request;
  std::uint64_t memory_mib = 0;
};

Result<void> page(Context& ctx, const Flags& f) {
  PageRequest request = f.request;
  request.run.memory_bytes = f.memory_mib << 20U;
  if (request.run.inputs.empty())
    return Error{ErrorCode::kUsage, "page", "needs a trace or a folder of rank traces",
                 "rankscope page --help"};
  if (request.output.empty())
    request.output = "page.html";
  std::vector<std::string> words = {"rankscope", "page"};
  words.insert(words.end(), request.run.inputs.begin(), request.run.inputs.end());
  words.insert(words.end(), {"-o", request.output});
  request.command = shell_text(words);
  RS_TRY(const PageResult made, write_run_page(ctx, request));
  ctx.note(fmt::format("{}: {} rank{}, {:.2f} MB", request.output, made.ranks,
                       made.ranks == 1 ? "" : "s", static_cast<double>(made.bytes) / 1e6));
  return {};
}

Action setup(FlagSet& app) {
  auto f = std::make_shared<Flags>();
  TopRequest& run = f->request.run;
  app.add_option("TRACE", run.inputs,
                 "a trace (- for standard input), or folders and files of one run's ranks");
  app.add_option("-o,--output", f->request.output, "HTML file (default: page.html)");
  in_group(app, "What is counted", [&] {
    app.add_option("--gpu-arch", run.report.gpu_arch,
                   "GPU for rooflines: built-in name, JSON file, or none (default: the trace's)");
    app.add_flag("--include-unlinked-kernels", run.report.include_unlinked_kernels,
                 "count GPU work without a launch in the time line");
  });
  in_group(app, "Running", [&] {
    app.add_option("--memory-mib", f->memory_mib,
                   "limit for traces in flight, 0 = half of the free");
  });
  add_discover_flags(app, run.discover, false);
  return [f](Context& ctx) { return page(ctx, *f); };
}

} // namespace

const Command page_command{"page", "an interactive page of a trace or of all ranks",
                           "  rankscope page rank0.json.gz -o trace.html\n"
                           "  rankscope page run/torch_profiler -o run.html",
                           setup};

} // namespace rankscope
