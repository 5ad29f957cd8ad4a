// A CSV that grows by rows and is complete after each row, so that the file of a killed process can
// be read. (A table that is written at once uses os/output_file.h instead.)
#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace rankscope {

class SampleFile {
public:
  /// Replaces an existing file and writes the header. Errors: kOutput.
  static Result<SampleFile> create(const std::string& path, std::string_view header);
  SampleFile(SampleFile&& other) noexcept;
  SampleFile& operator=(SampleFile&&) = delete;
  ~SampleFile();

  /// Appends a row (or several complete ones) with its line end, in one write. After a failure the
  /// file ends with its last complete row, no more rows are written, and problem() says why.
  void append(std::string_view rows);
  [[nodiscard]] Result<void> problem() const;
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  SampleFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::string path_;
  int fd_;
  off_t size_ = 0; ///< bytes of complete rows
  int error_ = 0;
};

/// Appends a cell, which is empty if the value is missing.
void add_cell(std::string& row, const std::optional<double>& value, int decimals);
void add_cell(std::string& row, const std::optional<std::int64_t>& value);
/// Returns local time as `%Y-%m-%d %H:%M:%S.%f`, like the documented CSVs.
[[nodiscard]] std::string local_time(std::int64_t unix_ns);

} // namespace rankscope
