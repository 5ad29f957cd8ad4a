#include "os/terminal.h"

#include <charconv>
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

/// 0 when it is no number.
std::size_t number_terminal(std::string_view text) {
  std::size_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() ? out : 0;
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
  // Open MPI gives a process a pseudo terminal of 80 columns, also where its output goes to a file
  out.is_terminal = ::isatty(descriptor) == 1 && variable("OMPI_COMM_WORLD_RANK").empty();
  winsize size{};
  if (out.is_terminal && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0) {
    out.rows = size.ws_row;
    if (size.ws_col > 0)
      out.columns = size.ws_col;
  }
  if (const std::size_t said = number_terminal(variable("COLUMNS")); said > 0)
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
