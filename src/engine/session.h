// Session: what a command needs in addition to its request: threads, diagnostics, cache, output of
// messages. Only src/cli prints; it overrides the virtual functions below.
#pragma once

#include "base/diagnostics.h"
#include "base/noncopyable.h"
#include "os/tasks.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

namespace rankscope {

class FactCache;
class RankSource;

class Session : public Interface {
public:
  unsigned threads = 1;    ///< number of threads (-j), at least 1; changes after the first call of
                           ///< pool() have no effect
  bool partial = false;    ///< set by a command: the exit code at the end is 4
  Diagnostics diagnostics; ///< printed as a summary at the end; if data were lost, the exit code is
                           ///< 4
  /// Facts of ranks from earlier commands. nullptr: all traces are read, and nothing is stored.
  std::shared_ptr<FactCache> cache = {};
  /// If set, runs are found here instead of in folders of traces (engine/rank_source.h).
  std::shared_ptr<RankSource> source = {};

  /// Returns the thread pool for all parallel work; the first call creates it.
  [[nodiscard]] TaskPool& pool() {
    const std::lock_guard lock(pool_mutex_);
    if (pool_ == nullptr)
      pool_ = std::make_unique<TaskPool>(threads);
    return *pool_;
  }

  /// message for people; may be hidden
  virtual void note([[maybe_unused]] std::string_view line) const {}
  virtual void warn([[maybe_unused]] std::string_view line) const {}
  /// Begins the progress display of an operation on this number of traces, with this number of
  /// bytes on disk.
  virtual void begin_progress([[maybe_unused]] std::size_t traces,
                              [[maybe_unused]] std::uint64_t bytes) {}
  /// Counts one more trace as done. Thread-safe.
  virtual void step_progress([[maybe_unused]] std::uint64_t bytes) {}

private:
  std::mutex pool_mutex_;
  std::unique_ptr<TaskPool> pool_;
};

} // namespace rankscope
