// Tests streams of child processes: bytes as they arrive, echoed copies, environment, folder,
// standard input.
#include "os/process.h"
#include "temp_folder.h"

#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace rankscope {
namespace {

using namespace std::chrono_literals;

/// Each test runs with and without the guard.
class ChildStreams : public ::testing::TestWithParam<bool> {
protected:
  static ProcessSpec program(std::vector<std::string> argv) {
    ProcessSpec spec;
    spec.argv = std::move(argv);
    spec.guarded = GetParam();
    spec.grace = 200ms;
    return spec;
  }
  static ProcessSpec shell(const std::string& script) { return program({"sh", "-c", script}); }
  static std::string captured(ProcessSpec spec) {
    spec.out = Stream::kCapture;
    const Result<ProcessEnd> end = run_process(std::move(spec));
    return end ? end->out : end.error().message();
  }
};
INSTANTIATE_TEST_SUITE_P(, ChildStreams, ::testing::Bool(), [](const auto& kind) {
  return std::string(kind.param ? "Guarded" : "Plain");
});

TEST_P(ChildStreams, BytesComeWhileItRuns) {
  const test::TempFolder folder;
  ProcessSpec spec = shell("echo begun; while [ ! -e " + folder.path("go") +
                           " ]; do sleep 0.01; "
                           "done; echo done; echo no >&2");
  std::string out;
  std::string err;
  spec.out = spec.err = Stream::kPipe;
  spec.deadline = 20s;
  spec.on_out = [&](std::string_view bytes) {
    out += bytes;
    if (out == "begun\n")
      folder.write("go", ""); // the child ends only because this output arrived in time
  };
  spec.on_err = [&](std::string_view bytes) { err += bytes; };
  const auto end = run_process(std::move(spec));
  ASSERT_TRUE(end) << end.error().message();
  EXPECT_TRUE(end->ok()) << end->describe();
  EXPECT_EQ(out, "begun\ndone\n");
  EXPECT_EQ(err, "no\n");
}

TEST_P(ChildStreams, ItsTimeHasItsWholeLife) {
  for (int i = 0; i < 5; ++i) {
    const auto end = run_process(program({"sleep", "0.01"}));
    ASSERT_TRUE(end) << end.error().message();
    EXPECT_GE(end->seconds, 0.01);
  }
}

TEST_P(ChildStreams, TheTailOfMuchOutputIsNotLost) {
  const test::TempFolder folder;
  ProcessSpec spec = shell("head -c 3000000 /dev/zero; printf tail");
  std::size_t size = 0;
  std::string last;
  spec.out = Stream::kPipe;
  spec.out_file = folder.path("copy");
  spec.on_out = [&](std::string_view bytes) {
    size += bytes.size();
    last = (last + std::string(bytes));
    last = last.substr(last.size() - std::min<std::size_t>(last.size(), 4));
  };
  const auto end = run_process(std::move(spec));
  ASSERT_TRUE(end && end->ok());
  EXPECT_EQ(size, 3'000'004U);
  EXPECT_EQ(last, "tail");
  EXPECT_EQ(std::filesystem::file_size(folder.path("copy")), 3'000'004U);
  EXPECT_EQ(end->lost_text, "");
}

TEST_P(ChildStreams, BothIntoOneFileInTheOrderOfWriting) {
  const test::TempFolder folder;
  ProcessSpec spec = shell("echo 1; echo 2 >&2; echo 3; echo 4 >&2");
  std::string seen;
  spec.out = Stream::kPipe;
  spec.err = Stream::kLikeOut;
  spec.out_file = folder.path("log");
  spec.on_out = [&](std::string_view bytes) { seen += bytes; };
  ASSERT_TRUE(run_process(std::move(spec)));
  EXPECT_EQ(test::bytes_of(folder.path("log")), "1\n2\n3\n4\n");
  EXPECT_EQ(seen, "1\n2\n3\n4\n");
}

TEST_P(ChildStreams, WhatCannotBeKeptIsToldAndTheChildGoesOn) {
  ProcessSpec spec = shell("echo text; exit 4");
  std::string seen;
  spec.out = Stream::kPipe;
  spec.out_file = "/dev/full";
  spec.on_out = [&](std::string_view bytes) { seen += bytes; };
  const auto end = run_process(std::move(spec));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 4);
  EXPECT_EQ(seen, "text\n");
  EXPECT_EQ(end->lost_text, "/dev/full: No space left on device");
}

TEST_P(ChildStreams, AFileThatCannotBeMadeIsAnErrorBeforeItStarts) {
  const test::TempFolder folder;
  for (const Stream kind : {Stream::kPipe, Stream::kFile}) {
    ProcessSpec spec = shell("touch " + folder.path("ran"));
    spec.out = kind;
    spec.out_file = folder.path("none/log");
    const auto end = run_process(std::move(spec));
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().where, folder.path("none/log"));
    EXPECT_FALSE(std::filesystem::exists(folder.path("ran")));
  }
}

TEST_P(ChildStreams, AReaderOfOursThatStandsStillDoesNotKeepAnInterruptWaiting) {
  // standard output of the test is a pipe that is not read
  const int before = ::dup(STDOUT_FILENO);
  int both[2]; // NOLINT(modernize-avoid-c-arrays)
  ASSERT_EQ(::pipe2(both, O_CLOEXEC), 0);
  ::fflush(stdout);
  ::dup2(both[1], STDOUT_FILENO);
  ProcessSpec spec = shell("head -c 5000000 /dev/zero");
  spec.out = Stream::kPipe;
  spec.echo_out = true;
  const CancelToken token;
  spec.cancel = token;
  std::thread other([&] {
    std::this_thread::sleep_for(200ms);
    token.cancel();
  });
  const auto begin = std::chrono::steady_clock::now();
  const auto end = run_process(std::move(spec));
  other.join();
  ::dup2(before, STDOUT_FILENO);
  for (const int fd : {before, both[0], both[1]})
    ::close(fd);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5min);
}

TEST_P(ChildStreams, EchoedBytesReachOurOutput) {
  const int before = ::dup(STDOUT_FILENO);
  int both[2]; // NOLINT(modernize-avoid-c-arrays)
  ASSERT_EQ(::pipe2(both, O_CLOEXEC), 0);
  ::fflush(stdout);
  ::dup2(both[1], STDOUT_FILENO);
  ProcessSpec spec = shell("printf words");
  spec.out = Stream::kPipe;
  spec.echo_out = true;
  const auto end = run_process(std::move(spec));
  ::dup2(before, STDOUT_FILENO);
  std::string text(16, '\0');
  const ssize_t n = ::read(both[0], text.data(), text.size());
  for (const int fd : {before, both[0], both[1]})
    ::close(fd);
  ASSERT_TRUE(end && end->ok());
  EXPECT_EQ(text.substr(0, static_cast<std::size_t>(std::max<ssize_t>(n, 0))), "words");
}

TEST_P(ChildStreams, EnvironmentIsOursWithTheChanges) {
  ::setenv("RANKSCOPE_TEST_KEPT", "kept", 1);
  ::setenv("RANKSCOPE_TEST_GONE", "gone", 1);
  ::setenv("RANKSCOPE_TEST_OVER", "old", 1);
  ProcessSpec spec = shell("printf '%s|%s|%s|%s' \"$RANKSCOPE_TEST_KEPT\" "
                           "\"${RANKSCOPE_TEST_GONE-unset}\" \"$RANKSCOPE_TEST_OVER\" \"$NEW\"");
  spec.set_env = {{"RANKSCOPE_TEST_OVER", "first"},
                  {"NEW", "a $HOME \"b\"\nc='d'"},
                  {"RANKSCOPE_TEST_OVER", "last"}};
  spec.unset_env = {"RANKSCOPE_TEST_GONE"};
  EXPECT_EQ(captured(std::move(spec)), "kept|unset|last|a $HOME \"b\"\nc='d'");
  EXPECT_STREQ(std::getenv("RANKSCOPE_TEST_OVER"), "old");
}

TEST_P(ChildStreams, TheProgramIsFoundInTheChildsPath) {
  const test::TempFolder folder;
  const std::string file = folder.write("rankscope-test-program", "#!/bin/sh\necho found\n");
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  ProcessSpec spec = program({"rankscope-test-program"});
  EXPECT_FALSE(run_process(spec));
  spec.set_env = {{"PATH", "/nowhere:" + folder.path() + ":/usr/bin:/bin"}};
  EXPECT_EQ(captured(std::move(spec)), "found\n");
}

TEST_P(ChildStreams, WorksInItsFolder) {
  const test::TempFolder folder;
  const std::string real = std::filesystem::canonical(folder.path()).string();
  ProcessSpec spec = program({"pwd"});
  spec.folder = real;
  EXPECT_EQ(captured(std::move(spec)), real + "\n");
  ProcessSpec missing = program({"pwd"});
  missing.folder = folder.path("none");
  const auto end = run_process(std::move(missing));
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().where, folder.path("none"));
}

TEST_P(ChildStreams, OurInputIsInherited) {
  const test::TempFolder folder;
  const int before = ::dup(STDIN_FILENO);
  const int file = ::open(folder.write("in", "from us\n").c_str(), O_RDONLY | O_CLOEXEC);
  ::dup2(file, STDIN_FILENO);
  ProcessSpec spec = program({"cat"});
  spec.our_input = true;
  EXPECT_EQ(captured(std::move(spec)), "from us\n");
  ::dup2(before, STDIN_FILENO);
  ::close(before);
  ::close(file);
}

TEST_P(ChildStreams, ArgumentsArriveAsTheyAre) {
  const std::vector<std::string> arguments = {"",           "two words",   "\"quoted\" 'too'",
                                              "$HOME `id`", "--",          "line\nbreak",
                                              "*?[a]",      "back\\slash", "\xff\xfe"};
  std::vector<std::string> argv = {"printf", "<%s>"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::string expected;
  for (const std::string& argument : arguments)
    expected += "<" + argument + ">";
  EXPECT_EQ(captured(program(argv)), expected);
}

TEST(FindProgram, LooksThroughThePath) {
  EXPECT_EQ(find_program("sh", "/nowhere:/bin"), "/bin/sh");
  EXPECT_EQ(find_program("./x", "/bin"), "./x");
  EXPECT_EQ(find_program("bin", "/"), ""); // a folder is not a program
  EXPECT_EQ(find_program("", "/bin"), "");
}

} // namespace
} // namespace rankscope
