#include "os/whole_file.h"

#include "os/output_file.h"

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>

namespace rankscope {

Result<std::string> read_whole(const std::string& path, const std::string& hint) {
  std::ifstream in(path, std::ios::binary);
  // read() turns what a stream buffer throws (of a folder, say) into a state; an iterator over the
  // buffer would let it through
  std::string bytes;
  std::array<char, 1 << 16> block{};
  while (in.read(block.data(), block.size()) || in.gcount() > 0)
    bytes.append(block.data(), static_cast<std::size_t>(in.gcount()));
  if (!in.is_open() || in.bad())
    return Error{ErrorCode::kUnreadable, path, "cannot read this file", hint};
  return bytes;
}

Result<void> write_whole(const std::string& path, std::string_view bytes) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (!folder.empty())
    RS_CHECK(make_folder(folder));
  RS_TRY(OutputFile file, OutputFile::create(path));
  file.write(bytes);
  return file.commit();
}

} // namespace rankscope
