// rankscope page INPUT|--baseline A --test B -o page.html: one self-contained interactive page.
#include "app/page.h"
#include "app/write_outputs.h"
#include "app/written_files.h"
#include "base/number_text.h"
#include "cli/command.h"
#include "cli/compare_flags.h"
#include "cli/discover_flags.h"
#include "cli/parts_flags.h"
#include "os/output_file.h"

#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <vector>

namespace rankscope {
namespace {

struct PageFlags {
  PageRequest request;
  std::string baseline;
  std::vector<std::string> tests;
  GivenLabels labels;
};

/// Returns whether the page is a comparison.
Result<bool> compares(const PageFlags& f) {
  const std::vector<std::string>& inputs = f.request.run.inputs;
  const bool comparison = !f.baseline.empty() || !f.tests.empty();
  if (!comparison && inputs.empty())
    return Error{ErrorCode::kUsage, "page", "needs a trace, a folder, or --baseline and --test",
                 "rankscope page --help"};
  if (comparison && (f.baseline.empty() || f.tests.empty() || !inputs.empty()))
    return Error{ErrorCode::kUsage, "page",
                 "a comparison needs --baseline and --test, and no other input",
                 "rankscope page --baseline A --test B"};
  return comparison;
}

Result<PageResult> made(Context& ctx, const PageFlags& f, PageRequest request, bool comparison) {
  if (!comparison) {
    request.command = command_of_page(request.run.inputs, request.output);
    return is_sweep(ctx, request) ? write_sweep_data_page(ctx, request)
                                  : write_run_page(ctx, request);
  }
  CompareRequest runs;
  runs.folders = {f.baseline};
  runs.folders.insert(runs.folders.end(), f.tests.begin(), f.tests.end());
  RS_TRY(runs.labels, labels_for(runs.folders, f.labels));
  runs.discover = request.run.discover;
  request.command = command_of_comparison_page(runs.folders, request.output);
  return write_comparison_page(ctx, request, runs);
}

Result<void> page(Context& ctx, const PageFlags& f) {
  RS_TRY(const bool comparison, compares(f));
  PageRequest request = f.request;
  std::string folder; // of the default output
  if (request.output.empty()) {
    request.output = default_output(comparison ? "" : request.run.inputs.front(), "page", ".html");
    folder = std::filesystem::path(request.output).parent_path();
    if (const Result<void> made = make_folder(folder); !made)
      return Error{ErrorCode::kOutput, folder, made.error().what, "choose another file with -o"};
  }
  RS_CHECK(check_ending(request.output, {".html", ".htm"}));
  Result<PageResult> result = made(ctx, f, request, comparison);
  if (!result) {
    std::error_code ignored;
    if (!folder.empty())
      std::filesystem::remove(folder, ignored); // only if it is empty
    return std::move(result.error());
  }
  if (ctx.json && request.output != "-") {
    ctx.report(written_files("page", {request.output}));
  }
  ctx.note(fmt::format("{}: {}, {:.2f} MB", request.output, counted(result->ranks, "rank", "ranks"),
                       static_cast<double>(result->bytes) / 1e6));
  return {};
}

Result<std::vector<PartialRequest>> runs_of_page(PageFlags& f) {
  if (!f.request.output.empty()) // before anything is read
    RS_CHECK(check_ending(f.request.output, {".html", ".htm"}));
  TopRequest& run = f.request.run;
  RS_TRY(const bool comparison, compares(f));
  if (!comparison)
    return std::vector{
        run_of_ranks("page", run.inputs, run.discover,
                     {.gpu_arch = &run.report.gpu_arch, .memory_bytes = &run.memory_bytes})};
  std::vector<PartialRequest> out{run_of_ranks("baseline", f.baseline, run.discover)};
  for (std::string& test : f.tests)
    out.push_back(run_of_ranks("baseline", test, run.discover));
  return out;
}

Action setup_page(FlagSet& app) {
  auto f = std::make_shared<PageFlags>();
  TopRequest& run = f->request.run;
  app.add_option(
      "INPUT", run.inputs,
      "a trace (- for standard input), folders or files of the ranks of one run, or a sweep");
  app.add(options::output, f->request.output,
          "HTML file, - for standard output (default: rankscope_out/NAME.html next to the input)");
  in_group(app, "Comparison", [&] {
    app.add(options::baseline, f->baseline);
    app.add(options::test, f->tests);
    add_label_flags(app, f->labels);
  });
  in_group(app, "Counting", [&] { app.add(options::gpu_arch, run.report.gpu_arch); });
  in_group(app, "Running", [&] { app.add(options::memory, run.memory_bytes); });
  add_discover_flags(app, run.discover, true);
  return {[f](Context& ctx) { return page(ctx, *f); },
          [f](const Context&) { return runs_of_page(*f); }};
}

} // namespace

const Command page_command{"page",
                           "write an interactive HTML page of a trace, run, sweep or comparison",
                           "  rankscope page rank0.json.gz -o trace.html\n"
                           "  rankscope page run/torch_profiler -o run.html\n"
                           "  rankscope page sweep -o sweep.html\n"
                           "  rankscope page --baseline base --test new -o compare.html",
                           setup_page};

} // namespace rankscope
