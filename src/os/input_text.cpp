#include "os/input_text.h"

#include "os/output_file.h"
#include "os/whole_file.h"

#include <utility>

namespace rankscope {

std::optional<std::string> text_of_input(const std::string& path) {
  remember_input(path);
  Result<std::string> text = read_whole(path);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

} // namespace rankscope
