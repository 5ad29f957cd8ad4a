#include "cli/progress.h"

#include "os/bytes_read.h"

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
  // ranks from parts: the sizes are those of the original traces, so there is no rate
  if (mb_per_s <= 0)
    return fmt::format("{}{}/{} ranks{}", bar, done, total, done == total ? ", writing" : "");
  const std::string rest =
      done == total ? "writing    " : fmt::format("{:.0f} s left ", seconds_left);
  return fmt::format("{}{}/{} traces, {:.0f} MB/s, {}", bar, done, total, mb_per_s, rest);
}

std::string reading_bar(std::uint64_t read, std::uint64_t total, double seconds) {
  if (seconds < 1 || total == 0)
    return "";
  const auto mb = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; };
  if (read >= total) // as wide as the line that it replaces
    return fmt::format("[{}] {:.0f} MB read, computing          ", std::string(30, '#'), mb(total));
  const std::size_t full = read * 30 / total;
  return fmt::format("[{}{}] {:.0f} of {:.0f} MB, {:.0f} MB/s          ", std::string(full, '#'),
                     std::string(30 - full, '.'), mb(read), mb(total), mb(read) / seconds);
}

Progress::Progress(const Context& ctx, std::size_t total, std::uint64_t bytes)
    : ctx_(ctx), total_(total), bytes_total_(bytes), terminal_(::isatty(2) == 1),
      start_(std::chrono::steady_clock::now()) {
  if (total_ == 1 && bytes_total_ > 0 && terminal_ && !ctx_.quiet)
    reading_ = std::jthread([this](const std::stop_token& stop) { show_reading(stop); });
}

void Progress::show_reading(const std::stop_token& stop) const {
  const std::uint64_t before = source_bytes_read();
  bool shown = false;
  for (int ticks = 0; !stop.stop_requested(); ++ticks) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (ticks % 10 != 0)
      continue;
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const std::string bar = reading_bar(source_bytes_read() - before, bytes_total_, seconds);
    if (bar.empty())
      continue;
    std::fputs(("\r" + bar).c_str(), stderr);
    shown = true;
  }
  if (shown)
    std::fputs("\r\033[K", stderr);
}

void Progress::step(std::uint64_t bytes) {
  if (reading_.joinable()) { // the next output is printed below the bar's line
    reading_.request_stop();
    reading_.join();
  }
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
