// Tests that spilled bytes are returned unchanged, from memory and from the file.
#include "engine/spilled_bytes.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>
#include <utility>

namespace rankscope {
namespace {

TEST(SpilledBytes, WhatWasPutComesBackFromMemoryAndFromTheFile) {
  for (const std::size_t in_memory :
       {std::size_t{0}, std::size_t{3} << 20, std::size_t{64} << 20}) {
    SpilledBytes store(in_memory);
    std::mt19937 random(11);
    std::vector<std::pair<std::uint64_t, std::string>> put;
    for (int i = 0; i < 3000; ++i) {
      const auto size = std::uniform_int_distribution<std::size_t>(0, 4000)(random);
      std::string bytes(size, static_cast<char>('a' + i % 26));
      const auto at = store.put(bytes);
      ASSERT_TRUE(at) << at.error().message();
      put.emplace_back(*at, std::move(bytes));
    }
    std::shuffle(put.begin(), put.end(), random);
    for (const auto& [at, bytes] : put) {
      const auto back = store.get(at, bytes.size());
      ASSERT_TRUE(back) << back.error().message();
      ASSERT_EQ(*back, bytes) << in_memory;
    }
    EXPECT_FALSE(store.get(std::uint64_t{1} << 40, 10));
  }
}

TEST(SpilledBytes, APieceLargerThanABlockGoesToTheFile) {
  SpilledBytes store;
  const std::string large(std::size_t{3} << 20, 'x');
  const auto first = store.put("few");
  const auto at = store.put(large);
  const auto behind = store.put("more");
  ASSERT_TRUE(first && at && behind);
  EXPECT_EQ(*store.get(*first, 3), "few");
  EXPECT_EQ(*store.get(*at, large.size()), large);
  EXPECT_EQ(*store.get(*behind, 4), "more");
}

TEST(SpilledBytes, WithoutATemporaryFolderItIsAnError) {
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", "/no/such/folder", 1);
  SpilledBytes store(0);
  const auto at = store.put("bytes");
  if (before == nullptr)
    ::unsetenv("TMPDIR");
  else
    ::setenv("TMPDIR", kept.c_str(), 1);
  ASSERT_FALSE(at);
  EXPECT_EQ(at.error().code, ErrorCode::kOutput);
}

} // namespace
} // namespace rankscope
