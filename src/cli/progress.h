// Progress of a command over many traces.
#pragma once

#include "cli/command.h"

#include <chrono>
#include <mutex>
#include <string>
#include <thread>

namespace rankscope {

/// A bar with rate and time left on a terminal, a line per tenth otherwise; nothing with --quiet.
/// For one trace the bar shows the bytes that were read, and only on a terminal.
class Progress {
public:
  Progress(const Context& ctx, std::size_t total, std::uint64_t bytes);
  /// Thread-safe; `bytes` as in the constructor's sum.
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
  std::jthread reading_; ///< of one trace; the last member: it uses the others
};

/// The bar of a terminal. When all are read, what is left is writing, which has no rate.
[[nodiscard]] std::string progress_bar(std::size_t done, std::size_t total, double mb_per_s,
                                       double seconds_left);

/// The same while one file is read; empty where it is not long yet.
[[nodiscard]] std::string reading_bar(std::uint64_t read, std::uint64_t total, double seconds);

} // namespace rankscope
