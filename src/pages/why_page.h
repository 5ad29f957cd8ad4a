// Formats the causes of a run for a terminal.
#pragma once

#include "analyses/collectives/run_clock.h"
#include "analyses/job/causes.h"
#include "analyses/top/top_facts.h"
#include "writers/console_page.h"

#include <cstddef>
#include <string>
#include <vector>

namespace rankscope {

/// Returns a page with at most `most` causes; 0: all causes. `clock`: times since the start of the
/// run, for the places of the causes. `next`: suggested commands.
[[nodiscard]] std::string why_page(const CauseFacts& facts, const RunClock& clock,
                                   const PageStyle& style, std::size_t most,
                                   const std::vector<TopNext>& next);
/// Returns a page with all rules.
[[nodiscard]] std::string why_rules_page(const PageStyle& style);

} // namespace rankscope
