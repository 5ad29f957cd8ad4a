// A CSV that grows by rows and is complete after each of them: the file of a killed process can be
// read. (A table that is made at once uses os/output_file.h instead.)
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
  /// Replaces what was there and writes the header. Errors: kOutput.
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

/// Cells: an empty one for what is missing.
void add_cell(std::string& row, const std::optional<double>& value, int decimals);
void add_cell(std::string& row, const std::optional<std::int64_t>& value);
/// `%Y-%m-%d %H:%M:%S.%f` of local time, as the documented CSVs have it.
[[nodiscard]] std::string local_time(std::int64_t unix_ns);

} // namespace rankscope
