// The layout of a page on the console: its width and colours, from flags or from the state of
// stdout.
#pragma once

#include "cli/flag_set.h"
#include "writers/console_page.h"

#include <cstddef>
#include <string>

namespace rankscope {

struct PageFlags {
  std::size_t width = 0; ///< 0: terminal width, $COLUMNS, or 80
  std::string colour = "auto";
};

void add_page_flags(FlagSet& app, PageFlags& flags);

/// Returns the style for the current state of stdout. It is queried again for each page.
[[nodiscard]] PageStyle page_style(const PageFlags& flags = {});

} // namespace rankscope
