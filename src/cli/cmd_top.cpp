// rankscope top TRACE|DIR: prints a summary of a trace or a run, once or while traces arrive.
#include "app/top.h"
#include "cli/command.h"
#include "cli/discover_flags.h"
#include "cli/page_flags.h"
#include "cli/parts_flags.h"
#include "cli/top_screen.h"
#include "cli/watch_lines.h"
#include "os/signals.h"
#include "pages/top_page.h"
#include "writers/writer.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <unistd.h>

namespace rankscope {
namespace {

constexpr double kEvery = 2; ///< seconds between two polls

struct TopFlags {
  TopRequest request;
  PageFlags page;
  std::string watch; ///< seconds as text, or the folder after --watch
  bool watching = false;
  double every = kEvery;
};

void print(const Context& ctx, const TopFacts& facts, const PageFlags& page) {
  if (ctx.json)
    ctx.out(json_text(top_report(facts)));
  else
    ctx.page(top_page(facts, page_style(page)));
}

Result<void> once(Context& ctx, const TopFlags& f) {
  RS_TRY(const TopFacts facts, top_of(ctx, f.request));
  print(ctx, facts, f.page);
  ctx.problems_shown = !ctx.json && ::isatty(1) == 1 && ::isatty(2) == 1;
  return {};
}

Result<void> watch(Context& ctx, const TopFlags& f) {
  const InterruptGrace grace(std::chrono::seconds(5)); // the first Ctrl-C ends this loop
  TopWatch watch(f.request);
  TopScreen screen(ctx, f.page, f.every);
  TopPoll shown;
  note_waiting(ctx, f.request.inputs);
  do {
    Result<TopPoll> poll = watch.poll(ctx);
    if (!poll && poll.error().code == ErrorCode::kInterrupted)
      break;
    if (!poll)
      return poll.error();
    shown.changed = poll->changed;
    shown.waiting = std::move(poll->waiting);
    if (poll->changed) {
      shown.facts = std::move(poll->facts);
      shown.diagnostics = poll->diagnostics;
    }
    screen.show(shown, false);
  } while (sleep_unless_interrupted(f.every));
  screen.show(shown, true);
  ctx.diagnostics.merge(shown.diagnostics);
  ctx.problems_shown = !ctx.json && ::isatty(1) == 1 && ::isatty(2) == 1;
  return {};
}

/// Decides whether the word after --watch is a number or the first input.
void take_watch(TopFlags& f) {
  double seconds = 0;
  const char* const end = f.watch.data() + f.watch.size();
  const auto [at, error] = std::from_chars(f.watch.data(), end, seconds);
  if (error == std::errc() && at == end && seconds > 0)
    f.every = std::clamp(seconds, 0.05, 3600.0);
  else if (!f.watch.empty())
    f.request.inputs.insert(f.request.inputs.begin(), f.watch);
}

Result<void> top(Context& ctx, const TopFlags& given) {
  TopFlags f = given;
  if (f.watching)
    take_watch(f);
  if (f.request.inputs.empty())
    return Error{ErrorCode::kUsage, "top", "needs a trace or a folder of rank traces",
                 "rankscope top --help"};
  if (f.watching && std::ranges::find(f.request.inputs, "-") != f.request.inputs.end())
    return Error{ErrorCode::kUsage, "top", "--watch needs folders and cannot read standard input",
                 ""};
  return f.watching ? watch(ctx, f) : once(ctx, f);
}

Action setup_top(FlagSet& app) {
  auto f = std::make_shared<TopFlags>();
  app.add_option("TRACE", f->request.inputs,
                 "a trace (- for standard input), or folders or files of the ranks of one run");
  const Flag watching =
      app.add_option("--watch", f->watch,
                     "poll for new traces every N seconds (default: 2), until Ctrl-C")
          .expected(0, 1)
          .type_name("SECONDS");
  app.add(options::top_k.also("-k,"), f->request.top_k, "rows of each list (0: all)")
      .capture_default_str();
  in_group(app, "Page", [&] { add_page_flags(app, f->page); });
  in_group(app, "Counting", [&] { app.add(options::gpu_arch, f->request.report.gpu_arch); });
  in_group(app, "Running", [&] { app.add(options::memory, f->request.memory_bytes); });
  add_discover_flags(app, f->request.discover, false);
  return {[f, watching](Context& ctx) {
            f->watching = watching.given();
            return top(ctx, *f);
          },
          [f, watching](const Context&) -> Result<std::vector<PartialRequest>> {
            if (watching.given())
              return Error{ErrorCode::kUsage, "top",
                           "--watch needs folders of traces and cannot read parts", ""};
            TopRequest& r = f->request;
            return std::vector{
                run_of_ranks("top", r.inputs, r.discover,
                             {.gpu_arch = &r.report.gpu_arch, .memory_bytes = &r.memory_bytes})};
          }};
}

} // namespace

const Command top_command{"top", "print a summary of a trace or of all ranks",
                          "  rankscope top rank0.json.gz\n"
                          "  rankscope top run/torch_profiler --width 200\n"
                          "  rankscope top run --watch 5\n"
                          "  rankscope --json top run | jq .tables.top_ranks",
                          setup_top};

} // namespace rankscope
