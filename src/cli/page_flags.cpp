#include "cli/page_flags.h"

#include "os/terminal.h"

namespace rankscope {

void add_page_flags(FlagSet& app, PageFlags& flags) {
  app.add_option("--width", flags.width,
                 "columns of the output (default: the terminal's, or 80); pages use at most 200")
      .range(40, 1000);
  app.add_option("--color,--colour", flags.colour,
                 "use colours: auto (only on a terminal), always or never")
      .one_of({"auto", "always", "never"})
      .capture_default_str();
}

PageStyle page_style(const PageFlags& flags) {
  const Terminal terminal = terminal_of(1);
  PageStyle out;
  out.width = flags.width > 0 ? flags.width : terminal.columns;
  out.colour = flags.colour == "always" || (flags.colour == "auto" && terminal.colour);
  out.unicode = terminal.unicode;
  return out;
}

} // namespace rankscope
