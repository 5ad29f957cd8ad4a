// Manual pages (roff, man(7)), generated from the flags with which the program parses.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace rankscope {

struct ManPage {
  std::string file; ///< "rankscope.1", "rankscope-report.1"
  std::string text; ///< in roff format
};

/// Returns `text` escaped so that roff shows it unchanged: backslashes, hyphens, and a dot or quote
/// at the start of a line.
[[nodiscard]] std::string roff_text(const std::string& text);

/// Returns the page of the program, then one page per command, with the flags of inner commands.
[[nodiscard]] std::vector<ManPage> man_pages(const CLI::App& root);

} // namespace rankscope
