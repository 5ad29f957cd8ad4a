// Tests detection of the terminal from the environment and from a pseudo terminal.
#include "os/terminal.h"

#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace rankscope {
namespace {

/// Sets environment variables for one test.
class Environment {
public:
  Environment() {
    for (const char* name : kNames) {
      const char* const value = std::getenv(name);
      had_.emplace_back(value == nullptr ? std::string("\x01") : value);
      ::unsetenv(name);
    }
  }
  ~Environment() {
    for (std::size_t i = 0; i < had_.size(); ++i)
      if (had_[i] == "\x01")
        ::unsetenv(kNames[i]);
      else
        ::setenv(kNames[i], had_[i].c_str(), 1);
  }

private:
  static constexpr const char* kNames[] = {
      "COLUMNS", "NO_COLOR", "TERM", "LC_ALL", "LC_CTYPE", "LANG", "OMPI_COMM_WORLD_RANK"};
  std::vector<std::string> had_;
};

TEST(Terminal, APipeIsPlainAndEightyWide) {
  const Environment environment;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Terminal pipe = terminal_of(ends[1]);
  EXPECT_FALSE(pipe.is_terminal);
  EXPECT_EQ(pipe.columns, 80U);
  EXPECT_FALSE(pipe.colour);
  EXPECT_FALSE(pipe.unicode);
  ::setenv("COLUMNS", "132", 1);
  ::setenv("LANG", "de_DE.UTF-8", 1);
  EXPECT_EQ(terminal_of(ends[1]).columns, 132U);
  EXPECT_TRUE(terminal_of(ends[1]).unicode);
  ::setenv("LC_ALL", "C", 1); // takes precedence over LANG
  ::setenv("COLUMNS", "12x", 1);
  EXPECT_EQ(terminal_of(ends[1]).columns, 80U);
  EXPECT_FALSE(terminal_of(ends[1]).unicode);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Terminal, ATerminalSaysHowWideItIs) {
  const Environment environment;
  const int control = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (control < 0 || ::grantpt(control) != 0 || ::unlockpt(control) != 0)
    GTEST_SKIP() << "no pseudo terminal";
  const int fd = ::open(::ptsname(control), O_RDWR | O_NOCTTY);
  ASSERT_GE(fd, 0);
  const winsize size{50, 123, 0, 0};
  ASSERT_EQ(::ioctl(fd, TIOCSWINSZ, &size), 0);
  Terminal terminal = terminal_of(fd);
  EXPECT_TRUE(terminal.is_terminal);
  EXPECT_EQ(terminal.columns, 123U);
  EXPECT_EQ(terminal.rows, 50U);
  EXPECT_TRUE(terminal.colour);
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(terminal_of(fd).colour);
  ::unsetenv("NO_COLOR");
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(terminal_of(fd).colour);
  ::unsetenv("TERM");
  ::setenv("OMPI_COMM_WORLD_RANK", "0", 1); // HA-D14: the pseudo terminal of mpirun is not a screen
  EXPECT_FALSE(terminal_of(fd).is_terminal);
  EXPECT_FALSE(terminal_of(fd).colour);
  ::close(fd);
  ::close(control);
}

TEST(Terminal, NamesOfLocales) {
  EXPECT_TRUE(names_utf8("en_US.UTF-8"));
  EXPECT_TRUE(names_utf8("C.utf8"));
  EXPECT_FALSE(names_utf8("C"));
  EXPECT_FALSE(names_utf8("de_DE.ISO-8859-1"));
}

} // namespace
} // namespace rankscope
