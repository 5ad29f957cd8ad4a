// Tests how a trace is recognized as the one from which a result was made.
#include "readers/trace_stamp.h"

#include "temp_folder.h"

#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

TEST(TraceStamp, IsSizeAndTime) {
  const test::TempFolder folder;
  const std::string path = folder.write("trace.json", "{}");
  const TraceStamp before = trace_stamp(path);
  EXPECT_EQ(before.bytes, 2U);
  EXPECT_GT(before.changed_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(before.text(), "2 " + std::to_string(before.changed_ns));
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  EXPECT_EQ(trace_stamp(path).changed_ns, before.changed_ns + 1'000'000'000);
  EXPECT_EQ(trace_stamp(folder.path("none")).text(), "absent");
}

// The tables of rocprofv3 are one trace; discovery lists its kernel table.
TEST(TraceStamp, OfSeveralTablesIsThatOfAll) {
  const test::TempFolder folder;
  const std::string kernels = folder.write("out/7_kernel_trace.csv", "k\n");
  folder.write("out/8_marker_api_trace.csv", "of another process\n");
  const TraceStamp alone = trace_stamp(kernels);
  EXPECT_EQ(alone.bytes, 2U);
  const std::string markers = folder.write("out/7_marker_api_trace.csv.gz", "four");
  EXPECT_EQ(trace_stamp(kernels).bytes, 6U);
  fs::last_write_time(markers, fs::last_write_time(markers) + std::chrono::seconds(5));
  EXPECT_GT(trace_stamp(kernels).changed_ns, alone.changed_ns);
  const std::string other = folder.write("out/7_kernel_trace.json", "{}");
  EXPECT_EQ(trace_stamp(other).bytes, 2U);
}

} // namespace
} // namespace rankscope
