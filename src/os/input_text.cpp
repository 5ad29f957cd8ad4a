#include "os/input_text.h"

#include "os/output_file.h"

#include <array>
#include <cstddef>
#include <fstream>

namespace rankscope {

std::optional<std::string> text_of_input(const std::string& path) {
  remember_input(path);
  std::ifstream in(path, std::ios::binary);
  // read() turns what a stream buffer throws (of a folder, say) into a state
  std::string text;
  std::array<char, 1 << 16> block{};
  while (in.read(block.data(), block.size()) || in.gcount() > 0)
    text.append(block.data(), static_cast<std::size_t>(in.gcount()));
  if (!in.is_open() || in.bad())
    return std::nullopt;
  return text;
}

} // namespace rankscope
