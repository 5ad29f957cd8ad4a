// How a page on the console looks: its width and colours, from flags or from what stdout is.
#pragma once

#include "cli/flag_set.h"
#include "writers/console_page.h"

#include <cstddef>
#include <string>

namespace rankscope {

struct PageFlags {
  std::size_t width = 0; ///< 0: the terminal's, $COLUMNS, or 80
  std::string colour = "auto";
};

void add_page_flags(FlagSet& app, PageFlags& flags);

/// The state of stdout now; queried again for each page.
[[nodiscard]] PageStyle page_style(const PageFlags& flags = {});

} // namespace rankscope
