// The facts of `top` as a page for a terminal.
#pragma once

#include "analyses/top/top_facts.h"
#include "writers/console_page.h"

#include <string>

namespace rankscope {

/// The whole answer, no line wider than the style says; from 40 columns on, more than 200 are not
/// used. Escape sequences only with colour, and none of them from a text of the trace.
[[nodiscard]] std::string top_page(const TopFacts& facts, const PageStyle& style);

} // namespace rankscope
