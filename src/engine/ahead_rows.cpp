#include "engine/ahead_rows.h"

#include "os/condition_wait.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace rankscope {
namespace {

/// Tables that the producer has made and that the consumer has not received yet.
class Waiting {
public:
  /// Claims the work of making the rows. Returns true only to the first caller.
  bool begin() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
    return !std::exchange(begun_, true);
  }
  /// Waits for a short time, or until the work is claimed.
  void await_begin() {
    constexpr auto kWait = std::chrono::milliseconds(20);
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kWait, [this] { return begun_; });
  }
  /// Adds a table; waits until there is space for it. Returns false if the consumer has stopped.
  bool put(Table table) {
    std::unique_lock lock(mutex_);
    wait_on(changed_, lock, [this] { return left_ || rows_ < kMostRows; });
    if (left_)
      return false;
    rows_ += table.rows();
    tables_.push_back(std::move(table));
    if (rows_ >= kEnoughRows)
      changed_.notify_all();
    return true;
  }
  void end(Result<void> how) {
    const std::lock_guard lock(mutex_);
    how_ = std::move(how);
    changed_.notify_all();
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    left_ = true;
    changed_.notify_all();
  }
  /// Waits for more tables, and returns them. Returns an empty list if there are no more tables. To
  /// avoid a wake-up for each table, it waits until there are kEnoughRows rows.
  std::vector<Table> take() {
    std::unique_lock lock(mutex_);
    wait_on(changed_, lock, [this] { return how_ || rows_ >= kEnoughRows; });
    rows_ = 0;
    changed_.notify_all();
    return std::exchange(tables_, {});
  }
  /// Returns the result of the producer. Call it only after take() has returned an empty list.
  Result<void> how() { return *how_; }

private:
  static constexpr std::size_t kEnoughRows = 4096, kMostRows = 2 * kEnoughRows;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Table> tables_;
  std::size_t rows_ = 0;            ///< rows in tables_
  std::optional<Result<void>> how_; ///< result of the producer
  bool begun_ = false, left_ = false;
};

void make(const RowStream& stream, Waiting& waiting) {
  if (!waiting.begin())
    return;
  try {
    waiting.end(stream.each([&waiting](const Table& some) -> Result<void> {
      if (waiting.put(some))
        return {};
      return Error{ErrorCode::kInternal, "", "the consumer stopped reading the rows", ""};
    }));
  } catch (...) {
    waiting.end(error_of_current_exception());
  }
}

class AheadRows final : public RowStream {
public:
  AheadRows(TaskPool& pool, std::shared_ptr<const RowStream> stream)
      : pool_(pool), stream_(std::move(stream)) {}
  [[nodiscard]] std::size_t rows() const override { return stream_->rows(); }

  [[nodiscard]] Result<void> each(const Use& use) const override {
    if (pool_.threads() < 2)
      return stream_->each(use);
    Waiting waiting;
    TaskGroup maker(&pool_);
    const Leave at_the_end{waiting};
    maker.run([this, &waiting] { make(*stream_, waiting); });
    waiting.await_begin();
    if (waiting.begin()) // all pool threads are busy, perhaps until this function ends
      return stream_->each(use);
    for (std::vector<Table> some = waiting.take(); !some.empty(); some = waiting.take())
      for (const Table& table : some)
        RS_CHECK(use(table));
    return waiting.how();
  }

private:
  struct Leave {
    Waiting& waiting;
    ~Leave() { waiting.leave(); }
  };

  TaskPool& pool_;
  std::shared_ptr<const RowStream> stream_;
};

} // namespace

std::shared_ptr<const RowStream> ahead_rows(TaskPool& pool,
                                            std::shared_ptr<const RowStream> stream) {
  return std::make_shared<AheadRows>(pool, std::move(stream));
}

} // namespace rankscope
