#include "cli/watch_lines.h"

#include "base/display_text.h"
#include "base/json_text.h"
#include "base/time_text.h"
#include "os/process.h"
#include "os/signals.h"
#include "writers/json_head.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>

namespace rankscope {
namespace {

/// Runs the command with extra arguments: kind, subject, sentence.
void run_command(const Context& ctx, const std::vector<std::string>& command, const Alarm& alarm) {
  if (command.empty())
    return;
  ProcessSpec spec;
  spec.argv = command;
  spec.argv.insert(spec.argv.end(),
                   {std::string(alarm_name(alarm.kind)), alarm.subject, alarm.sentence});
  spec.out = spec.err = Stream::kOurError;
  spec.guarded = true;
  spec.deadline = std::chrono::seconds(60);
  spec.cancel = interrupt_token();
  Result<Process> child = Process::start(std::move(spec));
  const Result<ProcessEnd> end = child ? child->wait() : Result<ProcessEnd>(child.error());
  if (!end)
    ctx.warn("--on-alarm: " + end.error().message());
  else if (!end->ok())
    ctx.warn(fmt::format("--on-alarm: {}: {}", command.front(), end->describe()));
}

} // namespace

void note_waiting(const Context& ctx, const std::vector<std::string>& inputs) {
  std::error_code ec;
  for (const std::string& input : inputs)
    if (!std::filesystem::exists(input, ec))
      ctx.note("waiting for " + input);
}

void print_poll(const Context& ctx, const std::vector<std::string>& on_alarm, const WatchPoll& poll,
                std::int64_t now_ns) {
  const std::string when = utc_text(now_ns);
  for (const std::string& lost : poll.lost)
    ctx.warn(lost);
  for (const std::string& warning : poll.warnings)
    ctx.warn(warning);
  for (const WatchedWindow& w : poll.windows)
    if (!ctx.json)
      ctx.out(fmt::format("{} {}: {} of {} ranks{}{}{}{}\n", when, w.label, w.ranks, w.known_ranks,
                          w.step_ms > 0 ? fmt::format(", {:.3f} ms per step", w.step_ms) : "",
                          w.exposed_percent ? fmt::format(", {:.1f} % of the communication exposed",
                                                          *w.exposed_percent)
                                            : "",
                          w.bus_gbps > 0 ? fmt::format(", {:.1f} GB/s", w.bus_gbps) : "",
                          w.latest_rank ? fmt::format(", rank {} latest by {:.1f} \u00b5s",
                                                      *w.latest_rank, w.late_us)
                                        : ""));
  for (const Alarm& alarm : poll.alarms) {
    if (ctx.json)
      ctx.out(fmt::format("{{{}, \"time\": \"{}\", \"alarm\": \"{}\", \"subject\": \"{}\", "
                          "\"sentence\": \"{}\"}}\n",
                          json_head("watch"), when, json_escaped(alarm_name(alarm.kind)),
                          json_escaped(alarm.subject), json_escaped(alarm.sentence)));
    else
      ctx.out(fmt::format("{} ALARM {}: {}\n", when, alarm_name(alarm.kind),
                          shown_text(alarm.sentence, true))); // always one line
  }
  ctx.page(""); // flushes stdout
  for (const Alarm& alarm : poll.alarms)
    run_command(ctx, on_alarm, alarm);
}

} // namespace rankscope
