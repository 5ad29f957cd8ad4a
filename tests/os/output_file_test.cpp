// Tests what writing an output does to an existing file of the same name.
#include "os/output_file.h"

#include "os/byte_source.h"
#include "os/cleanup.h"
#include "os/signals.h"
#include "os/temporary_name.h"
#include "temp_folder.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;

Result<void> write(const std::string& path, const std::string& text) {
  RS_TRY(auto file, OutputFile::create(path));
  file.write(text);
  return file.commit();
}

/// Writes as a library would: to the temporary name.
Result<void> write_by_name(const std::string& path, const std::string& text) {
  RS_TRY(auto name, TempName::reserve(path));
  std::ofstream(name.temp_path(), std::ios::binary) << text;
  return name.commit();
}

std::size_t entries(const std::string& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(OutputFile, ALinkStaysAndItsTargetIsReplaced) {
  for (const auto writer : {write, write_by_name}) {
    const TempFolder folder;
    const std::string target = folder.write("target", "old");
    fs::create_symlink(target, folder.path("link"));
    ASSERT_TRUE(writer(folder.path("link"), "new"));
    EXPECT_TRUE(fs::is_symlink(folder.path("link")));
    EXPECT_EQ(test::bytes_of(target), "new");
    EXPECT_EQ(entries(folder.path()), 2U);
    fs::create_symlink(folder.path("not yet"), folder.path("dangling"));
    ASSERT_TRUE(writer(folder.path("dangling"), "made"));
    EXPECT_TRUE(fs::is_symlink(folder.path("dangling")));
    EXPECT_EQ(test::bytes_of(folder.path("not yet")), "made");
  }
}

TEST(OutputFile, APipeIsWrittenThrough) {
  for (const auto writer : {write, write_by_name}) {
    const TempFolder folder;
    const std::string pipe = folder.path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::string got;
    std::thread reader([&] { got = test::bytes_of(pipe); });
    EXPECT_TRUE(writer(pipe, "through the pipe"));
    reader.join();
    EXPECT_EQ(got, "through the pipe");
    EXPECT_TRUE(fs::is_fifo(pipe));
    EXPECT_EQ(entries(folder.path()), 1U);
  }
}

TEST(OutputFile, ADeviceStaysADevice) {
  for (const auto writer : {write, write_by_name}) {
    EXPECT_TRUE(writer("/dev/null", "gone"));
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    const Result<void> full = writer("/dev/full", std::string(100000, 'x'));
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().code, ErrorCode::kOutput);
    EXPECT_TRUE(fs::is_character_file("/dev/full"));
  }
}

TEST(OutputFile, AnInputStays) {
  for (const auto writer : {write, write_by_name}) {
    const TempFolder folder;
    const std::string input = folder.write("input", "{}");
    fs::create_hard_link(input, folder.path("other name"));
    fs::create_symlink(input, folder.path("link"));
    ASSERT_TRUE(ByteSource::open(input));
    for (const std::string& path : {input, folder.path("other name"), folder.path("link")}) {
      const Result<void> refused = writer(path, "new");
      ASSERT_FALSE(refused) << path;
      EXPECT_EQ(refused.error().code, ErrorCode::kUsage);
      EXPECT_EQ(test::bytes_of(path), "{}");
    }
    EXPECT_EQ(entries(folder.path()), 3U); // no temporary file is left
  }
}

TEST(OutputFile, AnInputThatIsOpenedLaterStaysToo) {
  const TempFolder folder;
  const std::string path = folder.write("both", "{}");
  auto file = OutputFile::create(path);
  ASSERT_TRUE(file);
  ASSERT_TRUE(ByteSource::open(path));
  file->write("new");
  EXPECT_FALSE(file->commit());
  EXPECT_EQ(test::bytes_of(path), "{}");
  EXPECT_EQ(entries(folder.path()), 1U);
}

// HA-E11: names of temporary files were predictable numbers, and were opened through links.
TEST(OutputFile, NoLinkIsFollowedByATemporary) {
  for (const auto writer : {write, write_by_name}) {
    const TempFolder folder;
    const std::string victim = folder.write("victim", "stays");
    for (int serial = 0; serial < 1000; ++serial)
      fs::create_symlink(
          victim, folder.path(fmt::format("out.{}-{}-{}.tmp", machine_tag(), ::getpid(), serial)));
    EXPECT_TRUE(writer(folder.path("out"), "text"));
    EXPECT_EQ(test::bytes_of(folder.path("out")), "text");
    EXPECT_EQ(test::bytes_of(victim), "stays");
  }
  const TempFolder folder;
  const std::string victim = folder.write("victim", "stays");
  fs::create_symlink(victim, folder.path("link"));
  EXPECT_LT(cleanup::create_path(folder.path("link")), 0);
  EXPECT_LT(cleanup::create_path(victim), 0);
  EXPECT_EQ(test::bytes_of(victim), "stays");
}

TEST(OutputFile, ALongNameAndAFolder) {
  const TempFolder folder;
  const std::string path = folder.path(std::string(250, 'n'));
  EXPECT_TRUE(write(path, "text"));
  EXPECT_EQ(test::bytes_of(path), "text");
  EXPECT_EQ(entries(folder.path()), 1U);
  const Result<void> longer = write(folder.path(std::string(300, 'n')), "text");
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code, ErrorCode::kOutput);
  EXPECT_FALSE(write(folder.path(), "text"));
}

// Regression test: an interrupt between the creation of a temporary file and its registration left
// the file.
TEST(OutputFile, AnInterruptLeavesNoTemporaryWheneverItComes) {
  for (int round = 0; round < 40; ++round) {
    const TempFolder folder;
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(2); // hides the message about the interrupt
      install_interrupt_handler();
      std::vector<std::thread> writers;
      for (int writer = 0; writer < 4; ++writer)
        writers.emplace_back([&folder, writer] {
          for (;;) {
            if (writer % 2 == 0)
              (void)OutputFile::create(folder.path(std::to_string(writer)));
            else
              (void)TempName::reserve(folder.path(std::to_string(writer)));
          }
        });
      for (std::thread& writer : writers)
        writer.join();
      ::_exit(0);
    }
    ASSERT_GT(child, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + round % 7));
    ::kill(child, SIGINT);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) // ended before the handler was installed
      continue;
    EXPECT_EQ(WEXITSTATUS(status), 130);
    EXPECT_EQ(entries(folder.path()), 0U) << round;
  }
}

} // namespace
} // namespace rankscope
