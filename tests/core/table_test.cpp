#include "core/table.h"

#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace rankscope {
namespace {

TEST(Table, CopiesAreIndependent) {
  Table a("t", {{"x"}, {"y"}});
  a.add_row({1, "one"});
  Table b = a;
  b.add_row({2, "two"});
  a.add_row({3, "three"});
  EXPECT_EQ(a.at(1, 1).text, "three");
  EXPECT_EQ(b.at(1, "y").text, "two");
  EXPECT_EQ(b.at(0, "y").text, "one");
}

// For ThreadSanitizer. Earlier, one copy checked how many copies shared its texts and then wrote
// into them, while another copy that checked later read the texts in order to copy them.
TEST(Table, CopiesMayBeChangedByDifferentThreads) {
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Table> copies;
    {
      Table original("t", {{"x"}, {"y"}});
      original.add_row({0, "shared"});
      copies.assign(4, original);
    }
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < copies.size(); ++i)
      threads.emplace_back([&table = copies[i], i] {
        for (int n = 0; n < 10; ++n) {
          const std::string text = std::to_string(i) + " " + std::to_string(n);
          table.add_row({n, text});
        }
      });
    for (std::thread& thread : threads)
      thread.join();
    for (std::size_t i = 0; i < copies.size(); ++i) {
      ASSERT_EQ(copies[i].rows(), 11U);
      EXPECT_EQ(copies[i].at(0, "y").text, "shared");
      EXPECT_EQ(copies[i].at(10, "y").text, std::to_string(i) + " 9");
    }
  }
}

// A Value references its text. With a temporary text that was destroyed before the row was added, a
// workbook contained bytes of freed memory.
static_assert(std::is_constructible_v<Value, const std::string&>);
static_assert(std::is_constructible_v<Value, const std::optional<std::string>&>);
static_assert(!std::is_constructible_v<Value, std::string>);
static_assert(!std::is_constructible_v<Value, const std::string>);
static_assert(!std::is_constructible_v<Value, std::optional<std::string>>);

TEST(Table, MayBeCopiedByDifferentThreads) {
  Table original("t", {{"x"}, {"y"}});
  original.add_row({0, "shared"});
  const Table& constant = original;
  std::vector<std::thread> threads;
  std::vector<std::optional<Table>> copies(4);
  for (std::size_t i = 0; i < copies.size(); ++i)
    threads.emplace_back([&constant, &copy = copies[i], i] {
      copy.emplace(constant);
      const std::string text = std::to_string(i);
      copy->set(0, 1, text);
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(original.at(0, 1).text, "shared");
  for (std::size_t i = 0; i < copies.size(); ++i)
    EXPECT_EQ(copies[i]->at(0, 1).text, std::to_string(i));
}

TEST(Table, TextsOutliveTheTableThatTheyWereCopiedFrom) {
  std::optional<Table> first(std::in_place, "t", std::vector<Column>{{"x"}});
  first->add_row({"of the first"});
  Table second = *first;
  first->add_row({"after the copy"}); // is stored in memory that the copy does not read
  second.add_row({"of the second"});
  const Table picked = second.select({"x"});
  first.reset();
  EXPECT_EQ(second.at(0, 0).text, "of the first");
  EXPECT_EQ(second.at(1, 0).text, "of the second");
  EXPECT_EQ(picked.at(1, 0).text, "of the second");
}

TEST(Table, ShownNumbersThatRoundToZeroHaveNoSign) {
  Column two{"x"};
  two.decimals = 2;
  for (const auto& [number, text] : std::vector<std::pair<double, std::string>>{
           {-0.0, "0.00"}, {-0.004, "0.00"}, {0.004, "0.00"}, {-0.006, "-0.01"}, {1.5, "1.50"}})
    EXPECT_EQ(shown_value(Value(number), two), text);
}

} // namespace
} // namespace rankscope
