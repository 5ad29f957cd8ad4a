// Manual pages (roff, man(7)) made from the same flags that the program parses with.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace rankscope {

struct ManPage {
  std::string file; ///< "rankscope.1", "rankscope-report.1"
  std::string text; ///< roff
};

/// `text` as roff shows it as is: backslashes, hyphens, and a dot or quote at the start of a line.
[[nodiscard]] std::string roff_text(const std::string& text);

/// The page of the program, then one for each of its commands, with the flags of inner commands.
[[nodiscard]] std::vector<ManPage> man_pages(const CLI::App& root);

} // namespace rankscope
