#include "cli/progress.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace rankscope {

std::string progress_bar(std::size_t done, std::size_t total, double mb_per_s,
                         double seconds_left) {
  const std::size_t full = done * 30 / total;
  const std::string bar =
      fmt::format("[{}{}] ", std::string(full, '#'), std::string(30 - full, '.'));
  if (mb_per_s <= 0) // ranks that come from parts: the sizes are those of traces elsewhere
    return fmt::format("{}{}/{} ranks{}", bar, done, total, done == total ? ", writing" : "");
  const std::string rest =
      done == total ? "writing    " : fmt::format("{:.0f} s left ", seconds_left);
  return fmt::format("{}{}/{} traces, {:.0f} MB/s, {}", bar, done, total, mb_per_s, rest);
}

Progress::Progress(const Context& ctx, std::size_t total, std::uint64_t bytes)
    : ctx_(ctx), total_(total), bytes_total_(bytes), terminal_(::isatty(2) == 1),
      start_(std::chrono::steady_clock::now()) {}

void Progress::step(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  ++done_;
  bytes_ += bytes;
  if (ctx_.quiet || total_ < 2)
    return;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const double rate =
      seconds > 0 && bytes_total_ > 0 ? static_cast<double>(bytes_) / 1e6 / seconds : 0;
  const double left =
      rate > 0 ? static_cast<double>(bytes_total_ - std::min(bytes_total_, bytes_)) / 1e6 / rate
               : 0;
  if (terminal_) {
    std::fputs(("\r" + progress_bar(done_, total_, rate, left)).c_str(), stderr);
    if (done_ == total_)
      std::fputs("\n", stderr);
  } else if (bytes_total_ > 0 && done_ * 10 / total_ != (done_ - 1) * 10 / total_) {
    ctx_.note(fmt::format("{} of {} traces, {:.0f} MB/s", done_, total_, rate));
  }
}

} // namespace rankscope
