// Progress of a command over many traces.
#pragma once

#include "cli/command.h"

#include <chrono>
#include <mutex>
#include <string>
#include <thread>

namespace rankscope {

/// A bar with rate and remaining time on a terminal, otherwise one line per 10 % of the traces;
/// silent with --quiet. For one trace, the bar shows the bytes that were read, and appears only on
/// a terminal.
class Progress {
public:
  Progress(const Context& ctx, std::size_t total, std::uint64_t bytes);
  /// Thread-safe. `bytes` are part of the sum passed to the constructor.
  void step(std::uint64_t bytes);

private:
  void show_reading(const std::stop_token& stop) const;

  const Context& ctx_;
  std::mutex mutex_;
  std::size_t total_;
  std::size_t done_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t bytes_total_;
  bool terminal_;
  std::chrono::steady_clock::time_point start_;
  std::jthread reading_; ///< for one trace; last member, because it uses the others
};

/// Returns the bar for a terminal. After the last trace only writing remains, which has no rate.
[[nodiscard]] std::string progress_bar(std::size_t done, std::size_t total, double mb_per_s,
                                       double seconds_left);

/// Returns the bar while one file is read; empty during the first moments.
[[nodiscard]] std::string reading_bar(std::uint64_t read, std::uint64_t total, double seconds);

} // namespace rankscope
