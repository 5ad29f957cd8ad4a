// Formats the facts of `top` as a page for a terminal.
#pragma once

#include "analyses/top/top_facts.h"
#include "writers/console_page.h"

#include <string>
#include <vector>

namespace rankscope {

/// Returns the complete page. From 40 columns on, no line is wider than the style's width; at most
/// 200 columns are used. Escape sequences are only written with colour, and never come from a text
/// of the trace.
[[nodiscard]] std::string top_page(const TopFacts& facts, const PageStyle& style);
/// Adds the section NEXT; nothing without commands.
void next_commands(const std::vector<TopNext>& next, ConsolePage& page);

} // namespace rankscope
