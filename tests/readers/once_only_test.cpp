// Tests input that can be read only once, and text that needs much more work than its size
// suggests.
#include "cost.h"
#include "os/byte_source.h"
#include "readers/reader.h"
#include "sanitized.h"
#include "temp_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>
#include <zstd.h>

namespace rankscope {
namespace {

using test::TempFolder;

std::string trace_of(int events) {
  std::string out = R"({"schemaVersion":1,"traceEvents":[)";
  for (int i = 0; i < events; ++i)
    out += (i > 0 ? ",\n" : "") + (R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":)" +
                                   std::to_string(i) + R"(,"dur":1,"args":{"stream":7}})");
  return out + "]}";
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

/// Reads the bytes from a named pipe, from which they can be read only once.
Result<Trace> read_pipe(const std::string& bytes, const ReadOptions& options = {}) {
  const TempFolder folder;
  const std::string path = folder.path("pipe");
  EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] {
    std::ofstream out(path, std::ios::binary);
    out << bytes;
  });
  Result<Trace> trace = read_trace(path, options);
  const int rest = ::open(path.c_str(), O_RDONLY | O_NONBLOCK); // unblocks the writer in any case
  writer.join();
  if (rest >= 0)
    ::close(rest);
  return trace;
}

TEST(OnceOnly, APipeIsReadAsAFileIs) {
  constexpr int kEvents = 20'000; // more than a pipe, the header and a window can contain
  const std::string text = trace_of(kEvents);
  for (const std::string& bytes : {text, zstd(text)}) {
    ReadOptions small;
    small.window_bytes = 4096;
    for (const ReadOptions& options : {ReadOptions{}, small}) {
      const auto trace = read_pipe(bytes, options);
      ASSERT_TRUE(trace) << trace.error().message();
      EXPECT_EQ(trace->events.size(), static_cast<std::size_t>(kEvents));
      EXPECT_TRUE(trace->diagnostics.problems().empty());
      EXPECT_EQ(trace->events.ts_ns.back(), (kEvents - 1) * 1000);
    }
  }
}

TEST(OnceOnly, WhatAPipeLacksIsTold) {
  const auto none = read_pipe("");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message().find("the file is empty"), std::string::npos);
  const auto other = read_pipe("hello");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message().find("unknown trace format"), std::string::npos);
}

TEST(OnceOnly, PeekedBytesAreReadAgain) {
  const TempFolder folder;
  const auto source = ByteSource::open(folder.write("f", "0123456789"));
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->peek(4), "0123");
  EXPECT_EQ((*source)->peek(2), "01");
  std::string out(3, '\0');
  EXPECT_EQ((*source)->read(out.data(), 3), 3U);
  EXPECT_EQ(out, "012");
  EXPECT_EQ((*source)->peek(3), "345");
  out.assign(20, '\0');
  EXPECT_EQ((*source)->read(out.data(), 20), 7U);
  EXPECT_EQ(out.substr(0, 7), "3456789");
  EXPECT_EQ((*source)->peek(3), "");
}

TEST(OnceOnly, AZstdStreamThatEndsIsWholeAndOneThatIsCutIsNot) {
  const TempFolder folder;
  const std::string packed = zstd(trace_of(3000));
  const auto complete = read_trace(folder.write("t.json.zst", packed));
  ASSERT_TRUE(complete) << complete.error().message();
  EXPECT_TRUE(complete->diagnostics.problems().empty());
  const auto twice = read_trace(folder.write("t.json.zst", packed + zstd("\n")));
  ASSERT_TRUE(twice);
  EXPECT_TRUE(twice->diagnostics.problems().empty());
  const auto cut = read_trace(folder.write("c.json.zst", packed.substr(0, packed.size() - 5)));
  ASSERT_TRUE(cut) << cut.error().message();
  EXPECT_FALSE(cut->diagnostics.problems().empty());
}

TEST(ReaderCost, BracketsThatNeverCloseCostTheirSize) {
  const TempFolder folder;
  test::expect_near_linear(test::kSanitized ? 5'000 : 20'000, [&](std::size_t n) {
    std::string text = R"({"traceEvents":[)";
    for (std::size_t i = 0; i < n; ++i)
      text += R"({"ph":[)";
    EXPECT_FALSE(read_trace(folder.write("t.json", text)));
  });
}

TEST(ReaderCost, EventsBehindManyDamagedOnesAreKept) {
  std::string text = R"({"traceEvents":[)";
  constexpr int kDamaged = 3000;
  for (int i = 0; i < kDamaged; ++i) // each attempt reads to the end of the text, until a limit
    text += R"({"ph":"X","args":{"a":[)"
            "\n"
            R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1},)"
            "\n";
  const TempFolder folder;
  const auto trace = read_trace(folder.write("t.json", text + "]}"));
  ASSERT_TRUE(trace) << trace.error().message();
  EXPECT_EQ(trace->events.size(), static_cast<std::size_t>(kDamaged));
}

} // namespace
} // namespace rankscope
