// Tests sending of bytes between processes, which are simulated by threads: each string arrives
// complete, and only at its receiver, for all lengths.
#include "os/exchange.h"

#include "thread_link.h"

#include <functional>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

using test::Letters;

/// Returns bytes that depend on the sender, the number of the string, and the position.
std::string text_of(std::size_t from, std::uint64_t number, std::size_t length) {
  std::string out;
  for (std::size_t i = 0; i < length; ++i)
    out += static_cast<char>((from * 31 + number * 7 + i * 3 + i / 251) & 0xffU);
  return out;
}

using Arrived = std::vector<std::pair<std::size_t, std::string>>;

/// Returns what the first process receives when process r sends count(r) strings with length(r,
/// number) bytes.
Arrived gathered(Letters& letters, std::size_t size, std::size_t piece,
                 const std::function<std::uint64_t(std::size_t)>& count,
                 const std::function<std::size_t(std::size_t, std::uint64_t)>& length) {
  Arrived out;
  test::run_job(letters, size, [&](Link& link) {
    const std::size_t rank = link.rank();
    std::uint64_t made = 0;
    gather_in_turn(
        link, count(rank),
        [&](std::uint64_t n) {
          EXPECT_EQ(n, made++) << rank; // in order, and each only once
          return text_of(rank, n, length(rank, n));
        },
        [&](std::size_t from, std::string bytes) {
          EXPECT_EQ(rank, 0U); // only the first process receives
          out.emplace_back(from, std::move(bytes));
        },
        piece);
    EXPECT_EQ(made, count(rank)) << rank;
  });
  return out;
}

void expect_all_arrive(std::size_t size, std::size_t piece,
                       const std::function<std::uint64_t(std::size_t)>& count,
                       const std::function<std::size_t(std::size_t, std::uint64_t)>& length) {
  Letters letters;
  Arrived want;
  for (std::size_t r = 0; r < size; ++r)
    for (std::uint64_t n = 0; n < count(r); ++n)
      want.emplace_back(r, text_of(r, n, length(r, n)));
  EXPECT_EQ(gathered(letters, size, piece, count, length), want) << size << " " << piece;
  EXPECT_LE(letters.longest, std::max(piece, sizeof(std::uint64_t)));
}

TEST(Exchange, EveryStringArrivesWholeAndInItsTurn) {
  for (const std::size_t size : {1U, 2U, 3U, 5U, 8U})
    for (const std::size_t piece : {1U, 7U, 1000U})
      expect_all_arrive(
          size, piece, [](std::size_t from) { return (from * 3 + 2) % 4; },
          [](std::size_t from, std::uint64_t n) { return (from * 13 + n * 5) % 29; });
}

TEST(Exchange, NothingToSayIsNoMessage) {
  Letters letters;
  EXPECT_TRUE(gathered(
                  letters, 4, 10, [](std::size_t) { return 0; },
                  [](std::size_t, std::uint64_t) { return 0; })
                  .empty());
  EXPECT_EQ(letters.messages, 0U);
  // only one process has a string; a string of the first process itself is not sent
  expect_all_arrive(
      4, 10, [](std::size_t from) { return from == 2 ? 1 : 0; },
      [](std::size_t, std::uint64_t) { return 35; });
  Letters unsent;
  EXPECT_EQ(gathered(
                unsent, 3, 10, [](std::size_t from) { return from == 0 ? 2 : 0; },
                [](std::size_t, std::uint64_t) { return 35; })
                .size(),
            2U);
  EXPECT_EQ(unsent.messages, 0U);
}

TEST(Exchange, ALongStringTravelsInPieces) {
  Letters letters;
  const Arrived got = gathered(
      letters, 2, 100, [](std::size_t from) { return from; },
      [](std::size_t, std::uint64_t) { return 1001; });
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].second, text_of(1, 0, 1001));
  EXPECT_EQ(letters.messages, 12U); // its length, ten pieces of 100 bytes, one of 1
  EXPECT_EQ(letters.longest, 100U);
}

TEST(Exchange, TheFirstHasTheWord) {
  Letters letters;
  test::run_job(letters, 4,
                [](Link& link) { EXPECT_EQ(said_by_first(link, 40 + link.rank()), 40U); });
}

} // namespace
} // namespace rankscope
