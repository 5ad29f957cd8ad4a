// Tests repetition in lists of names and pairs of similar steps, with cases by hand and against
// slow brute-force implementations.
#include "analyses/inference/step_pairs.h"
#include "analyses/inference/step_repeats.h"
#include "cost.h"
#include "sanitized.h"

#include <gtest/gtest.h>
#include <random>
#include <tuple>

namespace rankscope {
namespace {

std::optional<Repeat> repeat_of(const std::vector<StrId>& names) {
  std::int64_t work = 1'000'000;
  return find_repeat(names, work);
}

TEST(FindRepeat, ByHand) {
  EXPECT_EQ(repeat_of({9, 1, 2, 1, 2, 1, 2}), (Repeat{1, 2, 3}));
  EXPECT_EQ(repeat_of({1, 2, 1, 2, 1, 2}), (Repeat{0, 2, 3}));
  EXPECT_EQ(repeat_of({5, 5, 5}), (Repeat{0, 1, 3}));
  EXPECT_FALSE(repeat_of({1, 2, 1, 2}));       // repeated twice; three times are needed
  EXPECT_FALSE(repeat_of({1, 1, 1, 4, 5, 6})); // half of the names
  EXPECT_EQ(repeat_of({1, 1, 1, 4, 5}), (Repeat{0, 1, 3}));
  EXPECT_FALSE(repeat_of({}));
  std::int64_t nothing = 0;
  EXPECT_FALSE(find_repeat(std::vector<StrId>{5, 5, 5}, nothing));
}

TEST(FindRepeat, AsTheWordsSayIt) {
  std::mt19937 random(7);
  int found = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<StrId> names(random() % 14);
    for (StrId& n : names)
      n = static_cast<StrId>(random() % 3);
    std::optional<Repeat> want;
    const std::size_t n = names.size();
    for (std::size_t start = 0; start < n && !want; ++start)
      for (std::size_t p = 1; start + p <= n && !want; ++p) {
        std::size_t times = 1;
        const auto block = [&](std::size_t k) {
          return std::vector<StrId>(names.begin() + static_cast<std::ptrdiff_t>(start + k * p),
                                    names.begin() + static_cast<std::ptrdiff_t>(start + k * p + p));
        };
        while (start + (times + 1) * p <= n && block(times) == block(0))
          ++times;
        if (times >= 3 && 2 * times * p > n - start)
          want = Repeat{start, p, times};
      }
    EXPECT_EQ(repeat_of(names), want) << "round " << round;
    found += want ? 1 : 0;
  }
  EXPECT_GT(found, 100);
}

AnnotatedStep decode(double g_sk) {
  AnnotatedStep s;
  s.counts.generation_requests = 1;
  s.counts.sums.g_sq = 1;
  s.counts.sums.g_sk = g_sk;
  return s;
}

AnnotatedStep mixed(std::int64_t c, std::int64_t g, double c_sq) {
  AnnotatedStep s;
  s.counts.context_requests = c;
  s.counts.generation_requests = g;
  s.counts.sums.c_sq = c_sq;
  s.counts.sums.g_sq = static_cast<double>(g);
  return s;
}

TEST(PairSteps, LongestOfTheNearest) {
  const auto pairs = pair_steps({decode(10), decode(20), decode(30), decode(40)},
                                {decode(21), decode(31), decode(39)});
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].phase, StepPhase::kDecode);
  EXPECT_EQ(pairs[0].first, (StepRange{1, 4}));
  EXPECT_EQ(pairs[0].second, (StepRange{0, 3}));
  EXPECT_EQ(pairs[0].distance, 1);
  EXPECT_TRUE(pair_steps({decode(10)}, {decode(10)}).empty()); // a decode pair needs two steps
}

// Requests take precedence over tokens: 2 + 6 requests with 900 tokens more are nearer to 2 + 6
// than 3 + 6 requests with equal tokens.
TEST(PairSteps, RequestsBeforeTokens) {
  const auto pairs =
      pair_steps({mixed(2, 6, 100)}, {mixed(3, 6, 100), decode(5), mixed(2, 6, 1000)});
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].phase, StepPhase::kMixed);
  EXPECT_EQ(pairs[0].second, (StepRange{2, 3}));
  EXPECT_EQ(pairs[0].distance, 0);
  EXPECT_EQ(pairs[0].then, 900);
}

TEST(PairSteps, AsAllBlocksTried) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const auto below = [&random](std::uint32_t n) { return static_cast<int>(random() % n); };
    const auto list = [&below] {
      std::vector<AnnotatedStep> out(static_cast<std::size_t>(1 + below(8)));
      for (AnnotatedStep& s : out)
        s = below(3) == 0 ? mixed(1 + below(2), 1 + below(2), below(3)) : decode(below(4));
      return out;
    };
    const auto a = list();
    const auto b = list();
    for (const StepPhase phase : {StepPhase::kMixed, StepPhase::kDecode}) {
      const std::size_t least = phase == StepPhase::kDecode ? 2 : 1;
      using Key = std::tuple<double, double, std::int64_t>; // distances, then the negative length
      std::optional<Key> want;
      for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < b.size(); ++j) {
          double first = 0;
          double second = 0;
          for (std::size_t n = 0; i + n < a.size() && j + n < b.size(); ++n) {
            const StepCounts& x = a[i + n].counts;
            const StepCounts& y = b[j + n].counts;
            if (phase_of(x) != phase || phase_of(y) != phase)
              break;
            const auto far = [](auto u, auto v) { return std::abs(double(u) - double(v)); };
            first += phase == StepPhase::kDecode
                         ? far(x.sums.g_sq, y.sums.g_sq) + far(x.sums.g_sk, y.sums.g_sk)
                         : far(x.context_requests, y.context_requests) +
                               far(x.generation_requests, y.generation_requests);
            second += phase == StepPhase::kDecode
                          ? 0
                          : far(x.sums.c_sq, y.sums.c_sq) + far(x.sums.g_sq, y.sums.g_sq);
            const auto size = static_cast<double>(n + 1);
            if (n + 1 >= least) {
              const Key key{first / size, second / size, -static_cast<std::int64_t>(n + 1)};
              want = want ? std::min(*want, key) : key;
            }
          }
        }
      std::optional<Key> got;
      for (const PairedSteps& p : pair_steps(a, b))
        if (p.phase == phase)
          got = Key{p.distance, p.then, -static_cast<std::int64_t>(p.first.size())};
      EXPECT_EQ(got.has_value(), want.has_value()) << "round " << round;
      if (got && want) {
        EXPECT_NEAR(std::get<0>(*got), std::get<0>(*want), 1e-12) << "round " << round;
        EXPECT_NEAR(std::get<1>(*got), std::get<1>(*want), 1e-12) << "round " << round;
        EXPECT_EQ(std::get<2>(*got), std::get<2>(*want)) << "round " << round;
      }
    }
  }
}

TEST(PairSteps, OfEqualOnesTheFirst) {
  // 7 8 is in both lists twice; 9 is in both, but is only one step
  const auto steps = [](std::initializer_list<double> tokens) {
    std::vector<AnnotatedStep> out;
    for (const double t : tokens)
      out.push_back(decode(t));
    return out;
  };
  auto pairs = pair_steps(steps({1, 7, 8, 2, 9, 3, 7, 8}), steps({4, 7, 8, 9, 7, 8, 5}));
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].first, (StepRange{1, 3}));
  EXPECT_EQ(pairs[0].second, (StepRange{1, 3}));
  EXPECT_EQ(pairs[0].distance, 0);
  pairs = pair_steps(steps({10, 20, 50, 10, 20}), steps({11, 21, 80, 11, 21}));
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].first, (StepRange{0, 2}));
  EXPECT_EQ(pairs[0].second, (StepRange{0, 2}));
}

// Regression test: each step was compared with each step of the other trace.
TEST(PairSteps, TimeGrowsAsTheNumberOfSteps) {
  using Steps = std::vector<AnnotatedStep>;
  using Make = AnnotatedStep (*)(std::size_t i, bool second);
  const auto made = [](Make make, std::size_t n, bool second) {
    Steps out;
    for (std::size_t i = 0; i < n; ++i)
      out.push_back(make(i, second));
    return out;
  };
  const Make kinds[] = {
      [](std::size_t i, bool second) { // a context that grows, and restarts every 1000 steps
        return decode(static_cast<double>(37 * (i % 1000) + i / 1000 + (second ? 5 : 0)));
      },
      [](std::size_t, bool) { return decode(7); },
      [](std::size_t, bool) { return mixed(1, 0, 128); },
      [](std::size_t i, bool second) { // random lengths
        return mixed(1, 0, static_cast<double>(i * (second ? 7919 : 104729) % 65537));
      },
      [](std::size_t i, bool second) {
        return mixed(1, static_cast<std::int64_t>(i % 64),
                     static_cast<double>(second ? i : i * i % 4093));
      }};
  const std::size_t n = test::kSanitized ? 1'000 : 5'000;
  for (const Make make : kinds)
    test::expect_near_linear(n, [&](std::size_t k) {
      ASSERT_FALSE(pair_steps(made(make, k, false), made(make, k, true)).empty());
    });
}

} // namespace
} // namespace rankscope
