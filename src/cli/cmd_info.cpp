// rankscope info TRACE...: shows the content of a trace before any analysis.
#include "app/inspect_trace.h"
#include "cli/command.h"
#include "os/terminal.h"
#include "writers/console.h"
#include "writers/writer.h"

#include <memory>

namespace rankscope {
namespace {

constexpr std::size_t kRows = 100;
constexpr std::size_t kWidestFact = 100;

Action setup_info(FlagSet& app) {
  auto traces = std::make_shared<std::vector<std::string>>();
  app.add_option("TRACE", *traces, "trace files, - for standard input").required();
  return [traces](Context& ctx) -> Result<void> {
    std::size_t failed = 0;
    for (const std::string& path : *traces) {
      Result<Report> report = inspect_trace(ctx, path);
      if (!report) {
        if (++failed == traces->size())
          return std::move(report.error());
        ctx.warn(report.error().message());
        ctx.partial = true;
        continue;
      }
      if (ctx.json) {
        ctx.out(json_text(*report));
        continue;
      }
      for (const Table& t : report->tables) {
        if (t.name() == "figures")
          continue; // this table repeats the first one as numbers, for programs
        // programs and pagers get the complete text
        ctx.table(t, kRows, terminal_of(1).is_terminal ? kWidestFact : std::string::npos);
        ctx.out("\n");
      }
    }
    return {};
  };
}

} // namespace

const Command info_command{"info",
                           "show the content of traces: vendor, ranks, steps, events, warnings",
                           "  rankscope info rank0.json.gz\n"
                           "  rankscope info --json rank*.json.gz",
                           setup_info};

} // namespace rankscope
