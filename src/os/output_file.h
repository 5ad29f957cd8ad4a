// Outputs get a temporary name in the folder of the final one and are renamed when complete. An
// output that is not a regular file (a pipe, a character device) is written directly. A link stays
// and its target is replaced. An input of the run (os/input_file.h) is never replaced.
#pragma once

#include "base/result.h"

#include <cstdio>
#include <string>
#include <string_view>

namespace rankscope {

/// A buffered output file. Opened as "<path>.<host>-<pid>-<letters>.tmp" at once, so that a bad
/// path fails before the long part; commit() flushes and renames. Without commit the temporary is
/// removed, also when the process is interrupted (os/signals.h). The next run that writes into a
/// folder removes the temporaries that killed processes left there. Path "-" writes to stdout.
class OutputFile {
public:
  static Result<OutputFile> create(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  void write(std::string_view bytes); ///< errors are reported by commit()
  Result<void> commit();
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  OutputFile() = default;
  void discard();

  std::string path_;      ///< as given
  std::string target_;    ///< the file that is replaced: `path_`, or what a link leads to
  std::string temp_path_; ///< empty when the bytes are written directly
  std::FILE* file_ = nullptr;
  int error_ = 0;
};

/// For libraries that write a path by themselves (libxlsxwriter, DuckDB): reserve a temporary
/// name, let them write it, then commit() renames. The temporary is removed otherwise.
class TempName {
public:
  static Result<TempName> reserve(const std::string& final_path);
  TempName(TempName&& other) noexcept;
  TempName& operator=(TempName&&) = delete;
  ~TempName();
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& temp_path() const { return temp_path_; }
  Result<void> commit();

private:
  TempName() = default;
  std::string path_, target_;
  std::string temp_path_;
  bool through_ = false; ///< the target is not a regular file: commit() copies into it
};

/// Returns an Error when `path` leads to a file that this process reads: for outputs that are not
/// written through the classes above.
[[nodiscard]] Result<void> refuse_input(const std::string& path);

/// Writes a file completely or not at all. Errors: kOutput.
Result<void> write_file(const std::string& path, std::string_view bytes);

/// mkdir -p.
Result<void> make_folder(const std::string& path);

} // namespace rankscope
