// run.log: the output of the command, line by line with the time since its start and the stream.
// Lines of less than 21 bytes within 1 ms of the stamp above them have no stamp.
#pragma once

#include "base/result.h"

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace rankscope {

class RunLog {
public:
  static Result<RunLog> create(const std::string& path);
  /// Adds bytes of stream 1 (output) or 2 (error), in pieces of any size. Lines longer than 64 KiB
  /// are cut into several lines.
  void add(std::size_t stream, std::string_view bytes, double t_s);
  /// Writes the unfinished lines. Returns false when the file is incomplete.
  bool finish();

private:
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  void line(std::size_t stream, std::string_view text, double t_s);
  std::unique_ptr<std::FILE, Close> file_;
  std::array<std::string, 3> open_; ///< unfinished lines of streams 1 and 2
  std::array<double, 3> begun_s_ = {};
  std::size_t stamp_stream_ = 0; ///< stream of the last stamp, 0 = no stamp yet
  double stamp_s_ = 0;
  bool failed_ = false;
};

/// Returns the last `lines` lines of a file, from at most its last 4 KiB.
[[nodiscard]] std::string last_lines(const std::string& path, int lines);

} // namespace rankscope
