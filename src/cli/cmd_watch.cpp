// rankscope watch DIR...: alarms while a job runs.
#include "app/watch.h"
#include "cli/command.h"
#include "cli/discover_flags.h"
#include "cli/watch_lines.h"
#include "os/output_file.h"
#include "os/signals.h"

#include <chrono>
#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct Flags {
  WatchRequest request;
  std::string page;
  std::vector<std::string> on_alarm;
  std::string until;
  double interval_s = 10, idle_s = 600;
  bool once = false;
  std::uint64_t memory_mib = 0;
};

std::int64_t unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Result<void> write_watch_page(const Flags& f, const Watch& watch, std::int64_t now_ns) {
  RS_TRY(OutputFile file, OutputFile::create(f.page));
  file.write(watch_page(watch.state(), f.request.inputs, "as of " + utc_text(now_ns)));
  return file.commit();
}

Result<void> watch(Context& ctx, const Flags& f) {
  const InterruptGrace grace(std::chrono::seconds(10)); // Ctrl-C is the way out of here
  WatchRequest request = f.request;
  request.memory_bytes = f.memory_mib << 20U;
  RS_TRY(Watch watch, Watch::open(std::move(request)));
  if (watch.state().raised > 0)
    ctx.note(fmt::format("{} alarms before, the last: {}", watch.state().raised,
                         watch.state().alarms.back().sentence));
  if (!f.page.empty())
    RS_CHECK(OutputFile::create(f.page)); // and discarded: a bad path fails now
  std::int64_t newest_ns = unix_ns();
  bool has_page = false; // not before the first poll, which says what the inputs are
  for (bool last = f.once;;) {
    const std::int64_t now = unix_ns();
    Result<WatchLook> look = watch.look(ctx, now, last);
    if (!look && look.error().code == ErrorCode::kInterrupted)
      break;
    if (!look)
      return look.error();
    tell_look(ctx, f.on_alarm, *look, now);
    if (f.once && !watch.has_seen_any())
      return Error{ErrorCode::kUnreadable, f.request.inputs.front(),
                   "neither traces nor logs of the Inspector are there", ""};
    if (look->read > 0 || look->records > 0 || !look->waiting.empty())
      newest_ns = now;
    if (!f.page.empty() &&
        (!has_page || look->read > 0 || look->records > 0 || !look->alarms.empty()))
      RS_CHECK(write_watch_page(f, watch, now));
    has_page = true;
    if (last || (f.until == "alarm" && watch.state().raised > 0))
      break;
    // when nothing comes any more, one look judges what is left of the last window
    last = f.until == "idle" && static_cast<double>(now - newest_ns) / 1e9 >= f.idle_s;
    if (!last && !sleep_unless_interrupted(f.interval_s))
      break;
  }
  if (watch.state().raised > 0)
    return Error{
        ErrorCode::kRegression, "watch",
        fmt::format("{} alarm{}", watch.state().raised, watch.state().raised == 1 ? "" : "s"), ""};
  return {};
}

Action setup(FlagSet& app) {
  auto f = std::make_shared<Flags>();
  app.add_option("DIR", f->request.inputs, "folders that fill while a job runs").required();
  in_group(app, "Output", [&] {
    app.add_option("-o,--page", f->page, "HTML page that is written again with what is new");
    app.add_option("--on-alarm", f->on_alarm,
                   "program (then a word each of its arguments), run for each alarm with its kind, "
                   "subject and sentence behind them; no shell")
        .type_name("CMD");
    app.add_option("--state", f->request.state,
                   "file by which another watch goes on where this one ends, killed or not");
  });
  in_group(app, "Running", [&] {
    app.add_option("--interval", f->interval_s, "seconds between two looks")
        .range(0.05, 86400.0)
        .capture_default_str();
    app.add_option("--window", f->request.window_s, "seconds of Inspector logs that make a window")
        .range(1.0, 86400.0)
        .capture_default_str();
    app.add_option("--until", f->until, "end at the first alarm, or when nothing comes any more")
        .one_of({"alarm", "idle"});
    app.add_option("--idle", f->idle_s, "seconds without anything new that end --until idle")
        .not_negative()
        .capture_default_str();
    app.add_flag("--once", f->once, "one look at what is there, every window judged");
    app.add_option("--memory-mib", f->memory_mib,
                   "limit for traces in flight, 0 = half of the free");
  });
  in_group(app, "What is an alarm", [&] {
    app.add_option("--still", f->request.still_s, "seconds that a rank may be behind most others")
        .not_negative()
        .capture_default_str();
    app.add_option("--late-us", f->request.limits.least_late_us,
                   "a straggler comes later than this")
        .not_negative()
        .capture_default_str();
    app.add_option("--fall", f->request.limits.least_fall_percent,
                   "bandwidth that falls by less percent is none")
        .range(0.0, 100.0)
        .capture_default_str();
  });
  add_discover_flags(app, f->request.discover, false);
  return [f](Context& ctx) { return watch(ctx, *f); };
}

} // namespace

const Command watch_command{"watch", "alarms while a job runs: stragglers, bandwidth, hangs",
                            "  rankscope watch run/traces --interval 30 -o watch.html\n"
                            "  rankscope watch run/traces --state watch.state --until alarm\n"
                            "  rankscope watch run/traces --on-alarm notify.sh --on-alarm team-a\n"
                            "  rankscope watch run/traces --once",
                            setup};

} // namespace rankscope
