// Bytes between processes, with threads in their place: each string arrives whole, at its receiver
// alone, whatever the lengths.
#include "os/exchange.h"

#include "thread_link.h"

#include <functional>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

using test::Letters;

/// Bytes that tell where they come from, where they go and where they stand.
std::string text_of(std::size_t from, std::size_t to, std::size_t length) {
  std::string out;
  for (std::size_t i = 0; i < length; ++i)
    out += static_cast<char>((from * 31 + to * 7 + i * 3 + i / 251) & 0xffU);
  return out;
}

void expect_all_arrive(std::size_t size, std::size_t piece,
                       const std::function<std::size_t(std::size_t, std::size_t)>& length) {
  Letters letters;
  test::run_job(letters, size, [&](Link& link) {
    std::vector<std::string> to_each;
    for (std::size_t r = 0; r < size; ++r)
      to_each.push_back(text_of(link.rank(), r, length(link.rank(), r)));
    const std::vector<std::string> got = all_to_all(link, std::move(to_each), piece);
    ASSERT_EQ(got.size(), size);
    for (std::size_t r = 0; r < size; ++r)
      EXPECT_EQ(got[r], text_of(r, link.rank(), length(r, link.rank()))) << r;
  });
  EXPECT_LE(letters.longest, piece);
}

TEST(Exchange, EveryStringArrivesWhole) {
  for (const std::size_t size : {1U, 2U, 3U, 5U, 8U})
    for (const std::size_t piece : {1U, 7U, 1000U})
      expect_all_arrive(size, piece,
                        [](std::size_t from, std::size_t to) { return (from * 13 + to * 5) % 29; });
}

TEST(Exchange, NothingToSayIsNoMessage) {
  expect_all_arrive(4, 10, [](std::size_t, std::size_t) { return 0; });
  // one of them alone has something for one other
  expect_all_arrive(4, 10, [](std::size_t from, std::size_t to) {
    return from == 2 && to == 1 ? std::size_t{35} : 0;
  });
  Letters letters;
  test::run_job(letters, 3, [](Link& link) { (void)all_to_all(link, {}, 10); });
  EXPECT_EQ(letters.messages, 0U);
}

TEST(Exchange, ALongStringTravelsInPieces) {
  Letters letters;
  test::run_job(letters, 2, [](Link& link) {
    std::vector<std::string> to_each(2);
    to_each[1] = link.rank() == 0 ? std::string(1001, 'x') : "";
    const auto got = all_to_all(link, std::move(to_each), 100);
    EXPECT_EQ(got[0].size(), link.rank() == 1 ? 1001U : 0U);
  });
  EXPECT_EQ(letters.messages, 11U); // ten of 100, one of 1
  EXPECT_EQ(letters.longest, 100U);
}

TEST(Exchange, GatheredAtTheFirst) {
  Letters letters;
  test::run_job(letters, 5, [](Link& link) {
    const auto got = gather_at_first(link, text_of(link.rank(), 0, 100 * link.rank()), 64);
    if (link.rank() != 0) {
      EXPECT_TRUE(got.empty());
      return;
    }
    ASSERT_EQ(got.size(), 5U);
    for (std::size_t r = 0; r < 5; ++r)
      EXPECT_EQ(got[r], text_of(r, 0, 100 * r));
  });
}

TEST(Exchange, TheFirstHasTheWord) {
  Letters letters;
  test::run_job(letters, 4,
                [](Link& link) { EXPECT_EQ(said_by_first(link, 40 + link.rank()), 40U); });
}

} // namespace
} // namespace rankscope
