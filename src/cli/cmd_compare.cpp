// rankscope compare: one or more test runs against a baseline run: timelines, collectives, a final
// workbook with a dashboard, a verdict for pull requests.
#include "analyses/compare/compare_tables.h"
#include "app/compare.h"
#include "app/compare_verdict.h"
#include "cli/command.h"
#include "cli/compare_flags.h"
#include "writers/writer.h"

#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

Result<void> compare_runs_of(Context& ctx, const CompareFlags& f) {
  RS_TRY(const CompareRequest request, compare_request(f));
  RS_TRY(const CompareResult result, compare_folders(ctx, request));
  if (ctx.json) {
    for (const std::string& remark : result.comparison.remarks)
      ctx.warn(remark);
    ctx.out(json_text(result.final));
  } else if (request.markdown != "-") { // that is on stdout already
    for (const std::string& remark : result.comparison.remarks)
      ctx.out("NOTE: " + remark + "\n");
    const Table dashboard = dashboard_table(result.comparison);
    ctx.table(dashboard, 40);
    ctx.out("\n");
    for (std::size_t i = result.comparison.remarks.size(); i < dashboard.notes.size(); ++i)
      ctx.out("- " + dashboard.notes[i] + "\n");
    for (const std::string& path : result.written)
      ctx.out(path + "\n");
  }
  if (f.annotate)
    for (const std::string& line : annotations(result.fail_on))
      ctx.out(line + "\n");
  for (const std::string& text : result.fail_on.unjudged)
    ctx.warn("--fail-on: " + text);
  const std::vector<std::string>& regressions = result.fail_on.regressions;
  if (!regressions.empty()) {
    if (result.page_error)
      ctx.warn(result.page_error->message());
    return Error{ErrorCode::kRegression, "", fmt::format("{}", fmt::join(regressions, "; ")), ""};
  }
  if (result.page_error)
    return *result.page_error;
  return {};
}

Action setup(FlagSet& app) {
  auto f = std::make_shared<CompareFlags>();
  add_compare_flags(app, *f);
  return [f](Context& ctx) { return compare_runs_of(ctx, *f); };
}

} // namespace

const Command compare_command{
    "compare", "test runs against a baseline: timelines, collectives, dashboard, verdict",
    "  rankscope compare --baseline base --test new --output out\n"
    "  rankscope compare --baseline 56cu_256threads --test 37cu_384threads --test 32cu_512threads "
    "--output out\n"
    "  rankscope compare --baseline base --test new --output out --markdown pr.md "
    "--fail-on 'total_time>2%' --fail-on 'exposed_comm>5%'",
    setup};

} // namespace rankscope
