#include "cli/query_prompt.h"

#include "base/noncopyable.h"
#include "os/signals.h"
#include "sql/statements.h"
#include "writers/writer.h"

#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <iostream>
#include <thread>
#include <unistd.h>

namespace rankscope {
namespace {

constexpr const char* kHelp = ".tables  list tables and views\n"
                              ".quit    exit (like the end of input)\n"
                              "All other input is SQL; end it with a semicolon.\n";

/// Makes Ctrl-C end the running query during its lifetime.
class InterruptsQuery : NonCopyable {
public:
  explicit InterruptsQuery(const Query& query)
      : watcher_([this, &query] {
          const CancelToken interrupted = interrupt_token();
          while (!done_) {
            if (interrupted.cancelled())
              query.interrupt();
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
          }
        }) {}
  ~InterruptsQuery() {
    done_ = true;
    watcher_.join();
  }

private:
  std::atomic<bool> done_{false};
  std::thread watcher_;
};

/// Runs a command of the prompt. Returns false when the command ends the prompt.
bool command(const Context& ctx, std::string_view line) {
  if (line == ".quit" || line == ".exit")
    return false;
  if (line == ".tables")
    ctx.table(query_tables(), 1000, 100);
  else
    ctx.page(kHelp);
  return true;
}

Result<void> run_one(Context& ctx, Query& query, QueryPrinter& printer, const std::string& sql) {
  const InterruptGrace grace(std::chrono::seconds(5)); // time for the query to end
  const InterruptsQuery watched(query);
  RS_TRY(Table result, query.run(sql));
  printer.print(std::move(result));
  ctx.page("");
  return {};
}

} // namespace

void QueryPrinter::print(Table result) {
  if (result.cols() == 0)
    return;
  if (format_ == QueryFormat::kTable && result.columns().front().name == "explain_key") {
    for (std::size_t r = 0; r < result.rows(); ++r) // a multi-line drawing
      ctx_.out(std::string(result.at(r, result.cols() - 1).text) + "\n");
    return;
  }
  if (format_ == QueryFormat::kJson) {
    if (!kept_.empty())
      result.set_name(fmt::format("result_{}", kept_.size() + 1));
    kept_.push_back(std::move(result));
  } else if (format_ == QueryFormat::kCsv) {
    if (::isatty(1) == 1)
      ctx_.out(csv_text(result)); // control characters of a name do not reach a terminal
    else
      ctx_.page(csv_text(result));
  } else {
    ctx_.table(result, rows_, 80);
  }
}

Result<void> QueryPrinter::finish() {
  if (format_ != QueryFormat::kJson)
    return {};
  Report report;
  report.title = "query";
  report.tables = std::move(kept_);
  report.diagnostics = ctx_.diagnostics;
  ctx_.page(json_text(report));
  return {};
}

Result<void> query_prompt(Context& ctx, Query& query, QueryPrinter& printer) {
  const bool asks = ::isatty(0) == 1 && ::isatty(1) == 1;
  if (asks)
    ctx.note("enter SQL, ended by a semicolon; .tables lists tables, .help lists commands");
  StatementSplitter splitter;
  std::string line;
  while (true) {
    if (asks)
      ctx.page(splitter.open() ? "     ...> " : "rankscope> ");
    if (!std::getline(std::cin, line))
      break;
    if (!splitter.open() && line.starts_with('.')) { // no SQL statement begins with a dot
      if (!command(ctx, line))
        break;
      continue;
    }
    splitter.add(line + '\n');
    for (const std::string& sql : splitter.take()) {
      Result<void> done = run_one(ctx, query, printer, sql);
      if (done)
        continue;
      if (!asks || done.error().code == ErrorCode::kInterrupted)
        return done;
      ctx.out(fmt::format("{}\n", done.error().message()));
    }
  }
  if (const std::string rest = splitter.take_rest(); !rest.empty())
    RS_CHECK(run_one(ctx, query, printer, rest));
  return printer.finish();
}

} // namespace rankscope
