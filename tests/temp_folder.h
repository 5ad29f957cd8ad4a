// A temporary folder for one test, which is removed at the end of the test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace rankscope::test {

class TempFolder {
public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "rankscope_test_XXXXXX").string();
    path_ = ::mkdtemp(name.data()) == nullptr ? std::string() : name;
  }
  ~TempFolder() {
    std::error_code ec;
    if (!path_.empty())
      std::filesystem::remove_all(path_, ec);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string path(const std::string& below) const { return path_ + "/" + below; }
  /// Writes a file, creates its parent folders, and returns its path.
  std::string write(const std::string& below, const std::string& bytes) const {
    const std::string file = path(below);
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

private:
  std::string path_;
};

/// Returns the content of a file; empty if the file cannot be read.
inline std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out; // in the library's code, which is fast under sanitizers too
  out << in.rdbuf();
  return std::move(out).str();
}

} // namespace rankscope::test
