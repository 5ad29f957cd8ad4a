#include "cli/comparison_screen.h"

#include "analyses/compare/compare_tables.h"
#include "app/compare_verdict.h"
#include "writers/writer.h"

#include <cstdio>
#include <fmt/format.h>

namespace rankscope {
namespace {

constexpr std::size_t kChangesShown = 5; ///< of each list

void print(Context& ctx, const CompareResult& result) {
  for (const std::string& remark : result.comparison.remarks)
    ctx.out("NOTE: " + remark + "\n");
  const Table dashboard = dashboard_table(result.comparison);
  ctx.table(dashboard, 40);
  ctx.out("\n");
  const std::vector<std::string> changes = change_lines(result.comparison, kChangesShown);
  for (const std::string& line : changes)
    ctx.out(line + "\n");
  if (!changes.empty())
    ctx.out("\n");
  for (std::size_t i = result.comparison.remarks.size(); i < dashboard.notes.size(); ++i)
    ctx.out("- " + dashboard.notes[i] + "\n");
  for (const std::string& path : result.written)
    ctx.out(path + "\n");
}

} // namespace

Result<void> show_comparison(Context& ctx, const CompareRequest& request,
                             const CompareResult& result, bool annotate) {
  if (ctx.json) {
    for (const std::string& remark : result.comparison.remarks)
      ctx.warn(remark);
    ctx.out(json_text(result.final));
  } else if (request.markdown != "-") { // that is on stdout already
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
