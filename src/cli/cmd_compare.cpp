// rankscope compare: compares test runs with a baseline run; writes timelines, collectives, a final
// workbook with a dashboard, changes, and a verdict for pull requests.
#include "cli/command.h"
#include "cli/compare_flags.h"
#include "cli/comparison_screen.h"
#include "cli/parts_flags.h"

#include <memory>

namespace rankscope {
namespace {

Result<void> compare_runs_of(Context& ctx, const CompareFlags& f) {
  RS_TRY(const CompareRequest request, compare_request(f));
  RS_TRY(const CompareResult result, compare_folders(ctx, request));
  return show_comparison(ctx, request, result, f.annotate);
}

Result<std::vector<PartialRequest>> runs_of_compare(CompareFlags& f) {
  RS_TRY(const CompareRequest request, compare_request(f)); // before anything is read
  const DiscoverOptions& discover = f.request.discover;
  std::vector<PartialRequest> out{run_of_ranks("compare", f.baseline, discover)};
  for (std::string& test : f.tests)
    out.push_back(run_of_ranks("compare", test, discover));
  for (PartialRequest& run : out)
    run.options.workbooks = request.individual && request.write_reports;
  return out;
}

Action setup_compare(FlagSet& app) {
  auto f = std::make_shared<CompareFlags>();
  add_compare_flags(app, *f);
  return {[f](Context& ctx) { return compare_runs_of(ctx, *f); },
          [f](const Context&) { return runs_of_compare(*f); }};
}

} // namespace

const Command compare_command{
    "compare", "compare runs with a baseline: changes, timelines, collectives, verdict",
    "  rankscope compare --baseline base --test new --output out\n"
    "  rankscope compare --baseline 56cu_256threads --test 37cu_384threads --test 32cu_512threads "
    "--output out\n"
    "  rankscope compare --baseline base --test new --output out --markdown pr.md "
    "--fail-on 'total_time>2%' --fail-on 'exposed_comm>5%'",
    setup_compare};

} // namespace rankscope
