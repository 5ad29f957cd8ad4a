// Formats the stragglers of a run, or the predicted gain of changes, for a terminal.
#pragma once

#include "analyses/job/whatif.h"
#include "writers/console_page.h"

#include <cstddef>
#include <string>

namespace rankscope {

/// Returns a page with at most `most` rows per list; 0: all rows.
[[nodiscard]] std::string whatif_page(const WhatIfFacts& facts, const PageStyle& style,
                                      std::size_t most);

} // namespace rankscope
