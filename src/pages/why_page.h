// The causes of a run on a terminal.
#pragma once

#include "analyses/job/causes.h"
#include "writers/console_page.h"

#include <cstddef>
#include <string>

namespace rankscope {

/// Returns a page with at most `most` causes, 0: all.
[[nodiscard]] std::string why_page(const CauseFacts& facts, const PageStyle& style,
                                   std::size_t most);
/// Returns the catalogue of rules.
[[nodiscard]] std::string why_rules_page(const PageStyle& style);

} // namespace rankscope
