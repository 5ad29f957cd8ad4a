// Tests cached facts of traces, and their folder.
#include "engine/fact_cache.h"
#include "settle.h"
#include "temp_folder.h"

#include <array>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

RankFile file_of(const std::string& path, std::int64_t rank = 0) {
  RankFile out;
  out.rank = rank;
  out.path = path;
  return out;
}

TEST(FactCache, AreFoundForTheSameTraceKeyAndIdentityOnly) {
  const test::TempFolder folder;
  FactCache cache(folder.path("cache"));
  const RankFile trace = file_of(folder.write("rank0.json", "{}"));
  EXPECT_FALSE(cache.find(trace, "id", "record"));
  cache.store(trace, "id", "record", std::string("a\0b", 3));
  EXPECT_EQ(cache.find(trace, "id", "record"), std::string("a\0b", 3));
  EXPECT_FALSE(cache.find(trace, "other", "record"));
  EXPECT_FALSE(cache.find(trace, "id", "record\noptions"));
  EXPECT_FALSE(cache.find(file_of(trace.path, 1), "id", "record"));
  EXPECT_EQ(FactCache(folder.path("cache")).find(trace, "id", "record"), std::string("a\0b", 3));
  cache.store(trace, "new", "record", "c");
  EXPECT_FALSE(cache.find(trace, "id", "record"));
  EXPECT_EQ(cache.size().files, 1U);
}

TEST(FactCache, BelongToTheUserAlone) {
  const test::TempFolder folder;
  FactCache cache(folder.path("below/cache"));
  cache.store(file_of("t"), "id", "key", "bytes");
  struct stat info = {};
  ASSERT_EQ(::stat(cache.folder().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
  for (const auto& entry : fs::directory_iterator(cache.folder())) {
    ASSERT_EQ(::stat(entry.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0600U);
  }
}

TEST(FactCache, DamagedFilesAreNotUsed) {
  const test::TempFolder folder;
  FactCache cache(folder.path("cache"));
  cache.store(file_of("t"), "id", "key", "bytes");
  const fs::path path = fs::directory_iterator(cache.folder())->path();
  const std::string stored = test::bytes_of(path.string());
  for (std::size_t n = 0; n < stored.size(); ++n) {
    folder.write("cache/" + path.filename().string(), stored.substr(0, n));
    EXPECT_FALSE(cache.find(file_of("t"), "id", "key")) << n;
    std::string changed = stored;
    changed[n] = static_cast<char>(changed[n] ^ 4);
    folder.write("cache/" + path.filename().string(), changed);
    EXPECT_FALSE(cache.find(file_of("t"), "id", "key")) << n;
  }
  folder.write("cache/" + path.filename().string(), stored);
  EXPECT_TRUE(cache.find(file_of("t"), "id", "key"));
}

TEST(FactCache, WhatWasUsedLongestAgoIsRemovedFirst) {
  const test::TempFolder folder;
  const std::string bytes(1000, 'x');
  const std::string cache = folder.path("cache");
  for (int i = 0; i < 4; ++i) {
    FactCache(cache).store(file_of(std::to_string(i)), "id", "key", bytes);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(FactCache(cache).find(file_of("0"), "id", "key")); // marks the fact as used
  folder.write("cache/notes.txt", "somebody's");
  {
    FactCache small(cache, 3500);
    small.store(file_of("4"), "id", "key", bytes);
  }
  const FactCache after(cache);
  EXPECT_TRUE(after.find(file_of("0"), "id", "key"));
  EXPECT_FALSE(after.find(file_of("1"), "id", "key"));
  EXPECT_FALSE(after.find(file_of("2"), "id", "key"));
  EXPECT_TRUE(after.find(file_of("4"), "id", "key"));
  EXPECT_EQ(after.size().files, 3U);
  EXPECT_EQ(FactCache(cache).clear().files, 3U);
  EXPECT_EQ(after.size().files, 0U);
  EXPECT_TRUE(fs::exists(folder.path("cache/notes.txt")));
}

TEST(FactCache, AFolderThatCannotBeUsedKeepsNothing) {
  const test::TempFolder folder;
  folder.write("file", "");
  for (const std::string& path : {folder.path("file"), folder.path("file/below"),
                                  std::string("/proc/rankscope"), std::string()}) {
    FactCache cache(path);
    cache.store(file_of("t"), "id", "key", "bytes");
    EXPECT_FALSE(cache.find(file_of("t"), "id", "key")) << path;
  }
}

TEST(TraceIdentity, TellsATraceFromOneThatReplacedIt) {
  const test::TempFolder folder;
  const std::string bytes(200'000, 'a');
  const RankFile file = file_of(folder.write("rank0.json", bytes));
  // the file may be changed again within the same tick of the file system's clock
  EXPECT_FALSE(trace_identity(file).unique);
  test::settle();
  const auto before = trace_identity(file);
  ASSERT_TRUE(before.unique);
  EXPECT_EQ(trace_identity(file).text, before.text);
  struct stat info = {};
  ASSERT_EQ(::stat(file.path.c_str(), &info), 0);
  folder.write("rank0.json", bytes.substr(1) + "b");
  const std::array<timespec, 2> times = {info.st_atim, info.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.path.c_str(), times.data(), 0), 0);
  test::settle();
  const auto after = trace_identity(file); // the same size and modification time
  ASSERT_TRUE(after.unique);
  EXPECT_NE(after.text, before.text);
  EXPECT_FALSE(trace_identity(file_of("-")).unique);
  EXPECT_FALSE(trace_identity(file_of(folder.path())).unique);
  EXPECT_FALSE(trace_identity(file_of(folder.path("absent"))).unique);
}

} // namespace
} // namespace rankscope
