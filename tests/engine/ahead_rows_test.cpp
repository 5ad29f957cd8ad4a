// Tests that rows which are created ahead are those of the stream, in order, and that errors of the
// stream and of the consumer are returned.
#include "engine/ahead_rows.h"

#include <gtest/gtest.h>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace rankscope {
namespace {

/// A stream of `tables` tables with two rows each: (0, "0"), (1, "1"), ...
class Numbers final : public RowStream {
public:
  explicit Numbers(std::int64_t tables) : tables_(tables) {}
  [[nodiscard]] std::size_t rows() const override { return 2 * static_cast<std::size_t>(tables_); }
  [[nodiscard]] Result<void> each(const Use& use) const override {
    for (std::int64_t t = 0; t < tables_; ++t) {
      if (t == fails_at)
        return Error{ErrorCode::kUnreadable, "store", "cannot be read", ""};
      if (t == throws_at)
        throw std::bad_alloc();
      Table some("numbers", {"number", "text"});
      for (std::int64_t i = 2 * t; i < 2 * t + 2; ++i) {
        const std::string text = std::to_string(i);
        some.add_row({i, text});
      }
      RS_CHECK(use(some));
    }
    return {};
  }
  std::int64_t fails_at = -1, throws_at = -1;

private:
  std::int64_t tables_;
};

/// Consumes the stream; appends the rows to `out`.
Result<void> take_all(const RowStream& stream, std::vector<std::int64_t>& out) {
  return stream.each([&out](const Table& some) -> Result<void> {
    for (std::size_t r = 0; r < some.rows(); ++r) {
      EXPECT_EQ(some.at(r, 1).text, std::to_string(some.at(r, 0).i));
      out.push_back(some.at(r, 0).i);
    }
    return {};
  });
}

class AheadRows : public ::testing::Test {
protected:
  TaskPool pool_{2};
};

TEST_F(AheadRows, AreThoseOfTheStreamEachTime) {
  const auto ahead = ahead_rows(pool_, std::make_shared<Numbers>(100));
  EXPECT_EQ(ahead->rows(), 200U);
  for (int time = 0; time < 2; ++time) {
    std::vector<std::int64_t> got;
    ASSERT_TRUE(take_all(*ahead, got));
    ASSERT_EQ(got.size(), 200U);
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(got[i], static_cast<std::int64_t>(i));
  }
  std::vector<std::int64_t> none;
  EXPECT_TRUE(take_all(*ahead_rows(pool_, std::make_shared<Numbers>(0)), none));
  EXPECT_TRUE(none.empty());
}

TEST_F(AheadRows, AnErrorComesBehindTheRowsBeforeIt) {
  const auto numbers = std::make_shared<Numbers>(100);
  numbers->fails_at = 5;
  std::vector<std::int64_t> got;
  Result<void> end = take_all(*ahead_rows(pool_, numbers), got);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().where, "store");
  EXPECT_EQ(got.size(), 10U);
  numbers->fails_at = -1;
  numbers->throws_at = 3;
  got.clear();
  end = take_all(*ahead_rows(pool_, numbers), got);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::kUnreadable); // out of memory
  EXPECT_EQ(got.size(), 6U);
}

TEST_F(AheadRows, WhoTakesMayStop) {
  const auto ahead =
      // the stream is never read completely
      ahead_rows(pool_, std::make_shared<Numbers>(1'000'000'000));
  int tables = 0;
  const Result<void> end = ahead->each([&tables](const Table&) -> Result<void> {
    if (++tables == 3)
      return Error{ErrorCode::kOutput, "file", "no room", ""};
    return {};
  });
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().where, "file");
  EXPECT_EQ(tables, 3);
  EXPECT_THROW((void)ahead->each([](const Table&) -> Result<void> { throw 7; }), int);
}

TEST_F(AheadRows, WithoutAThreadTheOneWhoTakesMakesThem) {
  const auto numbers = std::make_shared<Numbers>(10);
  TaskPool alone(1);
  std::vector<std::int64_t> got;
  EXPECT_TRUE(take_all(*ahead_rows(alone, numbers), got));
  EXPECT_EQ(got.size(), 20U);
  // the only worker of the pool waits for the lock below
  std::mutex busy;
  std::unique_lock lock(busy);
  TaskGroup other(&pool_);
  other.run([&busy] { const std::lock_guard wait(busy); });
  while (pool_.idle())
    std::this_thread::yield();
  got.clear();
  EXPECT_TRUE(take_all(*ahead_rows(pool_, numbers), got));
  EXPECT_EQ(got.size(), 20U);
  lock.unlock();
  EXPECT_TRUE(other.wait());
}

} // namespace
} // namespace rankscope
