#include "findings/library_findings.h"

#include "findings/compose.h"

#include <fmt/format.h>

namespace rankscope {

Finding damaged_log_lines(const std::string& library, std::uint64_t damaged, std::uint64_t lines,
                          const std::string& first) {
  Finding out = finding_of(rules::damaged_log_lines, "library", library);
  out.value = static_cast<double>(damaged);
  out.unit = Unit::kCount;
  set_headline(
      out, fmt::format("{}: {} of {} lines are damaged and not counted", library, damaged, lines));
  out.evidence = "First damaged line: " + brief(first, 200);
  return out;
}

Finding silent_library(const std::string& library) {
  Finding out = finding_of(rules::silent_library, "library", library);
  set_headline(out, fmt::format("{} has no line in the logs", library));
  out.evidence = "The program does not call the library or is linked to it statically, or its log "
                 "was disabled";
  return out;
}

} // namespace rankscope
