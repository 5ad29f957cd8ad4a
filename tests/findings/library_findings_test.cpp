// Tests findings about logs of libraries.
#include "findings/library_findings.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(LibraryFindings, NameTheLibraryAndTheFirstLine) {
  const Finding damaged = damaged_log_lines("rocblas", 2, 10, "rocblas-bench -f ge");
  EXPECT_EQ(damaged.rule, "damaged-log-lines");
  EXPECT_EQ(damaged.kind, FindingKind::kNote);
  EXPECT_EQ(damaged.sentence(), "rocblas: 2 of 10 lines are damaged and not counted. First damaged "
                                "line: rocblas-bench -f ge.");
  EXPECT_EQ(damaged.value, 2);
  EXPECT_EQ(silent_library("MIOpen").headline, "MIOpen has no line in the logs");
}

} // namespace
} // namespace rankscope
