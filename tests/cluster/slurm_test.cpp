// Tests partial and reduce on a Slurm of one node, which scripts/slurm_test.sh starts and stops.
#include "os/process.h"
#include "sanitized.h"
#include "test_paths.h"

#include <chrono>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(Slurm, SharesOfTasksAndArraysAreOneProcess) {
  if (test::kSanitized)
    GTEST_SKIP() << "daemons are not for a sanitizer's pace; the release build runs this";
  ProcessSpec spec;
  spec.argv = {(test::source_dir() / "scripts/slurm_test.sh").string(), test::binary()};
  spec.out = Stream::kCapture;
  spec.err = Stream::kLikeOut;
  spec.guarded = true; // no daemon outlives the test, whatever the end of the test
  spec.deadline = std::chrono::minutes(25);
  const Result<ProcessEnd> end = run_process(std::move(spec));
  ASSERT_TRUE(end.has_value()) << end.error().message();
  if (end->exit_code == 3)
    GTEST_SKIP() << end->out;
  EXPECT_TRUE(end->ok()) << end->describe() << "\n" << end->out;
  EXPECT_EQ(end->left_behind, 0) << "the script left daemons";
}

} // namespace
} // namespace rankscope
