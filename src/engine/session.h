// Session: the environment of every use case, in addition to its request. Only src/cli prints; it
// overrides the virtual functions below.
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
  unsigned threads = 1;    ///< -j, already resolved to at least 1; fixed at the first pool()
  bool partial = false;    ///< set by a use case: exit 4 at the end
  Diagnostics diagnostics; ///< printed as a summary at the end; data loss makes exit 4
  /// Facts of ranks from earlier runs. nullptr: every trace is read, and nothing is cached.
  std::shared_ptr<FactCache> cache = {};
  /// The source of runs in place of folders of traces (engine/rank_source.h).
  std::shared_ptr<RankSource> source = {};

  /// Returns the thread pool for all concurrent work, made at the first call.
  [[nodiscard]] TaskPool& pool() {
    const std::lock_guard lock(pool_mutex_);
    if (pool_ == nullptr)
      pool_ = std::make_unique<TaskPool>(threads);
    return *pool_;
  }

  virtual void note([[maybe_unused]] std::string_view line) const {} ///< for people; may be hidden
  virtual void warn([[maybe_unused]] std::string_view line) const {}
  /// Begins a long operation on this number of traces with this number of bytes on disk.
  virtual void begin_progress([[maybe_unused]] std::size_t traces,
                              [[maybe_unused]] std::uint64_t bytes) {}
  /// Marks one trace as done. Thread-safe.
  virtual void step_progress([[maybe_unused]] std::uint64_t bytes) {}

private:
  std::mutex pool_mutex_;
  std::unique_ptr<TaskPool> pool_;
};

} // namespace rankscope
