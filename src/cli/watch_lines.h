// The output of `rankscope watch` after a poll, and the command that it runs for an alarm.
#pragma once

#include "app/watch.h"
#include "cli/command.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope {

/// Names the inputs that do not exist yet, because nothing else is printed until they do.
void note_waiting(const Context& ctx, const std::vector<std::string>& inputs);

/// Prints one line per window and alarm, then runs `on_alarm` (argument list; empty: no command)
/// for each alarm.
void print_poll(const Context& ctx, const std::vector<std::string>& on_alarm, const WatchPoll& poll,
                std::int64_t now_ns);

} // namespace rankscope
