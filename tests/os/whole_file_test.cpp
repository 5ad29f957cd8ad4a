#include "os/whole_file.h"

#include "os/byte_source.h"
#include "os/input_file.h"
#include "temp_folder.h"

#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace rankscope::test {
namespace {

TEST(WholeFile, HasAllBytesAlsoOfAnEmptyFile) {
  const TempFolder folder;
  std::string longer_than_a_block(200'000, 'x');
  longer_than_a_block += std::string("\0\r\n", 3);
  EXPECT_EQ(read_input_file(folder.write("long", longer_than_a_block)).value(),
            longer_than_a_block);
  EXPECT_EQ(read_input_file(folder.write("empty", "")).value(), "");
  EXPECT_FALSE(read_input_file(folder.path("absent")));
}

// HA-E18: a link to /dev/zero was read until memory was exhausted.
TEST(WholeFile, ADeviceWithoutAnEndIsRefused) {
  const TempFolder folder;
  std::filesystem::create_symlink("/dev/zero", folder.path("state"));
  const Result<std::string> bytes = read_input_file(folder.path("state"));
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, ErrorCode::kUnreadable);
  EXPECT_NE(bytes.error().what.find("more than 64 MiB"), std::string::npos) << bytes.error().what;
}

// Regression test: rankscope waited forever for a process that writes to the pipe.
TEST(WholeFile, APipeNeedsAWriter) {
  const TempFolder folder;
  const std::string pipe = folder.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(read_input_file(pipe));
  const auto source = ByteSource::open(pipe);
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().what, "no process writes to this pipe");
  EXPECT_EQ(read_unregistered(pipe).value(), "");
  std::thread writer([&] {
    const int fd = ::open(pipe.c_str(), O_WRONLY | O_CLOEXEC);
    std::this_thread::sleep_for(std::chrono::milliseconds(2500)); // longer than open_input() waits
    EXPECT_EQ(::write(fd, "late", 4), 4);
    ::close(fd);
  });
  EXPECT_EQ(read_input_file(pipe).value(), "late");
  writer.join();
}

TEST(WholeFile, AnInputIsRememberedAndAFileOfOurOwnIsNot) {
  const TempFolder folder;
  const std::string input = folder.write("input", "a"), output = folder.write("own", "b");
  EXPECT_EQ(read_input_file(input).value(), "a");
  EXPECT_EQ(read_unregistered(output).value(), "b");
  EXPECT_TRUE(is_input(input));
  EXPECT_FALSE(is_input(output));
  EXPECT_FALSE(write_with_folder(input, "new"));
  EXPECT_TRUE(write_with_folder(output, "new"));
}

TEST(WholeFile, AFolderIsAnErrorAndNoException) {
  const TempFolder folder;
  const Result<std::string> bytes = read_input_file(folder.path(), "try a file");
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, ErrorCode::kUnreadable);
  EXPECT_EQ(bytes.error().hint, "try a file");
}

TEST(WholeFile, WhatIsWrittenIsReadBackFromANewFolder) {
  const TempFolder folder;
  const std::string bytes("a\0b\r\n", 5), path = folder.path("new/one/file");
  ASSERT_TRUE(write_with_folder(path, bytes));
  EXPECT_EQ(read_input_file(path).value(), bytes);
  EXPECT_FALSE(write_with_folder(path + "/below", bytes));
}

} // namespace
} // namespace rankscope::test
