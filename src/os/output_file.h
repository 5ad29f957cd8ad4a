// Output files. An output is written under a temporary name in the destination folder, and is
// renamed when it is complete. An output that is not a regular file (a pipe, a character device) is
// written directly. If the path is a link, the target of the link is replaced. An input of the run
// (os/input_file.h) is never replaced.
#pragma once

#include "base/result.h"

#include <cstdio>
#include <string>
#include <string_view>

namespace rankscope {

/// A buffered output file. create() opens it immediately as "<path>.<host>-<pid>-<letters>.tmp", so
/// that an unusable path is reported before the long work. commit() flushes and renames it. Without
/// commit() the temporary file is removed, also after an interrupt (os/signals.h). If a process is
/// killed, the next run that writes into the same folder removes the temporary file. Path "-" is
/// standard output.
class OutputFile {
public:
  static Result<OutputFile> create(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  void write(std::string_view bytes); ///< commit() reports errors
  Result<void> commit();
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  OutputFile() = default;
  void discard();

  std::string path_;      ///< as the caller gave it
  std::string target_;    ///< the file to replace: `path_`, or the target of a link
  std::string temp_path_; ///< empty if the bytes are written directly to `target_`
  std::FILE* file_ = nullptr;
  int error_ = 0;
};

/// A temporary name for libraries that open their output by path (libxlsxwriter, DuckDB). Usage:
/// reserve the name, let the library write the file, then call commit(), which renames the file.
/// Without commit() the file is removed.
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
  bool through_ = false; ///< the target is not a regular file: commit() copies the bytes into it
};

/// Returns an Error if `path` is a file that this process reads. Call it for outputs that are
/// written without the classes above.
[[nodiscard]] Result<void> refuse_input(const std::string& path);

/// Writes a file completely or not at all. Errors: kOutput.
Result<void> write_file(const std::string& path, std::string_view bytes);

/// Creates a folder and its parents, like mkdir -p.
Result<void> make_folder(const std::string& path);

} // namespace rankscope
