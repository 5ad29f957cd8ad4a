// Runs the tests of one executable. Caches of commands are in a folder that is removed after the
// tests, so the tests do not use caches of earlier runs. With RANKSCOPE_TEST_CPU_SECONDS=N, a test
// fails if it and its child processes use more CPU time than N seconds; such a test needs the label
// slow or, if only the sanitizers make it slow, sanitized-slow.
#include "temp_folder.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace {

double cpu_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    ::getrusage(who, &used);
    for (const timeval& t : {used.ru_utime, used.ru_stime})
      sum += static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  }
  return sum;
}

class CpuLimit : public ::testing::EmptyTestEventListener {
public:
  explicit CpuLimit(double limit) : limit_(limit) {}
  void OnTestStart(const ::testing::TestInfo&) override { began_ = cpu_seconds(); }
  void OnTestEnd(const ::testing::TestInfo& test) override {
    const double took = cpu_seconds() - began_;
    if (took > limit_)
      ADD_FAILURE()
          << test.test_suite_name() << '.' << test.name() << " took " << took
          << " CPU seconds; a test without a label of slow tests (tests/labels.cmake) may take "
          << limit_;
  }

private:
  double limit_, began_ = 0;
};

} // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const rankscope::test::TempFolder cache;
  ::setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
  if (const char* limit = std::getenv("RANKSCOPE_TEST_CPU_SECONDS"))
    ::testing::UnitTest::GetInstance()->listeners().Append(new CpuLimit(std::atof(limit)));
  return RUN_ALL_TESTS();
}
