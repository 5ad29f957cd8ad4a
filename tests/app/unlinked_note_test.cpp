#include "app/unlinked_note.h"

#include "trace_builder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(UnlinkedNote, SaysHowManyOfAll) {
  test::TraceBuilder b;
  b.op("aten::mm", 0, 100).kernel("gemm", 10, 20, 30).kernel("add", 60, 70, 10);
  b.unlaunched("earlier", 5, 10);
  const LoadedTrace trace = b.load();
  const auto said = [&](bool include) {
    ReportOptions options;
    options.include_unlinked_kernels = include;
    Diagnostics out;
    note_unlinked(trace, options, out);
    EXPECT_EQ(out.problems().size(), 1U);
    return out.problems().front().sentence;
  };
  EXPECT_EQ(said(false), "1 of 3 GPU events have no launch in the trace; gpu_timeline leaves them "
                         "out, as the reference does: total_time is 0.060 ms without them, 0.075 "
                         "ms with them (--include-unlinked-kernels)");
  EXPECT_TRUE(
      said(true).starts_with("1 of 3 GPU events have no launch in the trace; gpu_timeline counts "
                             "them: total_time is 0.075 ms with them, 0.060 ms without"))
      << said(true);
}

} // namespace
} // namespace rankscope
