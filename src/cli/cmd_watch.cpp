// rankscope watch DIR...: alarms while a job runs.
#include "app/watch_loop.h"
#include "base/display_text.h"
#include "cli/command.h"
#include "cli/discover_flags.h"
#include "cli/watch_lines.h"
#include "os/clock.h"
#include "os/output_file.h"
#include "os/signals.h"

#include <chrono>
#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct WatchFlags {
  WatchRequest request;
  WatchLoop loop;
  std::string page;
  std::vector<std::string> on_alarm;
  std::string until, ended_when;
};

Result<void> write_watch_page(const WatchFlags& f, const Watch& watch, std::int64_t now_ns) {
  return write_file(f.page, watch_page(watch.state(), f.request.inputs, now_ns,
                                       f.loop.once ? 0 : f.loop.interval_s));
}

Result<void> watch(Context& ctx, const WatchFlags& f) {
  const InterruptGrace grace(std::chrono::seconds(10)); // Ctrl-C ends the command
  WatchRequest request = f.request;
  WatchLoop loop = f.loop;
  loop.until_alarm = f.until == "alarm";
  loop.until_idle = f.until == "idle";
  if (!f.ended_when.empty()) {
    RS_TRY(loop.end, JobEnd::parse(f.ended_when));
  }
  // with --until-idle, silence is the expected end of the job and not an alarm
  request.silent = !(loop.until_idle && loop.idle_s <= request.still_s);
  RS_TRY(Watch watch, Watch::open(std::move(request)));
  if (watch.state().raised > 0)
    ctx.note(fmt::format("alarms in earlier runs: {}; the last one: {}", watch.state().raised,
                         shown_text(watch.state().alarms.back().sentence, true)));
  if (!loop.once)
    note_waiting(ctx, f.request.inputs);
  if (!f.page.empty())
    RS_CHECK(OutputFile::create(f.page)); // discarded: an invalid path fails now
  bool has_page = false;                  // false before the first poll, which finds the inputs
  const auto shown = [&](const WatchPoll& poll, std::int64_t now) -> Result<void> {
    print_poll(ctx, f.on_alarm, poll, now);
    if (f.page.empty() || (has_page && poll.read == 0 && poll.records == 0 && poll.alarms.empty()))
      return {};
    has_page = true;
    return write_watch_page(f, watch, now);
  };
  RS_CHECK(run_watch(ctx, watch, loop,
                     {[] { return clock_ns(CLOCK_REALTIME); }, sleep_unless_interrupted}, shown));
  if (watch.state().raised > 0)
    return Error{
        ErrorCode::kRegression, "watch",
        fmt::format("{} alarm{}", watch.state().raised, watch.state().raised == 1 ? "" : "s"), ""};
  return {};
}

Action setup_watch(FlagSet& app) {
  auto f = std::make_shared<WatchFlags>();
  app.add_option("DIR", f->request.inputs, "folders that a running job writes to").required();
  in_group(app, "Output", [&] {
    app.add_option("-o,--page", f->page, "HTML page, updated after each poll with new data");
    app.add_option("--on-alarm", f->on_alarm,
                   "run this program for each alarm, without a shell (one --on-alarm for each word "
                   "of the command); its last arguments are the alarm's kind, subject and sentence")
        .type_name("CMD");
    app.add_option("--state", f->request.state,
                   "state file: a later watch resumes from it, even if this watch is killed");
  });
  in_group(app, "Running", [&] {
    app.add_option("--interval", f->loop.interval_s, "seconds between polls")
        .range(0.05, 86400.0)
        .capture_default_str();
    app.add_option("--window", f->request.window_s, "seconds of Inspector logs per window")
        .range(1.0, 86400.0)
        .capture_default_str();
    app.add_option("--until", f->until, "stop at the first alarm, or when no new data arrive")
        .one_of({"alarm", "idle"});
    app.add_option("--idle", f->loop.idle_s, "seconds without new data before --until idle stops")
        .not_negative()
        .capture_default_str();
    app.add_option(
           "--ended-when", f->ended_when,
           "stop, after a last poll, when this file exists, this process has ended, or Slurm no "
           "longer lists this job")
        .type_name("FILE|PID|JOBID");
    app.add_flag("--once", f->loop.once, "poll once, check every window, then exit");
    app.add(options::memory, f->request.memory_bytes);
  });
  in_group(app, "Alarms", [&] {
    app.add_option("--still", f->request.still_s,
                   "raise an alarm if a rank is behind most others, or the job is silent, for at "
                   "least this many seconds")
        .not_negative()
        .capture_default_str();
    app.add_option("--late-us", f->request.limits.least_late_us,
                   "lateness at a collective that raises a straggler alarm, \u00b5s (default: the "
                   "lateness that costs the others 0.5 % of a step, or 100 if the step time is "
                   "unknown)")
        .not_negative();
    app.add_option("--fall", f->request.limits.least_fall_percent,
                   "smallest drop of bandwidth that raises an alarm, percent")
        .range(0.0, 100.0)
        .capture_default_str();
  });
  add_discover_flags(app, f->request.discover, false);
  return [f](Context& ctx) { return watch(ctx, *f); };
}

} // namespace

const Command watch_command{"watch", "raise alarms while a job runs: stragglers, bandwidth, hangs",
                            "  rankscope watch run/traces --interval 30 -o watch.html\n"
                            "  rankscope watch run/traces --state watch.state --until alarm\n"
                            "  rankscope watch run/traces --on-alarm notify.sh --on-alarm team-a\n"
                            "  rankscope watch run/traces --once",
                            setup_watch};

} // namespace rankscope
