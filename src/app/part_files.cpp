#include "app/part_files.h"

#include "os/output_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace rankscope {

Result<void> write_file(const std::string& path, std::string_view bytes) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (!folder.empty())
    RS_CHECK(make_folder(folder));
  RS_TRY(OutputFile file, OutputFile::create(path));
  file.write(bytes);
  return file.commit();
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.is_open() || in.bad())
    return Error{ErrorCode::kUnreadable, path, "cannot be read", ""};
  return bytes;
}

} // namespace rankscope
