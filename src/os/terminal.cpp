#include "os/terminal.h"

#include "base/to_number.h"

#include <cstdlib>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

namespace rankscope {
namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

} // namespace

bool names_utf8(std::string_view locale) {
  std::string lower;
  for (const char c : locale)
    if (c != '-')
      lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower.find("utf8") != std::string::npos;
}

Terminal terminal_of(int descriptor) {
  Terminal out;
  // Open MPI gives each process a pseudo terminal of 80 columns, even if the output goes to a file
  out.is_terminal = ::isatty(descriptor) == 1 && variable("OMPI_COMM_WORLD_RANK").empty();
  winsize size{};
  if (out.is_terminal && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0) {
    out.rows = size.ws_row;
    if (size.ws_col > 0)
      out.columns = size.ws_col;
  }
  if (const std::size_t said = to_number<std::size_t>(variable("COLUMNS")).value_or(0); said > 0)
    out.columns = said;
  out.colour = out.is_terminal && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const std::string_view locale = variable(name); !locale.empty()) {
      out.unicode = names_utf8(locale);
      break;
    }
  return out;
}

} // namespace rankscope
