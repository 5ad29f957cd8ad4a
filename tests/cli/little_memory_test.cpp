// Tests commands under a memory limit: they must end with a defined exit code, never with a signal
// because a library does not check its allocations (HA-E14).
#include "every_command.h"
#include "run_binary.h"
#include "sanitized.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <set>
#include <sys/resource.h>

namespace rankscope {
namespace {

/// Sets a resource limit for child programs.
class ProcessLimit {
public:
  ProcessLimit(__rlimit_resource what, rlim_t most) : what_(what) {
    ::getrlimit(what, &before_);
    rlimit now = before_;
    now.rlim_cur = most;
    ::setrlimit(what, &now);
  }
  ~ProcessLimit() { ::setrlimit(what_, &before_); }
  ProcessLimit(const ProcessLimit&) = delete;
  ProcessLimit& operator=(const ProcessLimit&) = delete;

private:
  __rlimit_resource what_;
  rlimit before_{};
};

class LittleMemory : public test::EveryCommand {
protected:
  void SetUp() override {
    if (test::sanitized_program())
      GTEST_SKIP() << "a sanitizer needs more address space than the limits";
    EveryCommand::SetUp();
  }
  [[nodiscard]] std::vector<Words> heavy_commands() const {
    // mostly one thread: with several threads, it is random which one reaches the limit first
    return {{"-j", "1", "report", trace_, "-o", out("a.xlsx")},
            {"-j", "1", "collectives", traces_, "-o", out("b.xlsx")},
            {"-j", "1", "compare", "--baseline", run_, "--test", run_, "--output", out("c"),
             "--no-plots"},
            {"-j", "2", "compare", "--baseline", run_, "--test", run_, "--output", out("d"),
             "--no-plots"},
            {"-j", "1", "partial", traces_, "-o", out("p"), "--for", "all"},
            {"-j", "1", "analyze", sweep_, "-o", out("analysis")},
            {"-j", "1", "query", "FROM ranks", trace_},
            {"-j", "1", "export", trace_, "--parquet", out("parquet")}};
  }
};

TEST_F(LittleMemory, NoCommandEndsByASignal) {
  const std::set<int> codes = {0, 3, 4, 6, 7};
  int refused = 0;
  for (rlim_t mebibytes = 40; mebibytes <= 240; mebibytes += 8)
    for (const Words& words : heavy_commands()) {
      std::filesystem::remove_all(out_);
      std::filesystem::create_directories(out_);
      const ProcessLimit limit(RLIMIT_AS, mebibytes << 20U);
      const test::RunResult r = test::run_binary(words);
      EXPECT_EQ(codes.count(r.code), 1U)
          << words[2] << " with " << mebibytes << " MiB: " << r.code << "\n"
          << r.err;
      refused += r.code == 0 ? 0 : 1;
    }
  EXPECT_GT(refused, 0);
}

TEST_F(LittleMemory, NorWithoutDescriptors) {
  for (rlim_t files = 3; files <= 12; ++files)
    for (const Words& words : heavy_commands()) {
      const ProcessLimit limit(RLIMIT_NOFILE, files);
      const test::RunResult r = test::run_binary(words);
      EXPECT_LT(r.code, 128) << words[2] << " with " << files << " descriptors: " << r.err;
      EXPECT_NE(r.code, 70) << words[2] << " with " << files << " descriptors: " << r.err;
    }
}

} // namespace
} // namespace rankscope
