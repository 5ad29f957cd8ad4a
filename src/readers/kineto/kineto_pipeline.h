// Parses the pieces of one file in parallel: the reader cuts the file into pieces, pool threads
// parse them, and the reader merges the results in file order.
#pragma once

#include "os/condition_wait.h"
#include "os/tasks.h"
#include "readers/kineto/kineto_chunk.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace rankscope {

/// Some complete events, and the chunk that is made from them.
struct KinetoJob {
  std::string text;
  std::uint64_t offset = 0; ///< position of the text in the decompressed file
  KinetoChunk chunk;
  bool done = false;
  std::exception_ptr failed; ///< set if parsing threw an exception, for example because memory was
                             ///< not sufficient
};

/// Parses pieces on the pool. Only one thread may use the object. `share` is the number of pool
/// threads for this file; idle threads of the pool are used too. If the pool has one thread, push()
/// parses each piece itself.
class KinetoPipeline {
public:
  KinetoPipeline(TaskPool* pool, unsigned share, KinetoKeep keep)
      : pool_(pool), share_(std::max(1U, share)), keep_(keep), group_(pool) {}

  /// Adds a piece. Calls `merge(job)` for the pieces that are parsed, in file order.
  template <class Merge> void push(std::unique_ptr<KinetoJob> job, const Merge& merge) {
    const bool alone = pool_ == nullptr || pool_->threads() == 1;
    const bool helpers = !alone && pool_->idle();
    if (order_.empty() && (alone || (share_ == 1 && !helpers))) {
      parse(*job);
      merge(*job);
      return;
    }
    order_.push_back(std::move(job));
    group_.run([this, &at = *order_.back()] { parse_queued(at); });
    drain(merge, std::size_t{2} * (helpers ? pool_->threads() : share_));
  }

  /// Merges parsed pieces in order until at most `keep` pieces are left. While the first piece is
  /// not parsed yet, the calling thread parses other pieces.
  template <class Merge> void drain(const Merge& merge, std::size_t keep) {
    while (!order_.empty()) {
      if (front_is_done()) {
        const std::unique_ptr<KinetoJob> job = std::move(order_.front());
        order_.pop_front();
        if (job->failed)
          std::rethrow_exception(job->failed);
        merge(*job);
      } else if (order_.size() <= keep) {
        return;
      } else if (!group_.help()) {
        std::unique_lock lock(mutex_);
        wait_on(ready_, lock, [this] { return order_.front()->done; });
      }
    }
  }

private:
  void parse(KinetoJob& job) const {
    parse_kineto_chunk(job.text, job.offset, false, keep_, job.chunk);
  }
  void parse_queued(KinetoJob& job) {
    std::exception_ptr failed;
    try {
      parse(job);
    } catch (...) {
      failed = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    job.failed = failed;
    job.done = true;
    ready_.notify_one(); // notify before unlocking: afterwards the reader may destroy this object
  }
  [[nodiscard]] bool front_is_done() {
    const std::lock_guard lock(mutex_);
    return order_.front()->done;
  }

  TaskPool* pool_;
  unsigned share_;
  KinetoKeep keep_;
  std::mutex mutex_; ///< protects `done` and `failed`
  std::condition_variable ready_;
  std::deque<std::unique_ptr<KinetoJob>> order_;
  TaskGroup group_; ///< last member: its destructor waits for the tasks that use the others
};

} // namespace rankscope
