#include "cli/comparison_screen.h"

#include "analyses/compare/compare_tables.h"
#include "app/compare_verdict.h"
#include "writers/writer.h"

#include <cstdio>
#include <fmt/format.h>

namespace rankscope {
namespace {

void print(Context& ctx, const CompareResult& result) {
  for (const Finding& note : result.findings.notes)
    ctx.out("NOTE: " + note.sentence() + "\n");
  const Table dashboard = dashboard_table(result.comparison);
  ctx.table(dashboard, 40);
  ctx.out("\n");
  for (std::size_t i = 0; i < result.findings.changes.size(); ++i)
    for (const std::vector<Finding>* findings :
         {&result.findings.metrics[i], &result.findings.changes[i]})
      for (const Finding& finding : *findings)
        ctx.out(finding.sentence() + "\n");
  ctx.out("\n");
  for (const std::string& note : dashboard.notes)
    ctx.out("- " + note + "\n");
  for (const std::string& path : result.written)
    ctx.out(path + "\n");
}

} // namespace

Result<void> show_comparison(Context& ctx, const CompareRequest& request,
                             const CompareResult& result, bool annotate) {
  if (ctx.json) {
    for (const Finding& note : result.findings.notes)
      ctx.warn(note.sentence());
    ctx.out(json_text(result.final));
  } else if (request.markdown != "-") { // otherwise the Markdown is already on stdout
    print(ctx, result);
  }
  return show_verdict(ctx, request, result, annotate);
}

Result<void> show_verdict(Context& ctx, const CompareRequest& request, const CompareResult& result,
                          bool annotate) {
  std::string lines;
  if (annotate)
    for (const std::string& line : annotations(result.fail_on))
      lines += line + "\n";
  if (ctx.json || request.markdown == "-") // a document is on stdout
    std::fputs(lines.c_str(), stderr);
  else
    ctx.out(lines);
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

} // namespace rankscope
